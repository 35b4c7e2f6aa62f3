"""The session itself in a relaxed model's place: its solution is a decision, and no other is better."""

from __future__ import annotations

import pytest

from cpsched.objectives import level_plan
from cpsched.optimum.budget import Budget
from cpsched.optimum.model.objective import stages_of
from cpsched.optimum.model.session_model import SessionModel
from cpsched.optimum.params import SolveParams
from cpsched.optimum.provers import LP
from cpsched.optimum.relax.bounding import LexicographicBounds
from cpsched.optimum.relax.relaxed_model import Granularity
from cpsched.optimum.relax.stage_bounds import StageBound
from cpsched.optimum.search.level_state import Levels
from cpsched.optimum.solvers.portfolio import Portfolio
from cpsched.rules import violations
from cpsched.snapshot import Snapshot
from tests.judge import cluster, conf, snapshot_of
from tests.oracle.brute_force import optimum
from tests.oracle.neighbours import FAMILIES, neighbourly
from tests.oracle.sessions import contest

SETTINGS = SolveParams(workers=1, deterministic=True)


def looked(snapshot: Snapshot, detail: Granularity, before: LexicographicBounds | None = None) -> LexicographicBounds:
    bounding = LexicographicBounds(SessionModel(snapshot), Portfolio(Budget(SETTINGS)), [], detail, before)
    bounding.run(600.0)
    return bounding


def best_values(snapshot: Snapshot, levels: int) -> list[list[int]]:
    """What the first levels are worth in the best of all decisions."""
    best, variables = optimum(snapshot).decisions[0], SessionModel(snapshot).variables
    plan = level_plan(snapshot)[:levels]
    return [[stage.value(best) for stage in stages_of(variables, *level)] for level in plan]


def is_whole(snapshot: Snapshot, bounding: LexicographicBounds) -> bool:
    """Whether it came to all levels; those it came to are as in the best decision, and the one at hand has them all."""
    found = [[stage.value for stage in level] for level in bounding.levels]
    assert found == best_values(snapshot, len(found))
    if found:
        assert bounding.decision is not None
        assert not violations(bounding.decision)
        variables = SessionModel(snapshot).variables
        for level, values in zip(level_plan(snapshot), found, strict=False):
            assert [stage.value(bounding.decision) for stage in stages_of(variables, *level)] == values
    return len(found) == len(level_plan(snapshot))


@pytest.mark.parametrize("start", range(0, 120, 30))
def test_all_levels_are_those_of_the_best_decision(start: int) -> None:
    for seed in range(start, start + 30):
        snapshot = contest(seed).snapshot()
        assert is_whole(snapshot, looked(snapshot, Granularity.EXACT))
        assert is_whole(snapshot, looked(snapshot, Granularity.EXACT, looked(snapshot, Granularity.NODES)))


@pytest.mark.parametrize("family", FAMILIES)
def test_so_they_are_where_tasks_mind_their_neighbours(family: str) -> None:
    sessions = [neighbourly(seed, family).snapshot() for seed in range(12)]
    # Where rows know too little of the order in which tasks can come, it gives up after a while.
    assert sum(is_whole(one, looked(one, Granularity.EXACT, looked(one, Granularity.NODES))) for one in sessions) >= 11


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


def test_those_of_lower_priority_are_left_away_only_where_no_task_needs_them() -> None:
    snapshot = lent_room()
    bounding = looked(snapshot, Granularity.EXACT, looked(snapshot, Granularity.NODES))
    assert is_whole(snapshot, bounding)
    assert bounding.levels[0][0].value == -1
    assert bounding.decision is not None
    assert len(bounding.decision.placed) == 2


class TestWhatIsKnownFromBefore:
    """Bounds of a relaxed model hold only as long as the levels before them are as good as there."""

    def before(self, snapshot: Snapshot, *values: int) -> LexicographicBounds:
        bounding = looked(snapshot, Granularity.NODES)
        for level, value in zip(bounding.levels, values, strict=False):
            level[0] = StageBound(value, LP, 0.0)
        return bounding

    def test_a_bound_that_is_met_is_a_task_elses_proof(self) -> None:
        snapshot = lent_room()
        victims = level_plan(snapshot).index(("victim_count", None))
        before = looked(snapshot, Granularity.NODES)
        before.levels[victims - 1][0] = StageBound(1, LP, 0.0)
        assert looked(snapshot, Granularity.EXACT, before).levels[victims - 1][0] == StageBound(1, LP, 0.0)

    def test_after_a_level_that_is_worse_it_is_forgotten(self) -> None:
        snapshot = contest(3).snapshot()
        true = best_values(snapshot, len(level_plan(snapshot)))
        bounding = looked(
            snapshot, Granularity.EXACT, self.before(snapshot, true[0][0] - 1, *(10**6 for _ in true[1:]))
        )
        assert [[stage.value for stage in level] for level in bounding.levels] == true

    def test_a_search_forgets_it_too(self) -> None:
        snapshot = lent_room()
        levels = Levels(level_plan(snapshot))
        levels.learn(0, looked(snapshot, Granularity.NODES))
        assert all(level.bounds is not None for level in levels)
        other = self.before(snapshot, -1, 7)
        other.levels, other.stages = other.levels[:2], other.stages[:2]
        levels.learn(0, other)
        assert [level.name for level in levels if level.bounds is not None] == [level.name for level in levels[:2]]
