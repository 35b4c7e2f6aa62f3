"""The configuration LP over listed patterns: fractional nodes, whole patterns. It finds prices, never proofs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ortools.linear_solver import pywraplp

from cpsched.optimum.packing.problem import Counts, Problem
from cpsched.optimum.packing.totals import Cut

SCALE = 10**6
"""Prices are rounded to millionths before they are used; a cut holds for any whole prices."""
ROUNDS = 60
PER_ROUND = 60


@dataclass
class Listing:
    """All maximal patterns of every node class."""

    problem: Problem
    patterns: list[Counts]

    def cut(self, prices: Sequence[int]) -> Cut:
        """What all nodes can earn at these prices; exact, because every product is a whole number below 2^63."""
        vector = np.array(prices, dtype=np.int64)
        most = sum(
            int((patterns @ vector).max(initial=0)) * one.count
            for patterns, one in zip(self.patterns, self.problem.classes, strict=True)
        )
        return Cut(tuple(int(price) for price in prices), most)


@dataclass
class Master:
    """Patterns used (fractional) that cover given totals with the least weighted shortage."""

    listing: Listing
    weights: Sequence[float]
    columns: list[tuple[int, int]] = field(default_factory=list)
    """(class, pattern number), in the order of the LP's variables."""

    def solve(self, need: Sequence[int], nodes: Sequence[int]) -> tuple[float, list[float], list[float]]:
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
            if solver.Solve() != pywraplp.Solver.OPTIMAL:
                return float("inf"), [0.0] * len(need), []
            prices = [max(0.0, cover.dual_value()) for cover in covers]
            rent = [room_.dual_value() for room_ in room]
            fresh = []
            vector = np.array(prices)
            for kind, patterns in enumerate(listing.patterns):
                if not nodes[kind] or not len(patterns):
                    continue
                gain = patterns @ vector + rent[kind]
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
            solver.Solve()
        values = [variable.solution_value() for variable in used]
        return objective.Value(), prices, values

    def _column(self, solver: Any, covers: list[Any], room: list[Any], kind: int, number: int) -> Any:
        variable = solver.NumVar(0.0, solver.infinity(), "")
        room[kind].SetCoefficient(variable, 1.0)
        pattern = self.listing.patterns[kind][number]
        for row in np.flatnonzero(pattern):
            covers[row].SetCoefficient(variable, float(pattern[row]))
        return variable


def _spread(patterns: Counts, gain: NDArray[np.float64]) -> list[int]:
    """The columns of largest gain that bring rows which others brought fewer than three times."""
    order = np.argsort(-gain, kind="stable")[: 20 * PER_ROUND]
    brought = np.zeros(patterns.shape[1], dtype=np.int64)
    chosen: list[int] = []
    for number in order:
        if gain[number] <= 1e-7 or len(chosen) >= PER_ROUND:
            break
        some = patterns[number] > 0
        if not chosen or (brought[some] < 3).any():
            brought[some] += 1
            chosen.append(int(number))
    return chosen
