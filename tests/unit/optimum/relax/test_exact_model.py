"""The session itself in a sketch's place: what it foresees is a decision, and no other is better."""

from __future__ import annotations

import pytest

from cpsched.check import violations
from cpsched.objectives import level_plan
from cpsched.optimum.model.objective.levels import steps_of
from cpsched.optimum.model.session_model import Program
from cpsched.optimum.relax.bounding import Foresight
from cpsched.optimum.relax.relaxed_model import Detail
from cpsched.optimum.relax.stage_bounds import Foreseen
from cpsched.optimum.search.lexicographic import Search
from cpsched.optimum.solvers.portfolio import Race, Settings
from cpsched.snapshot import Snapshot
from tests.judge import cluster, conf, snapshot_of
from tests.oracle.brute_force import optimum
from tests.oracle.neighbours import FAMILIES, neighbourly
from tests.oracle.sessions import contest

SETTINGS = Settings(workers=1, deterministic=True)


def looked(snapshot: Snapshot, detail: Detail, before: Foresight | None = None) -> Foresight:
    sight = Foresight(Program(snapshot), Race(SETTINGS), [], detail, before)
    sight.look(600.0)
    return sight


def best_values(snapshot: Snapshot, levels: int) -> list[list[int]]:
    """What the first levels are worth in the best of all decisions."""
    best, variables = optimum(snapshot).decisions[0], Program(snapshot).variables
    plan = level_plan(snapshot)[:levels]
    return [[step.measure(best) for step in steps_of(variables, *level)] for level in plan]


def is_whole(snapshot: Snapshot, sight: Foresight) -> bool:
    """Whether it came to all levels; those it came to are as in the best decision, and the one at hand has them all."""
    found = [[step.value for step in level] for level in sight.levels]
    assert found == best_values(snapshot, len(found))
    if found:
        assert sight.decision is not None
        assert not violations(sight.decision)
        variables = Program(snapshot).variables
        for level, values in zip(level_plan(snapshot), found, strict=False):
            assert [step.measure(sight.decision) for step in steps_of(variables, *level)] == values
    return len(found) == len(level_plan(snapshot))


@pytest.mark.parametrize("start", range(0, 120, 30))
def test_all_levels_are_those_of_the_best_decision(start: int) -> None:
    for seed in range(start, start + 30):
        snapshot = contest(seed).snapshot()
        assert is_whole(snapshot, looked(snapshot, Detail.CLASSES))
        assert is_whole(snapshot, looked(snapshot, Detail.CLASSES, looked(snapshot, Detail.NODES)))


@pytest.mark.parametrize("family", FAMILIES)
def test_so_they_are_where_tasks_mind_their_neighbours(family: str) -> None:
    sessions = [neighbourly(seed, family).snapshot() for seed in range(12)]
    # Where rows know too little of the order in which tasks can come, it gives up after a while.
    assert sum(is_whole(one, looked(one, Detail.CLASSES, looked(one, Detail.NODES))) for one in sessions) >= 11


def lent_room() -> Snapshot:
    """A high job of a queue without rights fits beside a low one that may evict the victim, and only then."""
    running = {"name": "run", "queue": "a", "priorityClassName": "p10", "minMember": 0}
    jobs = [
        running | {"tasks": [{"requests": {"cpu": 4}, "running": "n1"}]},
        {"name": "low", "queue": "a", "priorityClassName": "p50", "minMember": 1, "tasks": [{"requests": {"cpu": 1}}]},
        {
            "name": "high",
            "queue": "b",
            "priorityClassName": "p100",
            "minMember": 1,
            "tasks": [{"requests": {"cpu": 3}}],
        },
    ]
    source = cluster(*jobs, nodes=4, queues=[{"name": "a"}, {"name": "b"}])
    return snapshot_of(source, conf=conf("allocate, preempt", "gang", "priority", "predicates"))


def test_those_of_lower_priority_are_left_away_only_where_nobody_needs_them() -> None:
    snapshot = lent_room()
    sight = looked(snapshot, Detail.CLASSES, looked(snapshot, Detail.NODES))
    assert is_whole(snapshot, sight)
    assert sight.levels[0][0].value == -1
    assert sight.decision is not None
    assert len(sight.decision.placed) == 2


class TestWhatIsKnownFromBefore:
    """Bounds of a sketch hold only as long as the levels before them are as good as there."""

    def before(self, snapshot: Snapshot, *values: int) -> Foresight:
        sight = looked(snapshot, Detail.NODES)
        for level, value in zip(sight.levels, values, strict=False):
            level[0] = Foreseen(value, "somebody", 0.0)
        return sight

    def test_a_bound_that_is_met_is_somebody_elses_proof(self) -> None:
        snapshot = lent_room()
        victims = level_plan(snapshot).index(("victim_count", None))
        before = looked(snapshot, Detail.NODES)
        before.levels[victims - 1][0] = Foreseen(1, "somebody", 0.0)
        assert looked(snapshot, Detail.CLASSES, before).levels[victims - 1][0] == Foreseen(1, "somebody", 0.0)

    def test_after_a_level_that_is_worse_it_is_forgotten(self) -> None:
        snapshot = contest(3).snapshot()
        true = best_values(snapshot, len(level_plan(snapshot)))
        sight = looked(snapshot, Detail.CLASSES, self.before(snapshot, true[0][0] - 1, *(10**6 for _ in true[1:])))
        assert [[step.value for step in level] for level in sight.levels] == true

    def test_a_search_forgets_it_too(self) -> None:
        snapshot = lent_room()
        search = Search(snapshot, SETTINGS)
        search._foreseen.remember(0, looked(snapshot, Detail.NODES))
        assert set(search._foreseen) == set(range(len(level_plan(snapshot))))
        other = self.before(snapshot, -1, 7)
        other.levels = other.levels[:2]
        search._foreseen.remember(0, other)
        assert set(search._foreseen) == {0, 1}
