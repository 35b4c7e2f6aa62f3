"""The rows without wholeness: a linear program whose multipliers prove a bound in whole numbers.

The solver reckons in floats, but any multipliers bound the objective from below; theirs are only good ones. So they are
rounded and the bound is added up exactly, and nothing that a tolerance forgave gets into it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ortools.linear_solver import pywraplp

from cpsched.optimum.solvers.linear_model import Bounds, Row

EFFORT = 2.0
"""Deterministic time for one bound."""

_ONE = 1 << 60
"""Multipliers are whole numbers of this part of one."""


class Relaxation:
    """A linear program that grows; rows can be lent to it for a while. A row of one variable is a bound."""

    def __init__(self) -> None:
        solver: Any = pywraplp.Solver.CreateSolver("GLOP")
        solver.SetSolverSpecificParametersAsString(f"max_deterministic_time: {EFFORT} use_preprocessing: false")
        self._solver, self._optimal = solver, pywraplp.Solver.OPTIMAL
        self._variables: list[Any] = []
        self._own: list[Bounds] = []
        self._bounds: list[Bounds] = []
        self._seen = 0
        self._rows: list[tuple[Row, Any]] = []
        self._lent: list[tuple[Row, Any]] = []
        self._narrowed: set[int] = set()

    def extend(self, bounds: Sequence[Bounds], rows: Sequence[Row]) -> None:
        """Bring it up to date with all variables and rows there are."""
        for low, high in bounds[len(self._own) :]:
            self._variables.append(self._solver.NumVar(low, high, ""))
            self._own.append((low, high))
            self._bounds.append((low, high))
        for row in rows[self._seen :]:
            if (one := row.bounds) is not None:
                variable, bounded = one
                self._own[variable] = _both(self._own[variable], bounded)
                self._narrow(variable, bounded)
            else:
                self._rows.append((row, self._stated(row)))
        self._seen = len(rows)

    def lend(self, rows: Iterable[Row]) -> None:
        """Rows that hold until `take_back`."""
        for row in rows:
            if (one := row.bounds) is not None:
                self._narrow(*one)
                self._narrowed.add(one[0])
            else:
                self._lent.append((row, self._stated(row)))

    def take_back(self) -> None:
        """Forget what was lent."""
        infinity = self._solver.infinity()
        for _, stated in self._lent:
            stated.SetBounds(-infinity, infinity)
        for variable in self._narrowed:
            self._bounds[variable] = self._own[variable]
            self._variables[variable].SetBounds(*self._own[variable])
        self._lent, self._narrowed = [], set()

    def bound(self, objective: Mapping[int, int], offset: int) -> int | None:
        """What the objective is at least, wherever all rows hold; None if the solver could not tell in time."""
        goal = self._solver.Objective()
        goal.Clear()
        goal.SetMinimization()
        for variable, coefficient in objective.items():
            goal.SetCoefficient(self._variables[variable], coefficient)
        if self._solver.Solve() != self._optimal:
            return None
        multipliers = [(row, y) for row, stated in (*self._rows, *self._lent) if (y := stated.dual_value())]
        return _proved(objective, offset, multipliers, self._bounds)

    def _narrow(self, variable: int, bounds: Bounds) -> None:
        self._bounds[variable] = _both(self._bounds[variable], bounds)
        self._variables[variable].SetBounds(*self._bounds[variable])

    def _stated(self, row: Row) -> Any:
        infinity, scale = self._solver.infinity(), row.scale
        stated = self._solver.Constraint(
            -infinity if row.lower is None else row.lower / scale, infinity if row.upper is None else row.upper / scale
        )
        for variable, coefficient in row.terms.items():
            stated.SetCoefficient(self._variables[variable], coefficient / scale)
        return stated


def _both(one: Bounds, other: Bounds) -> Bounds:
    return max(one[0], other[0]), min(one[1], other[1])


def _proved(
    objective: Mapping[int, int], offset: int, multipliers: Iterable[tuple[Row, float]], bounds: Sequence[Bounds]
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
