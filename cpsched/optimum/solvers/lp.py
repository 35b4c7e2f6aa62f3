"""LP relaxation: integrality dropped, and a safe dual bound in integers.

The LP solver counts in floats, but weak duality holds for any multipliers: the rows times the multipliers, and what is
left of the objective at the variables' bounds, are a lower bound. So the multipliers are rounded to multiples of 2^-60
and the bound is added up in integers (Neumaier and Shcherbina 2004). A wrong float makes it weaker, never wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ortools.linear_solver import pywraplp

from cpsched.optimum.params import LP_EFFORT
from cpsched.optimum.solvers.linear_model import Bounds, LinearConstraint

_ONE = 1 << 60
"""Multipliers are integers of this part of one: finer than a float near 1, so rounding costs nothing that shows."""


class LpRelaxation:
    """A linear program that grows; constraints can be pushed for a while. A row of one variable is a bound."""

    def __init__(self) -> None:
        solver: Any = pywraplp.Solver.CreateSolver("GLOP")
        solver.SetSolverSpecificParametersAsString(f"max_deterministic_time: {LP_EFFORT} use_preprocessing: false")
        self._solver, self._optimal = solver, pywraplp.Solver.OPTIMAL
        self._variables: list[Any] = []
        self._own: list[Bounds] = []
        self._bounds: list[Bounds] = []
        self._seen = 0
        self._rows: list[tuple[LinearConstraint, Any]] = []
        self._pushed: list[tuple[LinearConstraint, Any]] = []
        self._narrowed: set[int] = set()

    def extend(self, bounds: Sequence[Bounds], rows: Sequence[LinearConstraint]) -> None:
        """Bring it up to date with all variables and rows there are."""
        for low, high in bounds[len(self._own) :]:
            self._variables.append(self._solver.NumVar(low, high, ""))
            self._own.append((low, high))
            self._bounds.append((low, high))
        for row in rows[self._seen :]:
            if len(row.terms) == 1 and (one := row.bounds) is not None:
                variable, bounded = one
                self._own[variable] = _both(self._own[variable], bounded)
                self._narrow(variable, bounded)
            else:
                self._rows.append((row, self._stated(row)))
        self._seen = len(rows)

    def push(self, rows: Iterable[LinearConstraint]) -> None:
        """Add constraints that hold until `pop`."""
        for row in rows:
            if len(row.terms) == 1 and (one := row.bounds) is not None:
                self._narrow(*one)
                self._narrowed.add(one[0])
            else:
                self._pushed.append((row, self._stated(row)))

    def pop(self) -> None:
        """Withdraw the constraints pushed."""
        infinity = self._solver.infinity()
        for _, stated in self._pushed:
            stated.SetBounds(-infinity, infinity)
        for variable in self._narrowed:
            self._bounds[variable] = self._own[variable]
            self._variables[variable].SetBounds(*self._own[variable])
        self._pushed, self._narrowed = [], set()

    def bound(self, objective: Mapping[int, int], offset: int) -> int | None:
        """What the objective is at least, wherever all rows hold; None if the solver could not tell in time."""
        goal = self._solver.Objective()
        goal.Clear()
        goal.SetMinimization()
        for variable, coefficient in objective.items():
            goal.SetCoefficient(self._variables[variable], coefficient)
        if self._solver.Solve() != self._optimal:
            return None
        multipliers = [(row, y) for row, stated in (*self._rows, *self._pushed) if (y := stated.dual_value())]
        return safe_dual_bound(objective, offset, multipliers, self._bounds)

    def _narrow(self, variable: int, bounds: Bounds) -> None:
        self._bounds[variable] = _both(self._bounds[variable], bounds)
        self._variables[variable].SetBounds(*self._bounds[variable])

    def _stated(self, row: LinearConstraint) -> Any:
        infinity, scale = self._solver.infinity(), row.scale
        stated = self._solver.Constraint(
            -infinity if row.lower is None else row.lower / scale, infinity if row.upper is None else row.upper / scale
        )
        for variable, coefficient in row.terms.items():
            stated.SetCoefficient(self._variables[variable], coefficient / scale)
        return stated


def _both(one: Bounds, other: Bounds) -> Bounds:
    return max(one[0], other[0]), min(one[1], other[1])


def safe_dual_bound(
    objective: Mapping[int, int],
    offset: int,
    multipliers: Iterable[tuple[LinearConstraint, float]],
    bounds: Sequence[Bounds],
) -> int:
    """Each row times its multiplier, and what is left of the objective at the variables' own bounds."""
    total = offset * _ONE
    left = {variable: coefficient * _ONE for variable, coefficient in objective.items()}
    for row, multiplier in multipliers:
        times = int(multiplier * _ONE) // row.scale
        side = row.lower if times > 0 else row.upper
        if side is not None:
            total += times * side
            for variable, coefficient in row.terms.items():
                left[variable] = left.get(variable, 0) - times * coefficient
    total += sum(rest * bounds[variable][0 if rest > 0 else 1] for variable, rest in left.items())
    return -(-total // _ONE)
