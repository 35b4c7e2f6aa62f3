"""The totals model: how many items of each row are placed, under all cuts, without nodes: a relaxation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from ortools.sat.python import cp_model

from cpsched.optimum.packing.allowance import Allowance
from cpsched.optimum.packing.problem import Problem
from cpsched.optimum.packing.small_models import solve
from cpsched.optimum.packing.subset_sums import usable

BOUND_WORK, FIND_WORK = 2.0, 0.5
"""Deterministic seconds for a bound and for totals to try; ten to thirty milliseconds are the rule."""


@dataclass(frozen=True)
class Cut:
    """Prices per row and the most that all nodes together can earn: every placement keeps Σ price · total ≤ most."""

    prices: tuple[int, ...]
    most: int


@dataclass
class Totals:
    """Bounds per tier and totals to try, from cuts and ceilings."""

    problem: Problem
    cuts: list[Cut] = field(default_factory=list)

    ceilings: dict[int, int] = field(default_factory=dict)
    """Most items of a tier, given that the tiers before it have their proved values."""

    def __post_init__(self) -> None:
        """Counting: the items placed take no more of a resource than subsets of them can take on each node."""
        for resource in range(self.problem.sizes.shape[1]):
            most = sum(usable(self.problem, one, resource) * one.count for one in self.problem.classes)
            self.cuts.append(Cut(tuple(row.size[resource] for row in self.problem.rows), most))

    def bound(self, tier: int, reached: Sequence[int], allowance: Allowance) -> int | None:
        """The most of this tier that a placement with these values of earlier tiers can have; None: there is none."""
        model, totals = self._model(reached[:tier])
        model.maximize(self._reached(tier, totals))
        found, status = solve(model, BOUND_WORK, allowance)
        if status == cp_model.INFEASIBLE:
            return None
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return min(self.problem.most_of(tier), self.ceilings.get(tier, 1 << 62))
        return math.floor(found.best_objective_bound + 1e-6)

    def least(self, weights: Sequence[int], values: Sequence[int], allowance: Allowance) -> int | None:
        """A lower bound on the weighted sum of totals that reach these values; None: no totals do."""
        model, totals = self._model(values)
        model.minimize(sum(weight * total for weight, total in zip(weights, totals, strict=True)))
        found, status = solve(model, BOUND_WORK, allowance)
        if status == cp_model.INFEASIBLE:
            return None
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return 0
        return max(0, math.ceil(found.best_objective_bound - 1e-6))

    def cheapest(
        self, values: Sequence[int], weights: Sequence[int], allowance: Allowance, *, exact: bool = False
    ) -> list[int] | None:
        """Totals with at least these values per tier that take the least weighted area; None: there are none."""
        model, totals = self._model(values)
        model.minimize(sum(weight * total for weight, total in zip(weights, totals, strict=True)))
        found, status = solve(model, BOUND_WORK if exact else FIND_WORK, allowance)
        return [found.value(total) for total in totals] if status in (cp_model.OPTIMAL, cp_model.FEASIBLE) else None

    def _reached(self, tier: int, totals: list[cp_model.IntVar]) -> cp_model.LinearExpr:
        worth = self.problem.worth[tier].tolist()
        return cp_model.LinearExpr.weighted_sum(totals, worth)

    def _model(self, reached: Sequence[int]) -> tuple[cp_model.CpModel, list[cp_model.IntVar]]:
        model, rows = cp_model.CpModel(), self.problem.rows
        most = [sum(one.most[index] * one.count for one in self.problem.classes) for index in range(len(rows))]
        totals = [model.new_int_var(0, min(row.demand, most[i]), f"y{i}") for i, row in enumerate(rows)]
        for first, second in self.problem.pairs:
            model.add(totals[first] + totals[second] <= rows[first].demand)
        for tier, ceiling in self.ceilings.items():
            if tier <= len(reached):
                model.add(self._reached(tier, totals) <= ceiling)
        for tier, value in enumerate(reached):
            model.add(self._reached(tier, totals) >= value)
        for cut in self.cuts:
            model.add(sum(price * y for price, y in zip(cut.prices, totals, strict=True) if price) <= cut.most)
        return model, totals


def areas(problem: Problem) -> list[int]:
    """The sum of a row's sizes, each as a share of the whole cluster, in millionths."""
    total = np.maximum(1, (problem.capacities.sum(axis=0))).astype(float)
    return [1 + int(value) for value in (problem.sizes / total).sum(axis=1) * 1e6]
