"""What is decided and bounded before any model is built, and what is left where there is no time for one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from cpsched import timestamps
from cpsched.optimum.model.session_model import SessionModel
from cpsched.optimum.params import SolveParams
from cpsched.optimum.search import starts
from cpsched.optimum.search.lexicographic import LexicographicSearch
from cpsched.optimum.search.primal.insertion import Insertion
from cpsched.optimum.solve import decide
from cpsched.rules import Decision, violations
from cpsched.snapshot import Snapshot
from tests.judge import cluster, conf, job, pending, running, snapshot_of
from tests.oracle.brute_force import optimum
from tests.oracle.sessions import contest

Raw = dict[str, Any]
SETTINGS = SolveParams(deterministic=True)
STATED = conf("enqueue, allocate, preempt, reclaim, backfill", "priority", "gang", "predicates", "proportion")


@pytest.fixture(autouse=True)
def _every_session_is_large(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(starts, "LARGE_SESSION", -1)
    return


def inserted(snapshot: Snapshot, base: Decision | None = None) -> Decision:
    """The decision that insertion makes of another one, small jobs first."""
    model = SessionModel(snapshot)
    place = Insertion(base or Decision(snapshot, {}, {}), model.classes, model.capacity)
    return place.run(lambda job, size: (size,))


def test_values_and_proofs_are_those_of_small_sessions() -> None:
    """The search goes on from a decision, and levels that counting closes need no model."""
    for seed in range(300, 325):
        snapshot = contest(seed).snapshot()
        solution, best = decide(snapshot.instance, snapshot.policy, SETTINGS), optimum(snapshot)
        found = [timestamps.parse(one.value) if isinstance(one.value, str) else one.value for one in solution.levels]
        assert found == list(best.values), seed
        assert all(level.proved for level in solution.levels), seed


def test_insertion_breaks_no_rule_but_those_it_does_not_look_at() -> None:
    for seed in range(400, 460):
        broken = {item.rule for item in violations(inserted(contest(seed).snapshot()))}
        assert broken <= {"filters", "charge", "eviction", "enqueue", "protect.pdb", "protect.guarantee"}, seed


def test_gangs_are_placed_as_a_whole_or_not_at_all() -> None:
    gangs = [job(f"g{n}", pending(2, 2), minMember=2, priority=100) for n in range(2)]
    snapshot = snapshot_of(cluster(*gangs, job("last", pending(1, 3), minMember=1, priority=10), nodes=6), conf=STATED)
    decision = inserted(snapshot)
    assert sorted(decision.placed_by_job) == ["default/g0", "default/last"]
    assert len(decision.binds) == 4
    assert not violations(decision)


def test_the_least_important_are_evicted_and_no_more_than_needed() -> None:
    old = [job(f"p{rank}", running(2, 2), minMember=0, priority=rank) for rank in (50, 10)]
    snapshot = snapshot_of(cluster(*old, job("new", pending(3), priority=1000), nodes=8), conf=STATED)
    decision = inserted(snapshot)
    assert decision.evicted == {"p10/task-0", "p10/task-1"}
    assert list(decision.reserves) == ["new/task-0"]
    assert not violations(decision)


def test_a_gang_keeps_its_minimum() -> None:
    old = job("old", running(2, 3), minMember=2, priority=10)
    for cpu, gone in ((2, 1), (3, 0)):
        snapshot = snapshot_of(cluster(old, job("new", pending(cpu), priority=1000), nodes=6), conf=STATED)
        assert len(inserted(snapshot).evicted) == gone


def test_more_is_added_to_a_decision_that_is_kept() -> None:
    jobs = [job(f"j{n}", pending(2), priority=100 - n) for n in range(3)]
    snapshot = snapshot_of(cluster(*jobs, nodes=4), conf=STATED)
    decision = inserted(snapshot, Decision(snapshot, {"j2/task-0": "n1"}, {}))
    assert sorted(decision.binds) == ["j0/task-0", "j2/task-0"]


def test_counting_closes_levels_without_a_model() -> None:
    jobs = [job(f"j{n}", pending(2), priority=100) for n in range(3)]
    search = LexicographicSearch(snapshot_of(cluster(*jobs, nodes=4), conf=STATED), SETTINGS)
    search.run()
    first = search.levels[0]
    assert (first.value, first.proved, first.prover and first.prover.name) == (2, True, "counting")
    assert not search._state.has_model


def test_without_time_there_is_a_decision_and_bounds() -> None:
    """Whatever was asked of the search: here two gangs compete, and no time is left to prove who wins."""
    jobs = [job(f"j{n}", pending(2), priority=100) for n in range(3)]
    old = job("old", running(1, 2), minMember=0, priority=10)
    snapshot = snapshot_of(cluster(*jobs, old, nodes=5), conf=STATED)
    solution = decide(snapshot.instance, snapshot.policy, SolveParams(workers=1, time_limit=0))
    [first, *_] = solution.levels
    assert (first.value, first.bound) == (2, 2)
    assert all(level.bound is not None or level.value is None for level in solution.levels)
