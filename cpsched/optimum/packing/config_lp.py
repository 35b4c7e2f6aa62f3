"""The configuration LP over listed patterns: fractional nodes, whole patterns. It finds prices, never proofs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ortools.linear_solver import pywraplp

from cpsched.optimum.packing.allowance import Allowance
from cpsched.optimum.packing.problem import Problem
from cpsched.optimum.packing.totals import Cut

SCALE = 10**6
"""Prices are rounded to millionths before they are used; a cut holds for any whole prices."""
ROUNDS = 60
PER_ROUND = 60
ITERATION = 5e-7
"""Seconds of work of the simplex algorithm for one row in one iteration."""


@dataclass
class Listing:
    """All maximal patterns of every node class."""

    problem: Problem
    patterns: list[NDArray[np.int16]]

    @cached_property
    def _items(self) -> list[NDArray[np.intp]]:
        """Per class the rows of a pattern's items, one array per item; rows without end are one past the last row."""
        return [_listed_items(patterns) for patterns in self.patterns]

    def earned(self, kind: int, prices: NDArray[Any]) -> NDArray[Any]:
        """What each pattern of a class earns at prices per row; exact for whole prices."""
        padded = np.append(prices, prices.dtype.type(0))
        total = np.zeros(len(self.patterns[kind]), dtype=prices.dtype)
        for rows in self._items[kind]:
            total += padded[rows]
        return total

    def cut(self, prices: Sequence[int]) -> Cut:
        """What all nodes can earn at these prices; exact, because every product is a whole number below 2^63."""
        vector = np.array(prices, dtype=np.int64)
        most = sum(
            int(self.earned(kind, vector).max(initial=0)) * one.count for kind, one in enumerate(self.problem.classes)
        )
        return Cut(tuple(int(price) for price in prices), most)


@dataclass
class Master:
    """Patterns used (fractional) that cover given totals with the least weighted shortage."""

    listing: Listing
    weights: Sequence[float]
    columns: list[tuple[int, int]] = field(default_factory=list)
    """(class, pattern number), in the order of the LP's variables."""

    def solve(
        self, need: Sequence[int], nodes: Sequence[int], allowance: Allowance
    ) -> tuple[float, list[float], list[float]]:
        """(shortage, prices per row, use of each column) at the optimum of the LP, columns generated as needed."""
        listing = self.listing
        solver = pywraplp.Solver.CreateSolver("GLOP")
        objective = solver.Objective()
        objective.SetMinimization()
        covers = []
        for row, wanted in enumerate(need):
            cover = solver.Constraint(float(wanted), solver.infinity())
            short = solver.NumVar(0.0, float(wanted), "")
            cover.SetCoefficient(short, 1.0)
            objective.SetCoefficient(short, float(self.weights[row]))
            covers.append(cover)
        room = [solver.Constraint(0.0, float(count)) for count in nodes]
        used = []
        for kind, number in self.columns:
            used.append(self._column(solver, covers, room, kind, number))
        known = set(self.columns)
        prices: list[float] = []
        for _ in range(ROUNDS):
            if not solved(solver, allowance):
                return float("inf"), [0.0] * len(need), []
            prices = [max(0.0, cover.dual_value()) for cover in covers]
            rent = [room_.dual_value() for room_ in room]
            fresh = []
            vector = np.array(prices)
            for kind, patterns in enumerate(listing.patterns):
                if not nodes[kind] or not len(patterns):
                    continue
                allowance.over(len(patterns), 20)
                gain = listing.earned(kind, vector) + rent[kind]
                if gain.max() <= 1e-7:
                    continue
                fresh += [(kind, int(n)) for n in _spread(patterns, gain) if (kind, int(n)) not in known]
            if not fresh:
                break
            values = [variable.solution_value() for variable in used]
            for kind, number in fresh:
                known.add((kind, number))
                self.columns.append((kind, number))
                used.append(self._column(solver, covers, room, kind, number))
        else:
            if not solved(solver, allowance):
                return float("inf"), [0.0] * len(need), []
        values = [variable.solution_value() for variable in used]
        return objective.Value(), prices, values

    def _column(self, solver: Any, covers: list[Any], room: list[Any], kind: int, number: int) -> Any:
        variable = solver.NumVar(0.0, solver.infinity(), "")
        room[kind].SetCoefficient(variable, 1.0)
        pattern = self.listing.patterns[kind][number]
        for row in np.flatnonzero(pattern):
            covers[row].SetCoefficient(variable, float(pattern[row]))
        return variable


def solved(solver: Any, allowance: Allowance) -> bool:
    """Whether the LP has an optimum; OutOfTimeError if it does not end within the allowance."""
    allowance.spend()
    if allowance.is_wall_time and allowance.left < 1e6:
        solver.SetTimeLimit(1 + int(1000 * allowance.left))
    status = solver.Solve()
    allowance.spend(ITERATION * (1 + solver.iterations()) * (1 + solver.NumConstraints() + solver.NumVariables() // 8))
    return bool(status == pywraplp.Solver.OPTIMAL)


def _listed_items(patterns: NDArray[np.int16]) -> NDArray[np.intp]:
    held = patterns.sum(axis=1)
    pattern, row = np.nonzero(patterns)
    copies = patterns[pattern, row]
    pattern, row = np.repeat(pattern, copies), np.repeat(row, copies)
    items = np.full((int(held.max(initial=0)), len(patterns)), patterns.shape[1], dtype=np.intp)
    items[np.arange(len(pattern)) - np.repeat(np.cumsum(held) - held, held), pattern] = row
    return items


def _spread(patterns: NDArray[np.int16], gain: NDArray[np.float64]) -> list[int]:
    """The columns of largest gain that bring rows which others brought fewer than three times."""
    some = np.flatnonzero(gain > 1e-7)
    if len(some) > 20 * PER_ROUND:
        some = np.sort(some[np.argpartition(-gain[some], 20 * PER_ROUND)[: 20 * PER_ROUND]])
    order = some[np.argsort(-gain[some], kind="stable")]
    brought = np.zeros(patterns.shape[1], dtype=np.int64)
    chosen: list[int] = []
    for number in order:
        if len(chosen) >= PER_ROUND:
            break
        rows = np.flatnonzero(patterns[number])
        if not chosen or (brought[rows] < 3).any():
            brought[rows] += 1
            chosen.append(int(number))
    return chosen
