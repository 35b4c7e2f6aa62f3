"""The search: tier by tier, a bound from the totals, a placement that attains it, or a proof that none does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from cpsched.optimum.packing.best_fit import best_fit
from cpsched.optimum.packing.closing import close
from cpsched.optimum.packing.config_lp import SCALE, Listing, Master
from cpsched.optimum.packing.dive import dive
from cpsched.optimum.packing.pair_fill import pair_fill
from cpsched.optimum.packing.patterns import maximal_patterns
from cpsched.optimum.packing.perfect_fill import perfect_fill
from cpsched.optimum.packing.problem import Counts, Problem, is_feasible
from cpsched.optimum.packing.totals import Totals, areas

PAIR_FILLS = 2
"""Pair fills for one attempt; each takes about a tenth of a second at 16 nodes."""


WASTE = 500


@dataclass
class Result:
    """The best placement found and, per tier, the bound given that the tiers before it attain their values."""

    placement: Counts
    bounds: list[int] = field(default_factory=list)
    closed: int = 0
    """The first tiers whose value is proved."""


class Packing:
    """One search; `run` may be stopped at any time by `stop`."""

    def __init__(self, problem: Problem, stop: Callable[[], bool], seed: int = 1):
        """`stop` says that time is over."""
        self.problem, self.stop, self.seed = problem, stop, seed
        self.totals = Totals(problem)
        self.weights = areas(problem)
        self.best: Counts = np.zeros((len(problem.nodes), len(problem.rows)), dtype=np.int64)
        self.values = problem.values(self.best)
        self.listing: Listing | None = None
        self._listed = False
        self._tries = 0
        self.trace: list[str] = []

    def run(self) -> Result:
        """Close tier after tier as far as time allows."""
        result = Result(self.best)
        self._offer(
            best_fit(self.problem, [row.demand for row in self.problem.rows], self.seed, by_tier=True)[0], "fit"
        )
        self._attempt_all()
        for tier in range(self.problem.tiers):
            bound = self._tier(tier)
            result.bounds.append(bound)
            if bound != self.values[tier]:
                break
            result.closed += 1
        result.placement = self.best
        return result

    def _attempt_all(self) -> None:
        """All tiers at once: the totals that reach every bound, packed together."""
        values: list[int] = []
        for tier in range(self.problem.tiers):
            bound = self.totals.bound(tier, values)
            if bound is None:
                return
            values.append(bound)
        need = self.totals.cheapest(values, self.weights)
        if need is not None and self.values < tuple(values):
            self._place(need, 1)

    def _tier(self, tier: int) -> int:
        effort, known = 1, -1
        closed = list(self.values[:tier])
        while True:
            bound = self.totals.bound(tier, closed)
            assert bound is not None, "a placement reaches the tiers before"
            if bound <= self.values[tier]:
                return self.values[tier]
            if self.stop():
                return bound
            for target in dict.fromkeys((bound, self.values[tier] + 1)):
                if self.values[tier] >= target:
                    continue
                need = self.totals.cheapest([*closed, target], self.weights)
                if need is not None:
                    self._place(self._extended(need, tier, [*closed, target]), effort)
            if self.values[tier] >= bound:
                return bound
            if self.stop():
                return bound
            if self._has_listing():
                if known != bound:
                    known = bound
                    self._lp_cut(tier, closed)
                    if (self.totals.bound(tier, closed) or 0) < bound:
                        continue
                self._settle([*closed, bound], effort)
            else:
                self._has_closed([*closed, bound], effort)
            effort = min(2 * effort, 64)

    def _has_closed(self, values: list[int], effort: int) -> None:
        """Ask tight patterns for a placement of these values; if there is none, the totals learn it."""
        placement, decided = close(self.totals, values, 0.5 * effort)
        if placement is not None:
            self._offer(self._filled(placement), "close")
        elif decided:
            self.totals.ceilings[len(values) - 1] = values[-1] - 1

    def _extended(self, need: list[int], tier: int, values: list[int]) -> list[int]:
        """Totals that also ask for as much as possible of the tiers below, cut by cut; they may ask too much."""
        return need

    def _place(self, need: list[int], effort: int) -> bool:
        """Whether a placement of these totals was found; the best found on the way is kept."""
        for _ in range(effort):
            if self.stop():
                return False
            self._tries += 1
            placement, missing = best_fit(self.problem, need, self.seed + 1000 * self._tries)
            self._offer(self._filled(placement), "fit")
            if not missing:
                return True
            if self._has_listing():
                assert self.listing is not None
                found = dive(self.listing, need, self._master, self.seed + self._tries)
                name = "dive"
            else:
                found, name = self._pair_filled(need), "pair"
                if found is None and self._is_tight(need):
                    found, name = self._perfectly_filled(need), "perfect"
            if found is not None:
                self._offer(self._filled(found), name)
                return True
        return False

    def _pair_filled(self, need: list[int]) -> Counts | None:
        for number in range(PAIR_FILLS):
            found = pair_fill(self.problem, need, self.seed + PAIR_FILLS * self._tries + number)
            if found is not None or self.stop():
                return found
        return None

    def _perfectly_filled(self, need: list[int]) -> Counts | None:
        return perfect_fill(self.problem, need, self.seed + self._tries, self.stop)

    def _is_tight(self, need: list[int]) -> bool:
        """Whether so little may be left that pair fill, which wastes about a thousandth of a node, rarely succeeds."""
        whole = self.problem.capacities.sum(axis=0)
        return bool((WASTE * (whole - np.array(need) @ self.problem.sizes) < whole).any())

    def _settle(self, values: list[int], effort: int) -> None:
        """Totals that reach the values, one after the other: placed, cut off by prices, or left open."""
        assert self.listing is not None
        for number in range(4 * effort):
            if self.stop():
                return
            need = self.totals.cheapest(values, self._varied(number), exact=True)
            if need is None:
                return
            if self._cut_off(need):
                continue
            if self._place(need, 1):
                return
            return

    def _cut_off(self, need: list[int]) -> bool:
        """Whether the LP's prices show that the totals cannot be placed; the cut is kept."""
        shortage, prices, _ = self._master.solve(need, [one.count for one in self.problem.classes])
        if shortage <= 1e-6 or shortage == float("inf"):
            return False
        return self._keep_cut(prices, need)

    def _keep_cut(self, prices: list[float], need: list[int]) -> bool:
        assert self.listing is not None
        largest = max(prices, default=0.0)
        if largest <= 0:
            return False
        whole = [round(SCALE * price / largest) for price in prices]
        cut = self.listing.cut(whole)
        self.totals.cuts.append(cut)
        return sum(price * count for price, count in zip(whole, need, strict=True)) > cut.most

    def _lp_cut(self, tier: int, closed: list[int]) -> None:
        need = self.totals.cheapest([*closed, (self.totals.bound(tier, closed) or 0)], self.weights)
        if need is not None:
            self._cut_off(need)

    def _varied(self, number: int) -> list[int]:
        draw = np.random.default_rng(self.seed + number)
        return [max(1, int(weight * (1 + 0.2 * number * float(draw.random())))) for weight in self.weights]

    def _filled(self, placement: Counts) -> Counts:
        """The placement with whatever else fits, most important tier first."""
        problem, filled = self.problem, placement.copy()
        free = problem.capacities - filled @ problem.sizes
        left = problem.demand - filled.sum(axis=0)
        for row in sorted(range(len(problem.rows)), key=lambda index: (problem.rows[index].tier, self.weights[index])):
            for node in range(len(problem.nodes)):
                size = problem.sizes[row]
                while left[row] > 0 and filled[node, row] < problem.most[node, row] and (free[node] >= size).all():
                    filled[node, row] += 1
                    left[row] -= 1
                    free[node] = free[node] - size
        return filled

    def _offer(self, placement: Counts, origin: str) -> None:
        values = self.problem.values(placement)
        if values > self.values and is_feasible(self.problem, placement):
            self.best, self.values = placement, values
            self.trace.append(f"{origin} {values}")

    def _has_listing(self) -> bool:
        if not self._listed:
            self._listed = True
            patterns = []
            for one in self.problem.classes:
                listed = maximal_patterns(self.problem, one)
                if listed is None:
                    return False
                patterns.append(listed)
            self.listing = Listing(self.problem, patterns)
            self._master = Master(self.listing, [float(weight) for weight in self.weights])
        return self.listing is not None
