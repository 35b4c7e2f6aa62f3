"""What is stated of the levels that a search reached: nothing after an open one is proved."""

from __future__ import annotations

import pytest

from cpsched.optimum.model.objective import stages_of
from cpsched.optimum.model.session_model import SessionModel
from cpsched.optimum.provers import PROVERS
from cpsched.optimum.search.result import LevelResult, LevelResults
from cpsched.solution import ProverName
from tests.judge import cluster, decide, job, pending, snapshot_of

PLAN = [("tasks_bound", None), ("tasks_placed", None), ("nodes_used", None)]
SESSION = snapshot_of(cluster(job("a", pending(1, 3), minMember=1)))
[STAGE] = stages_of(SessionModel(SESSION).variables, "tasks_bound", None)
ONE = decide(SESSION, {"binds": {"a/task-0": "n1"}})
TWO = decide(SESSION, {"binds": {"a/task-0": "n1", "a/task-1": "n1"}})


def stated(level: LevelResult) -> tuple[object, ...]:
    """A level's value and what is proved about it."""
    prover = "" if level.prover is None else level.prover.name
    return level.value, level.bound, level.proved, prover, level.given_open_levels


@pytest.fixture
def results() -> LevelResults:
    return LevelResults(PLAN)


def test_closed_levels_are_proved(results: LevelResults) -> None:
    """The prover is the one that was needed besides what is known without a search."""
    results.record(TWO, [PROVERS["bound"], PROVERS["bound"]], 0.5)
    results.record(TWO, [PROVERS["bound"], PROVERS["lp"], PROVERS["cp-sat"]], 0)
    assert [stated(level) for level in results.levels] == [(2, 2, True, "bound", False), (2, 2, True, "lp", False)]
    assert results.levels[0].seconds == 0.5
    assert results.are_proved


def test_an_open_level_has_a_bound(results: LevelResults) -> None:
    results.record(TWO, [PROVERS["bound"], PROVERS["highs"]], 0, (STAGE, -3))
    assert [stated(level) for level in results.levels] == [(2, 3, False, "highs", False)]
    assert not results.are_proved


def test_nothing_is_proved_after_an_open_level(results: LevelResults) -> None:
    """It is closed, but only given the value above it; the one after that too."""
    results.record(TWO, [PROVERS["cp-sat"]], 0, (STAGE, -3))
    results.record(TWO, [PROVERS["cp-sat"]], 0)
    results.record(TWO, [PROVERS["bound"]], 0)
    closed = [(2, 2, False, "cp-sat", True), (1, 1, False, "bound", True)]
    assert [stated(level) for level in results.levels[1:]] == closed
    assert not results.are_proved


def test_values_are_those_of_the_decision_in_the_end(results: LevelResults) -> None:
    """A better value of an open level is taken; another value of a proved one should not be."""
    results.record(ONE, [PROVERS["bound"]], 0)
    results.record(ONE, [PROVERS["cp-sat"]], 0, (STAGE, -3))
    assert list(results.evaluate_again(TWO)) == ["tasks_bound was proved to be 1, but the decision has 2"]
    assert [level.value for level in results.levels] == [2, 2]
    assert list(results.evaluate_again(TWO)) == []


def test_a_level_that_reaches_its_bound_later_is_proved(results: LevelResults) -> None:
    """And with it those after it that are closed, up to the next one that is open."""
    results.record(ONE, [PROVERS["cp-sat"]], 0, (STAGE, -2))
    results.record(ONE, [None], 0, (STAGE, -2))
    results.record(ONE, [PROVERS["bound"]], 0)
    assert [level.proved for level in results.levels] == [False, False, False]
    assert list(results.evaluate_again(TWO)) == []
    closed = [(2, 2, True, "cp-sat", False), (2, 2, True, "bound", False), (1, 1, True, "bound", False)]
    assert [stated(level) for level in results.levels] == closed


def test_a_level_that_misses_its_bound_later_is_open(results: LevelResults) -> None:
    """It was closed given the value of an open one before it, which got better at its cost."""
    three = decide(SESSION, {"binds": {"a/task-0": "n1"}, "reserves": {"a/task-1": "n1", "a/task-2": "n1"}})
    results.record(three, [PROVERS["cp-sat"]], 0, (STAGE, -3))
    results.record(three, [PROVERS["cp-sat"]], 0)
    results.record(three, [PROVERS["cp-sat"]], 0)
    list(results.evaluate_again(TWO))
    assert stated(results.levels[1]) == (2, 3, False, "cp-sat", False)
    assert stated(results.levels[2]) == (1, None, False, "", False), "its bound was given three tasks placed"


@pytest.mark.parametrize(
    ("provers", "found"),
    [
        (["bound", "cp-sat"], [(2, 2, True, "bound", False), (2, None, False, "", False), (1, None, False, "", False)]),
        (["cp-sat", "bound"], [(2, None, False, "", False), (2, 2, False, "bound", True), (1, None, False, "", False)]),
        (["bound", "bound"], [(2, 2, True, "bound", False), (2, 2, True, "bound", False), (1, None, False, "", False)]),
    ],
)
def test_without_any_solver(results: LevelResults, provers: list[ProverName], found: list[tuple[object, ...]]) -> None:
    """What only a solver proved is left open, and what was not reached; what comes after it is proved no more."""
    for prover in provers:
        results.record(TWO, [PROVERS[prover]], 0)
    results.leave_open(TWO)
    assert [stated(level) for level in results.levels] == found


def test_a_bound_that_the_decision_does_not_meet(results: LevelResults) -> None:
    """It was met by a decision that counts no more."""
    results.record(TWO, [PROVERS["bound"]], 0)
    results.leave_open(ONE)
    assert stated(results.levels[0]) == (1, None, False, "", False)
