"""What a step can be at best: read off earlier steps, or proved by the rows without wholeness."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ortools.sat.python import cp_model

from cpsched.optimum.model.objective.queue_deficit import Fall
from cpsched.optimum.model.objective.stage import Step
from cpsched.optimum.relax.stage_bounds import Foreseen, Hopes
from cpsched.optimum.solvers.linear_model import Row
from cpsched.optimum.solvers.linearize import Linearisation, row_of
from cpsched.optimum.solvers.lp import Relaxation, _proved


def model_of(*most: int) -> tuple[cp_model.CpModel, list[cp_model.IntVar]]:
    cp = cp_model.CpModel()
    return cp, [cp.new_int_var(0, high, f"x{number}") for number, high in enumerate(most)]


def hopes_of(cp: cp_model.CpModel, *, relaxed: bool = True) -> Hopes:
    return Hopes(cp, Linearisation(), relaxed=relaxed)


def step_of(made: Any, **more: Any) -> Step:
    return Step(made, 0, lambda _: 0, **more)


class TestEarlierStepsKnow:
    @pytest.mark.parametrize(
        ("earlier", "groups", "value", "inherited"),
        [((50,), {1}, 1, 2), ((10, 50), {0, 1}, 1, 1), ((100,), {2}, 0, 0), ((50,), {1, 9}, 1, 0)],
    )
    def test_a_priority_that_victims_reach_is_reached_among_more_of_them(
        self, earlier: tuple[int, ...], groups: set[int], value: int, inherited: int
    ) -> None:
        cp, (x, y) = model_of(1, 1)
        hopes = hopes_of(cp, relaxed=False)
        hopes.settle(step_of(x, ladder=earlier, among=frozenset(groups)), Foreseen(value, "cp-sat", 1.0))
        hope, met = hopes.of(step_of(y, ladder=(10, 50, 100), among=frozenset({0, 1, 2})), None)
        assert (hope.value, met) == (inherited, False)

    def test_the_same_ranks_are_settled_without_their_variables(self) -> None:
        cp, _ = model_of(1)
        hopes = hopes_of(cp, relaxed=False)
        ranks = step_of(pytest.fail, ladder=(10, 50), among=frozenset({0, 1}))
        hopes.settle(ranks, Foreseen(1, "lp", 1.0))
        assert hopes.of(ranks, None) == (Foreseen(1, "lp", 0.0), True)

    @pytest.mark.parametrize(("more", "value"), [(1, 3), (-1, 0)])
    def test_a_sum_is_no_less_than_a_part_of_it(self, more: int, value: int) -> None:
        cp, (x, y) = model_of(5, 5)
        hopes = hopes_of(cp, relaxed=False)
        hopes.settle(step_of(2 * x), Foreseen(3, "highs", 0.0))
        assert hopes.of(step_of(2 * x + more * y), None)[0].value == value

    def test_what_is_at_hand_meets_it(self) -> None:
        cp, (x,) = model_of(5)
        assert hopes_of(cp).of(step_of(x), 0) == (Foreseen(0, "bound", 0.0), True)


class TestTheRelaxationKnows:
    def test_a_bound_is_rounded_up(self) -> None:
        cp, (x,) = model_of(9)
        cp.add(2 * x >= 5)
        assert hopes_of(cp).of(step_of(x), None) == (Foreseen(3, "lp", 0.0), False)

    def test_without_it_nothing_is_known(self) -> None:
        cp, (x,) = model_of(9)
        cp.add(2 * x >= 5)
        hopes = hopes_of(cp, relaxed=False)
        assert not hopes.are_founded
        assert hopes.of(step_of(x), None)[0].value == 0

    def test_what_is_assumed_counts_until_it_is_doubted(self) -> None:
        cp, (x, y, z) = model_of(5, 30, 5)
        cp.add(x + y >= 8)
        cp.add(2 * x + y >= 12)
        hopes = hopes_of(cp)
        hopes.assume(step_of(z), Foreseen(4, "lp", 0.0))  # a bound of one variable
        hopes.assume(step_of(x + z), Foreseen(1, "lp", 0.0))  # a row
        assert hopes.of(step_of(y), None)[0].value == 10
        hopes.doubt()
        assert hopes.of(step_of(y), None)[0].value == 3
        hopes.settle(step_of(y), Foreseen(3, "lp", 0.0))
        assert hopes.of(Step(-1 * z, -9, lambda _: 0), None)[0].value == -5

    def test_rows_that_come_later_count(self) -> None:
        cp, (x,) = model_of(9)
        hopes = hopes_of(cp)
        assert hopes.of(step_of(x), None)[0].value == 0
        hopes.settle(step_of(-1 * x), Foreseen(-9, "lp", 0.0))
        y = cp.new_int_var(0, 9, "y")
        cp.add(x + y >= 12)
        assert hopes.of(step_of(y), None)[0].value == 3

    @pytest.mark.parametrize("worth", [None, 3])
    def test_ranks_are_ruled_out_one_by_one(self, worth: int | None) -> None:
        cp, lost = model_of(4, 4, 4, 4)
        cp.add(lost[0] + lost[1] >= 5)
        ranks = step_of(pytest.fail, ranks=4, beyond=lambda value: sum(lost[value:]))
        assert hopes_of(cp).of(ranks, worth) == (Foreseen(2, "lp", 0.0), False)

    def test_values_between_those_there_are_do_not_count(self) -> None:
        cp, (x,) = model_of(99)
        cp.add(x >= 11)
        assert hopes_of(cp).of(step_of(x, attainable=lambda bound: -(-bound // 10) * 10), None)[0].value == 20

    def test_a_gain_in_whole_units_says_more_than_the_deficit(self) -> None:
        cp, (gain, deficit, other) = model_of(3, 1000, 1)
        cp.add(2 * gain + other <= 5)
        cp.add(deficit + 300 * gain >= 900)
        fall = Fall(Fraction(900), Fraction(300), 3)
        assert hopes_of(cp).of(step_of(deficit), None)[0].value == 150
        assert hopes_of(cp).of(step_of(deficit, less=((-1 * gain, fall.without),)), None)[0].value == 300


TERMS = st.dictionaries(st.integers(0, 3), st.integers(-9, 9).filter(bool), min_size=1)
ROWS = st.lists(st.tuples(TERMS, st.integers(-20, 20), st.integers(0, 30)), max_size=5)


class TestTheProof:
    @given(rows=ROWS, objective=TERMS, values=st.lists(st.integers(0, 7), min_size=4, max_size=4))
    def test_no_assignment_is_below_the_bound(
        self, rows: list[tuple[dict[int, int], int, int]], objective: dict[int, int], values: list[int]
    ) -> None:
        stated = [Row(terms, lower, lower + width) for terms, lower, width in rows]
        relaxation = Relaxation()
        relaxation.extend([(0, 7)] * 4, stated)
        bound = relaxation.bound(objective, 5)
        if all(row.holds(values) for row in stated):
            assert bound is not None
            assert bound <= 5 + sum(coefficient * values[variable] for variable, coefficient in objective.items())

    @given(
        multipliers=st.lists(st.floats(-50, 50), min_size=2, max_size=2),
        values=st.lists(st.integers(0, 7), min_size=2, max_size=2),
    )
    def test_any_multipliers_prove_something_true(self, multipliers: list[float], values: list[int]) -> None:
        rows = [Row({0: 3, 1: -2}, -4, 9), Row({0: 1, 1: 7}, None, 30)]
        if all(row.holds(values) for row in rows):
            bound = _proved({0: 2, 1: -5}, 1, list(zip(rows, multipliers, strict=True)), [(0, 7), (0, 7)])
            assert bound <= 1 + 2 * values[0] - 5 * values[1]

    def test_the_multipliers_of_the_solver_are_the_best(self) -> None:
        relaxation = Relaxation()
        relaxation.extend([(0, 9), (0, 9)], [Row({0: 2, 1: 3}, 12, None), Row({0: 1}, None, 3)])
        assert relaxation.bound({0: 1, 1: 2}, 0) == 7

    def test_a_row_is_scaled_and_still_exact(self) -> None:
        large = 10**9 + 7
        relaxation = Relaxation()
        relaxation.extend([(0, 10**6), (0, 10**6)], [Row({0: large, 1: 3 * large}, 10 * large + 1, None)])
        assert relaxation.bound({0: 1, 1: 2}, 0) == ceil(Fraction(2 * (10 * large + 1), 3 * large))


@pytest.mark.parametrize(
    ("row", "bounds"),
    [
        (Row({4: 2}, 3, 9), (2, 4)),
        (Row({4: -2}, 3, 9), (-4, -2)),
        (Row({4: 1}, None, 9), (-(2**62), 9)),
        (Row({4: -1}, None, 0), (0, 2**62)),
    ],
)
def test_a_row_of_one_variable_bounds_it(row: Row, bounds: tuple[int, int]) -> None:
    assert row.bounds == (4, bounds)
    assert Row({4: 1, 5: 1}, 0, 1).bounds is None


def test_an_expression_with_limits_is_a_row() -> None:
    _, (x, y) = model_of(9, 9)
    assert row_of(2 * x - y + 3 <= 7) == Row({0: 2, 1: -1}, None, 4)
    assert row_of(x + y == 2) == Row({0: 1, 1: 1}, 2, 2)
    assert row_of(x - x + y >= 2) == Row({1: 1}, 2, None)
