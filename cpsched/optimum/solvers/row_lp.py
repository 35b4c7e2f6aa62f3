"""The LP relaxation of named rows, and the multipliers that show its optimum or that there is no point at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ortools.linear_solver import pywraplp

from cpsched.optimum.params import LP_EFFORT

Pair = tuple[Mapping[str, int], int]
"""Σ coefficient · variable ≥ least."""


class LpAnswer(NamedTuple):
    """A bound in floats, the multiplier of every row that has one, and a point that attains the bound."""

    value: float
    multipliers: list[tuple[int, float]]
    point: dict[str, float]
    feasible: bool = True
    """If not, the multipliers show that no point satisfies all rows."""


class RowLp:
    """A linear program over named variables, to which rows are added."""

    def __init__(self, limits: Mapping[str, tuple[int, int]], rows: Iterable[Pair], effort: float = LP_EFFORT):
        solver: Any = pywraplp.Solver.CreateSolver("GLOP")
        solver.SetSolverSpecificParametersAsString(f"max_deterministic_time: {effort} use_preprocessing: false")
        self._solver = solver
        self._infinity = solver.infinity()
        self._excess = solver.NumVar(0, 0, "")
        """How far all rows together may be missed, for the question whether they can be satisfied."""
        self._variables = {name: solver.NumVar(low, high, "") for name, (low, high) in limits.items()}
        self._rows: list[tuple[Any, float]] = []
        for terms, least in rows:
            self.add(terms, least)

    def add(self, terms: Mapping[str, int], least: int) -> None:
        """One more row; it is divided by its largest coefficient for the solver."""
        scale = float(max(map(abs, terms.values()), default=1))
        stated = self._solver.Constraint(least / scale, self._infinity)
        for name, coefficient in terms.items():
            stated.SetCoefficient(self._variables[name], coefficient / scale)
        stated.SetCoefficient(self._excess, 1.0)
        self._rows.append((stated, scale))

    def minimise(self, terms: Mapping[str, int]) -> LpAnswer | None:
        """The least of a sum; None if the solver could not tell."""
        goal = self._goal()
        scale = float(max(map(abs, terms.values()), default=1))
        for name, coefficient in terms.items():
            goal.SetCoefficient(self._variables[name], coefficient / scale)
        status = self._solver.Solve()
        if status == pywraplp.Solver.OPTIMAL:
            return self._answer(scale, feasible=True)
        if status in (pywraplp.Solver.INFEASIBLE, pywraplp.Solver.ABNORMAL):
            return self._least_excess()
        return None

    def _least_excess(self) -> LpAnswer | None:
        goal = self._goal()
        self._excess.SetBounds(0, self._infinity)
        goal.SetCoefficient(self._excess, 1.0)
        status = self._solver.Solve()
        found = self._answer(1.0, feasible=False) if status == pywraplp.Solver.OPTIMAL else None
        self._excess.SetBounds(0, 0)
        return found

    def _goal(self) -> Any:
        goal = self._solver.Objective()
        goal.Clear()
        goal.SetMinimization()
        return goal

    def _answer(self, scale: float, *, feasible: bool) -> LpAnswer:
        duals = [(number, stated.dual_value() * scale / own) for number, (stated, own) in enumerate(self._rows)]
        point = {name: x.solution_value() for name, x in self._variables.items()}
        value = self._solver.Objective().Value() * scale
        return LpAnswer(value, [(number, y) for number, y in duals if y > 0], point, feasible)
