"""HiGHS in its child: answers, dropped questions, and a child that dies."""

from __future__ import annotations

import random
import subprocess
import time
from collections.abc import Iterator

import pytest

from cpsched.optimum.solvers.highs import Answer
from cpsched.optimum.solvers.linear_model import LARGEST, Row, Rows
from cpsched.optimum.solvers.worker import Racer

PATIENCE = 60.0


@pytest.fixture
def racer() -> Iterator[Racer]:
    one = Racer()
    yield one
    one.stop()


def knapsack(room: int, **more: object) -> Rows:
    """Take as much as fits of things of 3 and of 5."""
    fields = {"bounds": [(0, 9), (0, 9)], "objective": {0: -3, 1: -5}, "offset": 0, "start": {}}
    return Rows(rows=[Row({0: 3, 1: 5}, None, room)], **{**fields, **more})  # type: ignore[arg-type]


def test_the_optimum_comes_in_whole_numbers(racer: Racer) -> None:
    racer.ask(knapsack(13), 60)
    assert racer.answer(PATIENCE) == Answer([1, 2], -13, optimal=True)


def test_only_the_last_question_is_answered(racer: Racer) -> None:
    racer.ask(knapsack(13), 60)
    racer.drop()
    racer.ask(knapsack(4), 60)
    assert racer.answer(PATIENCE) == Answer([1, 0], -3, optimal=True)
    assert racer.answer() is None


def test_rows_that_nothing_satisfies(racer: Racer) -> None:
    racer.ask(knapsack(-1), 60)
    answer = racer.answer(PATIENCE)
    assert answer is not None
    assert (answer.values, answer.infeasible) == (None, True)


def test_a_start_may_leave_variables_out(racer: Racer) -> None:
    racer.ask(knapsack(13, start={1: 2}), 60)
    assert racer.answer(PATIENCE) == Answer([1, 2], -13, optimal=True)


def test_a_child_that_was_killed_is_replaced(racer: Racer) -> None:
    racer.ask(knapsack(13), 60)
    assert racer.answer(PATIENCE) is not None
    assert racer._process is not None
    racer._process.kill()
    racer._process.wait()
    racer.ask(knapsack(4), 60)
    assert racer.answer(PATIENCE) == Answer([1, 0], -3, optimal=True)


def test_nothing_goes_on_after_the_end(racer: Racer) -> None:
    """Five groups to be split into exact halves at once would keep the fork busy for long."""
    draw = random.Random(1)
    groups = [[draw.randint(1, 99) for _ in range(40)] for _ in range(5)]
    halves = [Row(dict(enumerate(sizes)), sum(sizes) // 2, sum(sizes) // 2) for sizes in groups]
    racer.ask(Rows([(0, 1)] * 40, halves, {}, 0, {}), 600)
    assert racer._process is not None
    group = racer._process.pid
    while len(_members(group)) != 2:
        time.sleep(0.02)
    racer.stop()
    assert not _members(group)


def _members(group: int) -> list[str]:
    """States of the group's processes; who is dead but not buried is not one of them."""
    listed = subprocess.run(["ps", "-o", "stat=", "-g", str(group)], capture_output=True, text=True, check=False)
    return [state for state in listed.stdout.split() if not state.startswith("Z")]


@pytest.mark.parametrize(
    ("row", "scale", "moderate"),
    [
        (Row({0: 1, 1: LARGEST}, None, 5), 1, True),
        (Row({0: 1, 1: LARGEST + 1}, None, 5), 1, False),
        (Row({0: 256, 1: 256 * 10**6}, None, 256 * 10**7), 256, True),
        (Row({0: 256, 1: 256 * 10**6}, None, 257 * 10**7), 256, False),
    ],
)
def test_only_what_moderate_numbers_state_is_for_floats(row: Row, scale: int, moderate: bool) -> None:
    assert (row.scale, row.is_moderate) == (scale, moderate)


def test_a_row_holds_or_not() -> None:
    row = Row({0: 2, 1: -1}, 0, 3)
    assert [row.holds(values) for values in ([0, 0], [0, 1], [2, 1], [2, 0])] == [True, False, True, False]
