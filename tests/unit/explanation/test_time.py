"""When time runs out an explanation says what it left open, and claims nothing of it."""

from __future__ import annotations

from typing import Any

import pytest

import cpsched
from cpsched import engines
from cpsched.checker import CheckedSolution
from cpsched.explanation import Explanation, Verdict, inquiry, repairs
from cpsched.explanation.blocks import NO_REPAIR
from cpsched.explanation.candidates import candidates_of
from cpsched.explanation.goal import Clock, Goal
from cpsched.explanation.trial import Trial
from cpsched.importers.policy import load_policy
from cpsched.options import Options
from cpsched.rules import Decision
from cpsched.snapshot import Snapshot
from cpsched.solution import Solution, SolutionStatus
from tests.judge import cluster, conf, job, pending, running

KINDS = ("queue", "gang", "eviction", "capacity", "nodes")
FULL = cluster(
    job("old", running(2), priority=100),
    job("new", pending(1), priority=100),
    nodes={"n1": 2},
    conf=conf("enqueue, allocate, preempt, backfill", "priority", "gang", "predicates"),
)
AHEAD = cluster(
    job("first", pending(2), priority=1000),
    job("new", pending(2), priority=100),
    nodes={"n1": 2},
    conf=conf("enqueue, allocate, preempt, backfill", "priority", "gang", "predicates"),
)


class Looks:
    """A clock that moves on when a task looks at it, by so much that no real time matters to the solver."""

    STEP = 1000.0

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        self.time += self.STEP
        return self.time


def clock(looks: int) -> Clock:
    return Clock(looks * Looks.STEP + 1, now=Looks())


def explain(source: dict[str, Any], looks: int = 10**6, name: str = "default/new", **asked: Any) -> Explanation:
    instance = cpsched.load(source)
    policy = load_policy(instance=instance)
    return inquiry.explain(instance, policy, Options(workers=1), job=name, clock=clock(looks), **asked)


def kinds_of(found: Explanation) -> set[str]:
    return {change.kind for repair in found.repairs for change in repair.changes}


@pytest.mark.parametrize(("source", "verdict"), [(FULL, Verdict.IMPOSSIBLE), (AHEAD, Verdict.OUTRANKED)])
def test_kinds_that_were_left_open_are_named(source: dict[str, Any], verdict: Verdict) -> None:
    whole = explain(source)
    assert whole.verdict is verdict
    assert (whole.repairs_not_tried, whole.repairs_not_finished) == ((), ())
    seen = set()
    for looks in range(3, 150):
        found = explain(source, looks)
        if found.verdict is Verdict.UNDECIDED:
            assert NO_REPAIR not in str(found)
            assert set(found.repairs_not_tried) >= kinds_of(whole)
            assert "No repair found within 60 s; " in str(found)
            continue
        assert found.verdict is verdict
        left_open = {*found.repairs_not_tried, *found.repairs_not_finished}
        assert kinds_of(whole) <= kinds_of(found) | left_open
        assert not set(found.repairs_not_tried) & (kinds_of(found) | set(found.repairs_not_finished))
        assert NO_REPAIR not in str(found)
        assert ("not tried" in str(found)) == bool(found.repairs_not_tried)
        assert ("not finished" in str(found)) == bool(found.repairs_not_finished)
        assert found.to_dict()["repairs_not_tried"] == list(found.repairs_not_tried)
        seen.add((found.repairs_not_tried, found.repairs_not_finished))
        if not left_open:
            break
    assert [repair.changes for repair in found.repairs] == [repair.changes for repair in whole.repairs]
    assert len(seen) > 5
    assert any(len(not_tried) >= 3 and not not_finished for not_tried, not_finished in seen)
    assert any(not_finished for _, not_finished in seen)


def test_nothing_tried_reads_so() -> None:
    looks = next(n for n in range(3, 150) if explain(FULL, n).verdict is Verdict.IMPOSSIBLE)
    found = explain(FULL, looks)
    assert (found.repairs, found.repairs_not_finished) == ((), ())
    kinds = "an eviction, a node's size, more nodes and several of these together"
    line = f"No repair found within 60 s; {kinds} were not tried."
    assert line in str(found).splitlines()


