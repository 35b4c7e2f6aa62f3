"""HiGHS in its child: answers, dropped questions, and a child that dies."""

from __future__ import annotations

import random
import subprocess
import time
from collections.abc import Iterator

import pytest

from cpsched.optimum.solvers.linear_model import LARGEST, LinearConstraint, LinearModel
from cpsched.optimum.solvers.mip import MipAnswer
from cpsched.optimum.solvers.worker import SolverProcess
from tests.unit.optimum.solvers.second_solver import HIGHS_MODULE

PATIENCE = 3600.0


@pytest.fixture
def worker() -> Iterator[SolverProcess]:
    one = SolverProcess(HIGHS_MODULE)
    yield one
    one.stop()


def knapsack(room: int, **more: object) -> LinearModel:
    """Take as much as fits of things of 3 and of 5."""
    fields = {"bounds": [(0, 9), (0, 9)], "objective": {0: -3, 1: -5}, "offset": 0, "hint": {}}
    return LinearModel(rows=[LinearConstraint({0: 3, 1: 5}, None, room)], **{**fields, **more})  # type: ignore[arg-type]


def test_the_optimum_comes_in_whole_numbers(worker: SolverProcess) -> None:
    worker.submit(knapsack(13), PATIENCE)
    assert worker.poll(PATIENCE) == MipAnswer([1, 2], -13, optimal=True)


def test_only_the_last_question_is_answered(worker: SolverProcess) -> None:
    worker.submit(knapsack(13), PATIENCE)
    worker.cancel()
    worker.submit(knapsack(4), PATIENCE)
    assert worker.poll(PATIENCE) == MipAnswer([1, 0], -3, optimal=True)
    assert worker.poll() is None


def test_rows_that_nothing_satisfies(worker: SolverProcess) -> None:
    worker.submit(knapsack(-1), PATIENCE)
    answer = worker.poll(PATIENCE)
    assert answer is not None
    assert (answer.values, answer.infeasible) == (None, True)


def test_a_start_may_leave_variables_out(worker: SolverProcess) -> None:
    worker.submit(knapsack(13, hint={1: 2}), PATIENCE)
    assert worker.poll(PATIENCE) == MipAnswer([1, 2], -13, optimal=True)


def test_a_child_that_was_killed_is_replaced(worker: SolverProcess) -> None:
    worker.submit(knapsack(13), PATIENCE)
    assert worker.poll(PATIENCE) is not None
    assert worker._process is not None
    worker._process.kill()
    worker._process.wait()
    worker.submit(knapsack(4), PATIENCE)
    assert worker.poll(PATIENCE) == MipAnswer([1, 0], -3, optimal=True)


def test_nothing_goes_on_after_the_end(worker: SolverProcess) -> None:
    """Five groups to be split into exact halves at once would keep the fork busy for long."""
    draw = random.Random(1)
    groups = [[draw.randint(1, 99) for _ in range(40)] for _ in range(5)]
    halves = [LinearConstraint(dict(enumerate(sizes)), sum(sizes) // 2, sum(sizes) // 2) for sizes in groups]
    worker.submit(LinearModel([(0, 1)] * 40, halves, {}, 0, {}), PATIENCE)
    assert worker._process is not None
    group = worker._process.pid
    while len(_members(group)) != 2:
        time.sleep(0.02)
    worker.stop()
    assert not _members(group)


def _members(group: int) -> list[str]:
    """States of the group's processes; who is dead but not buried is not one of them."""
    listed = subprocess.run(["ps", "-o", "stat=", "-g", str(group)], capture_output=True, text=True, check=False)
    return [state for state in listed.stdout.split() if not state.startswith("Z")]


@pytest.mark.parametrize(
    ("row", "scale", "moderate"),
    [
        (LinearConstraint({0: 1, 1: LARGEST}, None, 5), 1, True),
        (LinearConstraint({0: 1, 1: LARGEST + 1}, None, 5), 1, False),
        (LinearConstraint({0: 256, 1: 256 * 10**6}, None, 256 * 10**7), 256, True),
        (LinearConstraint({0: 256, 1: 256 * 10**6}, None, 257 * 10**7), 256, False),
    ],
)
def test_only_what_moderate_numbers_state_is_for_floats(row: LinearConstraint, scale: int, moderate: bool) -> None:
    assert (row.scale, row.is_moderate) == (scale, moderate)


def test_a_row_holds_or_not() -> None:
    row = LinearConstraint({0: 2, 1: -1}, 0, 3)
    assert [row.holds(values) for values in ([0, 0], [0, 1], [2, 1], [2, 0])] == [True, False, True, False]
