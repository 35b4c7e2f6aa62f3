"""Two thousand tiny sessions: the optimum is the oracle's, and between them they need every rule."""

from __future__ import annotations

from collections import Counter

import pytest

from cpsched import timestamps
from cpsched.optimum.params import SolveParams
from cpsched.optimum.relax.bounding import LexicographicBounds
from cpsched.optimum.search.bounding_passes import BoundingPasses
from cpsched.optimum.search.lexicographic import LexicographicSearch
from cpsched.optimum.search.primal import heuristics
from cpsched.optimum.search.primal.elastic_repair import ElasticRepair, Targets
from cpsched.optimum.search.primal.heuristics import PrimalHeuristics
from cpsched.optimum.solve import decide
from cpsched.rules import Decision
from cpsched.solution import SolutionStatus
from tests.oracle.alternatives import binding_rules
from tests.oracle.brute_force import Optimum, optimum
from tests.oracle.sessions import Contest, contest, entering, overcommitted

ONE_WORKER = SolveParams(workers=1, deterministic=True)
SESSIONS, CHUNK = 2000, 100
BINDING: dict[str, tuple[int, ...]] = {
    "assignment": (9, 12, 38),
    "capacity": (0, 2, 5),
    "filters": (13, 24, 198),
    "gang": (29, 35, 59),
    "queue": (13, 14, 21),
    "deserved": (278, 282, 421),
    "eviction": (28, 33, 59),
    "charge": (165, 301, 891),
    "protect.gang": (13, 23, 32),
    "protect.conformance": (13, 97, 154),
    "protect.pdb": (18, 80, 114),
    "protect.guarantee": (731,),
    "enqueue": (28, 108, 116),
    "actions": (77, 393, 442),
}
"""Per rule some of the sessions whose optimum it shapes; `python -m tests.benchmark evidence` counts them."""


def as_shown(best: Optimum) -> list[int | str | None]:
    """The oracle's values as a solution prints them."""
    return [
        timestamps.text(value) if label == "victim_start_time" and value is not None else value
        for label, value in zip(best.labels, best.values, strict=True)
    ]


def compare(session: Contest, seed: int) -> None:
    """Solve and search; both vectors are the same and everything is proved."""
    snapshot = session.snapshot()
    solution = decide(snapshot.instance, snapshot.policy, ONE_WORKER)
    assert solution.status is SolutionStatus.OPTIMAL, seed
    assert [level.value for level in solution.levels] == as_shown(optimum(snapshot)), seed


@pytest.mark.parametrize("start", range(0, SESSIONS, CHUNK))
def test_optimum_equals_exhaustive_search(start: int) -> None:
    for seed in range(start, start + CHUNK):
        compare(contest(seed), seed)


@pytest.mark.parametrize("start", range(0, 200, CHUNK))
def test_optimum_equals_exhaustive_search_across_nodes(start: int) -> None:
    """With eviction.scope cluster victims may lie anywhere."""
    for seed in range(start, start + CHUNK):
        compare(contest(seed, scope="cluster"), seed)


def test_optimum_equals_exhaustive_search_where_jobs_enter_together() -> None:
    """Overcommit lets either job in, and sometimes only one of them."""
    for seed in range(60):
        compare(entering(seed), seed)


def test_optimum_equals_exhaustive_search_on_overcommitted_nodes() -> None:
    """There more is missing than the tasks placed request, so that victims are charged whatever the rights."""
    for seed in range(200):
        compare(overcommitted(seed), seed)


@pytest.mark.parametrize("count", [1, 2, 4, 6])
def test_optimum_equals_exhaustive_search_where_bounding_stops_early(
    monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    """What it knows of the level after its last one is a bound, and only as long as what comes before it is reached."""
    bound, bound_ahead = LexicographicBounds.run, BoundingPasses.run

    def stopped(self: LexicographicBounds, end: float) -> None:
        bound(self, end)
        self.first_open = [*self.levels, self.first_open][count] if len(self.levels) >= count else self.first_open
        del self.levels[count:], self.stages[count:]

    def once(self: BoundingPasses, begin: int) -> None:
        if begin == 0:
            bound_ahead(self, begin)

    monkeypatch.setattr(LexicographicBounds, "run", stopped)
    monkeypatch.setattr(BoundingPasses, "run", once)
    for seed in (*range(20), 70, 165, 177, 239, 277, 311, 326, 352, 604, 631, 677):
        compare(contest(seed), seed)


def test_optimum_equals_exhaustive_search_where_no_relaxed_solution_is_a_decision(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Then the session itself is asked for one that is as good."""
    monkeypatch.setattr(PrimalHeuristics, "_disaggregate", lambda *_: False)
    for seed in range(200):
        compare(contest(seed), seed)


@pytest.mark.parametrize("taken", [1, 2, 5])
def test_optimum_equals_exhaustive_search_where_the_session_itself_is_needed_late(
    monkeypatch: pytest.MonkeyPatch, taken: int
) -> None:
    """Levels that a relaxed model closed without it hold there too."""
    run_level, late = LexicographicSearch._run_level, Counter[bool]()

    def only_first(self: LexicographicSearch, position: int) -> None:
        if position < taken or not self._state.levels[position].is_attained_by(self.best):
            run_level(self, position)
        else:
            late[self._state.has_model] += 1
            for level in self._state.levels:
                level.bounds, level.open_bounds = None, []
            self._exact.solve(position)

    monkeypatch.setattr(LexicographicSearch, "_run_level", only_first)
    for seed in range(60):
        compare(contest(seed), seed)
    assert late[False] > 40


@pytest.mark.parametrize("repairs", [True, False])
def test_optimum_equals_exhaustive_search_where_no_plan_comes_true(
    monkeypatch: pytest.MonkeyPatch, *, repairs: bool
) -> None:
    """Then the relaxed solution is repaired; where that fails too, every level is improved from the last decision."""
    monkeypatch.setattr(PrimalHeuristics, "_disaggregate", lambda *_: False)
    monkeypatch.setattr(heuristics, "restrictions", lambda variables, bounding: [])
    found: list[bool] = []
    repair = ElasticRepair.run

    def counted(self: ElasticRepair, bounding: LexicographicBounds, targets: Targets, end: float) -> Decision | None:
        decision = repair(self, bounding, targets, end) if repairs else None
        found.append(decision is not None)
        return decision

    monkeypatch.setattr(ElasticRepair, "run", counted)
    for seed in (*range(120), *BINDING["charge"], *BINDING["deserved"], *BINDING["protect.guarantee"]):
        compare(contest(seed), seed)
    assert sum(found) > 80 if repairs else len(found) > 80


@pytest.mark.parametrize("rule", BINDING)
def test_every_rule_shapes_some_optimum(rule: str) -> None:
    """Without the rule the optimum would be another: a better decision breaks it and nothing else."""
    for seed in BINDING[rule]:
        assert seed < SESSIONS
        assert rule in binding_rules(optimum(contest(seed).snapshot())), seed