def test_that_no_kind_would_do_is_stated_only_when_all_were_finished() -> None:
    source = cluster(job("new", pending(1, nodeSelector={"there-is": "none"})), nodes={"n1": 2})
    whole = explain(source)
    assert whole.repairs == ()
    assert NO_REPAIR in str(whole)
    for looks in range(3, 60):
        found = explain(source, looks)
        open_kinds = {*found.repairs_not_tried, *found.repairs_not_finished}
        assert (NO_REPAIR in str(found)) == (found.verdict is Verdict.IMPOSSIBLE and not open_kinds)


def test_kinds_of_nodes_beyond_the_number_that_is_tried_are_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    small = {"name": "small", "allocatable": {"cpu": 1, "pods": 10}, "labels": {"disk": "ssd"}}
    nodes = [{"name": "large", "allocatable": {"cpu": 2, "pods": 10}}, small]
    source = cluster(job("new", pending(3, nodeSelector={"disk": "ssd"})), nodes=nodes)
    assert "capacity" in kinds_of(explain(source))
    monkeypatch.setattr(repairs, "MOST_KINDS", 1)
    found = explain(source)
    assert "capacity" not in kinds_of(found)
    assert found.repairs_not_finished == ("capacity",)


def test_an_optimum_that_was_not_proved_refutes_no_repair(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = cpsched.load(FULL)
    policy = load_policy(instance=instance)
    best = engines.decide("optimal", instance, policy, Options(workers=1)).decision
    trial = Trial(instance, policy, Goal("default/new"), best, Clock(600), thorough=True)
    assert not trial.reached([])
    assert trial.progress.open == set()
    nothing = CheckedSolution(Solution(status=SolutionStatus.FEASIBLE), Decision(best.snapshot, {}, {}))
    monkeypatch.setattr(engines, "decide", lambda *_: nothing)
    assert not trial.reached([])
    assert trial.progress.open == {""}


def test_reasons_that_were_not_found_out_are_stated() -> None:
    whole = explain(FULL)
    seen = set()
    for looks in range(3, 60):
        found = explain(FULL, looks)
        if found.verdict is Verdict.UNDECIDED:
            continue
        if not found.conflicts:
            assert inquiry.NO_REASONS in found.notes
        elif found.conflicts != whole.conflicts:
            assert {inquiry.TOO_LARGE, inquiry.NOT_ALL_REASONS, inquiry.ALONE} & set(found.notes)
        assert (inquiry.TOO_LARGE in found.notes) == (not found.conflicts_minimal)
        assert ("without any one of these, the rest" in str(found)) == (
            bool(found.conflicts) and found.conflicts_minimal
        )
        seen.add((len(found.conflicts), found.conflicts_minimal))
    assert {(0, True), (1, False), (1, True)} <= seen


def test_a_node_that_was_not_found_out_may_be_better() -> None:
    source = cluster(
        job("old", running(2, node="n1"), priority=1),
        job("older", running(2, node="n2"), priority=2),
        job("new", pending(1), priority=100),
        nodes={"n1": 2, "n2": 2},
        conf=conf("enqueue, allocate, preempt, backfill", "priority", "gang", "predicates"),
    )
    instance = cpsched.load(source)
    snapshot = Snapshot(instance, load_policy(instance=instance))
    task = instance.tasks["new/task-0"]
    assert not any("in time" in note for note in candidates_of(snapshot, task, "preempt", clock(10**6))["notes"])
    notes = candidates_of(snapshot, task, "preempt", clock(0))["notes"]
    assert "Not found out in time on n1, n2: a better node may be among them." in notes


def test_a_place_in_an_optimum_that_was_not_proved_is_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    source = cluster(job("new", pending(1)), nodes={"n1": 2})
    assert inquiry.NOT_PROVED not in explain(source).notes
    decide = engines.decide

    def unproved(*asked: Any) -> CheckedSolution:
        solution, decision = decide(*asked)
        return CheckedSolution(solution.model_copy(update={"status": SolutionStatus.FEASIBLE}), decision)

    monkeypatch.setattr(engines, "decide", unproved)
    assert inquiry.NOT_PROVED in explain(source).notes
    assert inquiry.NOT_PROVED not in explain(source, engine="volcano").notes
