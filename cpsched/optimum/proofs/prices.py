"""Column generation for proofs: prices of what places share, and the most that one place can earn at these prices.

Variables between places and, per block, patterns: whole points of one place. The LP over them is at least as strong as
the statement's own, because no pattern lies across places. Its prices are all that is kept: for whole prices, "no
place earns more than so much" is a claim about one place, which is proved by itself, once for all that are alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ortools.linear_solver import pywraplp
from ortools.sat.python import cp_model

from cpsched.optimum.params import PRICE_EFFORT, PRICE_ROUNDS
from cpsched.optimum.proofs.blocks import PlaceBlock
from cpsched.optimum.solvers.cp_sat import CpSat
from cpsched.proof.rows import ProofStatement

SCALE = 10**6
"""Prices are rounded to so many parts of the largest while patterns are looked for."""
Pattern = tuple[int, ...]


class BlockModel:
    """The whole points of one place of a block."""

    def __init__(self, statement: ProofStatement, block: PlaceBlock):
        self._model = cp_model.CpModel()
        limits = [statement.variables[name] for name in block.names]
        self._variables = [self._model.new_int_var(one.low, one.high, "") for one in limits]
        number = {name: n for n, name in enumerate(block.names)}
        for label in block.rows[0]:
            row = statement.rows[label]
            terms = [c * self._variables[number[name]] for name, c in row.terms.items()]
            self._model.add(sum(terms) >= row.least)

    def best(self, weights: list[int]) -> tuple[int, Pattern] | None:
        """The most that one place earns, and how; None if that is not found in the effort."""
        self._model.maximize(cp_model.LinearExpr.weighted_sum(self._variables, weights))
        one = CpSat(effort=PRICE_EFFORT)
        if one.solver.solve(self._model) != cp_model.OPTIMAL:
            return None
        pattern = tuple(one.solver.value(x) for x in self._variables)
        return sum(weight * count for weight, count in zip(weights, pattern, strict=True)), pattern


class PriceLp:
    """The LP over patterns; it begins with those of the decision."""

    def __init__(
        self, statement: ProofStatement, blocks: list[PlaceBlock], between: list[str], point: Mapping[str, int]
    ):
        solver: Any = pywraplp.Solver.CreateSolver("GLOP")
        self._solver, self.statement, self.blocks = solver, statement, blocks
        self.models = [BlockModel(statement, block) for block in blocks]
        goal = solver.Objective()
        goal.SetMinimization()
        rows = {label: float(statement.rows[label].least) for label in between}
        self._rows = {label: solver.Constraint(least, solver.infinity()) for label, least in rows.items()}
        for name, one in statement.variables.items():
            if one.place is None:
                x = solver.NumVar(one.low, one.high, "")
                for label in between:
                    if coefficient := statement.rows[label].terms.get(name, 0):
                        self._rows[label].SetCoefficient(x, float(coefficient))
                goal.SetCoefficient(x, float(statement.claim.terms.get(name, 0)))
        self._used = [solver.Constraint(float(len(b.variables)), float(len(b.variables))) for b in blocks]
        self._known: set[tuple[int, Pattern]] = set()
        for number, block in enumerate(blocks):
            for names in block.variables:
                self._add(number, tuple(point[name] for name in names))

    def _add(self, number: int, pattern: Pattern) -> bool:
        if (number, pattern) in self._known:
            return False
        self._known.add((number, pattern))
        block, claim = self.blocks[number], self.statement.claim.terms
        x = self._solver.NumVar(0.0, self._solver.infinity(), "")
        self._used[number].SetCoefficient(x, 1.0)
        column: dict[str, int] = {}
        cost = 0
        for name, count, rows in zip(block.names, pattern, block.columns, strict=True):
            cost += count * claim.get(name, 0)
            for label, coefficient in rows if count else ():
                column[label] = column.get(label, 0) + count * coefficient
        for label, coefficient in column.items():
            self._rows[label].SetCoefficient(x, float(coefficient))
        self._solver.Objective().SetCoefficient(x, float(cost))
        return True

    def prices(self, goes_on: Callable[[], bool]) -> list[list[float]] | None:
        """Per block what a unit of each variable earns, once no pattern earns more than its place costs."""
        for _ in range(PRICE_ROUNDS):
            if not goes_on() or self._solver.Solve() != pywraplp.Solver.OPTIMAL:
                return None
            worth = self._worth()
            if not self._improved(worth, goes_on):
                return worth
        return None

    @property
    def bound(self) -> float:
        """What the claim's sum is at least, by the LP."""
        return float(self._solver.Objective().Value())

    def _worth(self) -> list[list[float]]:
        paid = {label: row.dual_value() for label, row in self._rows.items()}
        claim = self.statement.claim.terms
        return [
            [
                sum(coefficient * paid[label] for label, coefficient in rows) - claim.get(name, 0)
                for name, rows in zip(block.names, block.columns, strict=True)
            ]
            for block in self.blocks
        ]

    def _improved(self, worth: list[list[float]], goes_on: Callable[[], bool]) -> bool:
        found, rent = False, [row.dual_value() for row in self._used]
        for number, weights in enumerate(worth):
            largest = max(map(abs, weights), default=0.0)
            if largest < 1e-9 or not goes_on():
                continue
            best = self.models[number].best([round(SCALE * weight / largest) for weight in weights])
            if best is None:
                continue
            earned = sum(weight * count for weight, count in zip(weights, best[1], strict=True))
            if earned + rent[number] > 1e-7 * max(1.0, largest):
                found = self._add(number, best[1]) or found
        return found
