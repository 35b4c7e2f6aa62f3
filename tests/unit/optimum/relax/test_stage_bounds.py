"""What a stage can be at best: inherited from earlier stages, or proved by the LP relaxation."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ortools.sat.python import cp_model

from cpsched.optimum.model.classes import VictimClass
from cpsched.optimum.model.objective.placement import QueueDeficitMax
from cpsched.optimum.model.objective.queue_deficit import LinearDeficit
from cpsched.optimum.model.objective.stage import LinearStage
from cpsched.optimum.model.objective.victims import MaxPriority
from cpsched.optimum.model.variables import Variables
from cpsched.optimum.provers import CP_SAT, HIGHS, IDEAL, LP
from cpsched.optimum.relax.stage_bounds import StageBound, StageBounds
from cpsched.optimum.solvers.linear_model import LinearConstraint
from cpsched.optimum.solvers.linearize import Linearizer, row_of
from cpsched.optimum.solvers.lp import LpRelaxation, safe_dual_bound
from cpsched.rules import Decision


def model_of(*most: int) -> tuple[cp_model.CpModel, list[cp_model.IntVar]]:
    cp = cp_model.CpModel()
    return cp, [cp.new_int_var(0, high, f"x{number}") for number, high in enumerate(most)]


def bounds_of(cp: cp_model.CpModel, *, with_lp: bool = True) -> StageBounds:
    return StageBounds(cp, Linearizer(), with_lp=with_lp)


class Plain(LinearStage):
    """Minimise an expression."""

    def __init__(self, cp: cp_model.CpModel, expr: Any, ideal: int = 0):
        super().__init__(cast(Variables, SimpleNamespace(cp=cp)), expr)
        self.ideal = ideal

    def _value(self, decision: Decision) -> int:
        raise NotImplementedError("bounds are computed without any decision")


class Tens(Plain):
    """Only multiples of ten exist."""

    def next_value(self, bound: int) -> int:
        return -(-bound // 10) * 10


def priorities(cp: cp_model.CpModel, by_class: dict[int, int]) -> MaxPriority:
    """The highest priority among victim classes of these priorities."""
    groups = [
        SimpleNamespace(index=index, representative=SimpleNamespace(pod_priority=priority), tasks=[None])
        for index, priority in by_class.items()
    ]
    return MaxPriority(cast(Variables, SimpleNamespace(cp=cp)), cast(list[VictimClass], groups))


class TestEarlierStepsKnow:
    @pytest.mark.parametrize(
        ("earlier", "value", "inherited"),
        [({1: 50}, 1, 2), ({0: 10, 1: 50}, 1, 1), ({2: 100}, 0, 0), ({1: 50, 9: 50}, 1, 0)],
    )
    def test_a_priority_that_victims_reach_is_reached_among_more_of_them(
        self, earlier: dict[int, int], value: int, inherited: int
    ) -> None:
        cp, _ = model_of(1, 1)
        bounds = bounds_of(cp, with_lp=False)
        bounds.fix([(priorities(cp, earlier), StageBound(value, CP_SAT, 1.0))])
        bound, attained = bounds.bound(priorities(cp, {0: 10, 1: 50, 2: 100}), None, None)
        assert (bound.value, attained) == (inherited, False)

    def test_the_same_ranks_are_settled_without_their_variables(self) -> None:
        cp, _ = model_of(1)
        bounds = bounds_of(cp, with_lp=False)
        bounds.fix([(priorities(cp, {0: 10, 1: 50}), StageBound(1, LP, 1.0))])
        assert bounds.bound(priorities(cp, {0: 10, 1: 50}), None, None) == (StageBound(1, LP, 0.0), True)

    @pytest.mark.parametrize(("more", "value"), [(1, 3), (-1, 0)])
    def test_a_sum_is_no_less_than_a_part_of_it(self, more: int, value: int) -> None:
        cp, (x, y) = model_of(5, 5)
        bounds = bounds_of(cp, with_lp=False)
        bounds.fix([(Plain(cp, 2 * x), StageBound(3, HIGHS, 0.0))])
        assert bounds.bound(Plain(cp, 2 * x + more * y), None, None)[0].value == value

    def test_what_is_at_hand_meets_it(self) -> None:
        cp, (x,) = model_of(5)
        assert bounds_of(cp).bound(Plain(cp, x), 0, None) == (StageBound(0, IDEAL, 0.0), True)


class TestTheRelaxationKnows:
    def test_a_bound_is_rounded_up(self) -> None:
        cp, (x,) = model_of(9)
        cp.add(2 * x >= 5)
        assert bounds_of(cp).bound(Plain(cp, x), None, None) == (StageBound(3, LP, 0.0), False)

    def test_without_it_nothing_is_known(self) -> None:
        cp, (x,) = model_of(9)
        cp.add(2 * x >= 5)
        bounds = bounds_of(cp, with_lp=False)
        assert not bounds.has_lp
        assert bounds.bound(Plain(cp, x), None, None)[0].value == 0

    def test_what_is_assumed_counts_until_it_is_doubted(self) -> None:
        cp, (x, y, z) = model_of(5, 30, 5)
        cp.add(x + y >= 8)
        cp.add(2 * x + y >= 12)
        bounds = bounds_of(cp)
        bounds.assume(Plain(cp, z), StageBound(4, LP, 0.0))  # a bound of one variable
        bounds.assume(Plain(cp, x + z), StageBound(1, LP, 0.0))  # a row
        assert bounds.bound(Plain(cp, y), None, None)[0].value == 10
        bounds.retract()
        assert bounds.bound(Plain(cp, y), None, None)[0].value == 3
        bounds.fix([(Plain(cp, y), StageBound(3, LP, 0.0))])
        assert bounds.bound(Plain(cp, -1 * z, -9), None, None)[0].value == -5

    def test_rows_that_come_later_count(self) -> None:
        cp, (x,) = model_of(9)
        bounds = bounds_of(cp)
        assert bounds.bound(Plain(cp, x), None, None)[0].value == 0
        bounds.retract()
        bounds.fix([(Plain(cp, -1 * x), StageBound(-9, LP, 0.0))])
        y = cp.new_int_var(0, 9, "y")
        cp.add(x + y >= 12)
        assert bounds.bound(Plain(cp, y), None, None)[0].value == 3

    @pytest.mark.parametrize("worth", [None, 3])
    def test_ranks_are_ruled_out_one_by_one(self, worth: int | None) -> None:
        cp, lost = model_of(4, 4, 4, 4)
        cp.add(lost[0] + lost[1] >= 5)
        ranks = priorities(cp, {0: 10, 1: 20, 2: 30, 3: 40})
        ranks.beyond = lambda value: sum(lost[value:])  # type: ignore[method-assign]
        assert bounds_of(cp).bound(ranks, worth, None) == (StageBound(2, LP, 0.0), False)

    def test_values_between_those_there_are_do_not_count(self) -> None:
        cp, (x,) = model_of(99)
        cp.add(x >= 11)
        assert bounds_of(cp).bound(Tens(cp, x), None, None)[0].value == 20

    def test_a_gain_in_whole_units_says_more_than_the_deficit(self) -> None:
        cp, (gain, deficit, other) = model_of(3, 1000, 1)
        cp.add(2 * gain + other <= 5)
        cp.add(deficit + 300 * gain >= 900)
        fall = LinearDeficit(Fraction(900), Fraction(300), 3)
        assert bounds_of(cp).bound(Plain(cp, deficit), None, None)[0].value == 150
        stage = QueueDeficitMax.__new__(QueueDeficitMax)
        LinearStage.__init__(stage, cast(Variables, SimpleNamespace(cp=cp)), deficit)
        stage._gains = [(gain, fall)]
        assert bounds_of(cp).bound(stage, None, None)[0].value == 300


TERMS = st.dictionaries(st.integers(0, 3), st.integers(-9, 9).filter(bool), min_size=1)
ROWS = st.lists(st.tuples(TERMS, st.integers(-20, 20), st.integers(0, 30)), max_size=5)


class TestTheProof:
    @given(rows=ROWS, objective=TERMS, values=st.lists(st.integers(0, 7), min_size=4, max_size=4))
    def test_no_assignment_is_below_the_bound(
        self, rows: list[tuple[dict[int, int], int, int]], objective: dict[int, int], values: list[int]
    ) -> None:
        stated = [LinearConstraint(terms, lower, lower + width) for terms, lower, width in rows]
        relaxation = LpRelaxation()
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
        rows = [LinearConstraint({0: 3, 1: -2}, -4, 9), LinearConstraint({0: 1, 1: 7}, None, 30)]
        if all(row.holds(values) for row in rows):
            bound = safe_dual_bound({0: 2, 1: -5}, 1, list(zip(rows, multipliers, strict=True)), [(0, 7), (0, 7)])
            assert bound <= 1 + 2 * values[0] - 5 * values[1]

    def test_the_multipliers_of_the_solver_are_the_best(self) -> None:
        relaxation = LpRelaxation()
        relaxation.extend(
            [(0, 9), (0, 9)], [LinearConstraint({0: 2, 1: 3}, 12, None), LinearConstraint({0: 1}, None, 3)]
        )
        assert relaxation.bound({0: 1, 1: 2}, 0) == 7

    def test_a_row_is_scaled_and_still_exact(self) -> None:
        large = 10**9 + 7
        relaxation = LpRelaxation()
        relaxation.extend([(0, 10**6), (0, 10**6)], [LinearConstraint({0: large, 1: 3 * large}, 10 * large + 1, None)])
        assert relaxation.bound({0: 1, 1: 2}, 0) == ceil(Fraction(2 * (10 * large + 1), 3 * large))


@pytest.mark.parametrize(
    ("row", "bounds"),
    [
        (LinearConstraint({4: 2}, 3, 9), (2, 4)),
        (LinearConstraint({4: -2}, 3, 9), (-4, -2)),
        (LinearConstraint({4: 1}, None, 9), (-(2**62), 9)),
        (LinearConstraint({4: -1}, None, 0), (0, 2**62)),
    ],
)
def test_a_row_of_one_variable_bounds_it(row: LinearConstraint, bounds: tuple[int, int]) -> None:
    assert row.bounds == (4, bounds)
    assert LinearConstraint({4: 1, 5: 1}, 0, 1).bounds is None


def test_an_expression_with_limits_is_a_row() -> None:
    _, (x, y) = model_of(9, 9)
    assert row_of(2 * x - y + 3 <= 7) == LinearConstraint({0: 2, 1: -1}, None, 4)
    assert row_of(x + y == 2) == LinearConstraint({0: 1, 1: 1}, 2, 2)
    assert row_of(x - x + y >= 2) == LinearConstraint({1: 1}, 2, None)
