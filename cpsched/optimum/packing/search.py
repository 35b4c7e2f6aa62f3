"""The search: tier by tier, a bound from the totals, a placement that attains it, or a proof that none does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from cpsched.optimum.packing.allowance import Allowance, OutOfTimeError
from cpsched.optimum.packing.best_fit import best_fit
from cpsched.optimum.packing.closing import close, close_listed
from cpsched.optimum.packing.config_lp import SCALE, Listing, Master
from cpsched.optimum.packing.dive import dive
from cpsched.optimum.packing.pair_fill import pair_fill
from cpsched.optimum.packing.patterns import FEW_PATTERNS, MOST_PATTERNS, maximal_patterns
from cpsched.optimum.packing.perfect_fill import perfect_fill
from cpsched.optimum.packing.problem import Counts, Problem, is_feasible
from cpsched.optimum.packing.totals import Totals, areas

PAIR_FILLS = 2
"""Pair fills for one attempt; each takes about a tenth of a second at 16 nodes."""
TIGHT = 500
"""Where less than this part of a resource may be left, perfect fill is tried too: pair fill leaves more behind."""


MANY = 6
"""Items per node from which pairs are tried before all patterns are listed."""


@dataclass
class Result:
    """The best placement found and, per tier, the bound given that the tiers before it attain their values."""

    placement: Counts
    bounds: list[int] = field(default_factory=list)
    closed: int = 0
    """The first tiers whose value is proved."""
    is_infeasible: bool = False
    """Whether it is proved that no placement reaches all known values."""


class Packing:
    """One search; `run` ends when the allowance is spent, with the best placement so far."""

    def __init__(
        self,
        problem: Problem,
        allowance: Allowance,
        seed: int = 1,
        *,
        known: Sequence[int] = (),
        start: Counts | None = None,
    ):
        """`known` are proved values that the first goals do not exceed, `start` a placement to begin with."""
        self.problem, self.allowance, self.seed, self.known = problem, allowance, seed, tuple(known)
        self.totals = Totals(problem, ceilings=dict(enumerate(known)))
        self.weights = areas(problem)
        self.best: Counts = np.zeros((len(problem.nodes), len(problem.rows)), dtype=np.int64)
        self.values = problem.values(self.best)
        self.listing: Listing | None = None
        self._listed = False
        self._tries = 0
        self._last_bound = 0
        if start is not None:
            self._offer(start)

    @property
    def may_reach_known(self) -> bool:
        """Whether totals with the known values keep all cuts."""
        return self.totals.least(self.weights, self.known, self.allowance) is not None

    def run(self) -> Result:
        """Close tier after tier as far as time allows."""
        result = Result(self.best)
        if self.problem.tiers:
            self._last_bound = self.problem.most_of(0)
        try:
            self._run(result)
        except OutOfTimeError:
            if len(result.bounds) == result.closed < self.problem.tiers:
                result.bounds.append(self._last_bound)
        result.placement = self.best
        return result

    def _run(self, result: Result) -> None:
        if len(self.known) == self.problem.tiers:
            self._reach_known(result)
            return
        if any(self.values[goal] < self.problem.most_of(goal) for goal in range(self.problem.tiers)):
            demand = self.problem.alone(self.problem.demand).tolist()
            self._offer(best_fit(self.problem, demand, self.seed, self.allowance, by_tier=True)[0])
            self._attempt_all()
        for tier in range(self.problem.tiers):
            self._last_bound = self.problem.most_of(tier)
            bound = self._tier(tier)
            result.bounds.append(bound)
            if bound != self.values[tier]:
                break
            result.closed += 1
            if tier < len(self.known) and bound < self.known[tier]:
                break

    def _reach_known(self, result: Result) -> None:
        """Find a placement that has all known values, or prove that there is none."""
        values, rounds = list(self.known), 1
        while self.values < self.known:
            if not self.may_reach_known:
                result.is_infeasible = True
                return
            if rounds == 1:
                self._attempt_all()
            need = self.totals.cheapest(values, self.weights, self.allowance, exact=True)
            if need is not None:
                self._place(need, rounds)
            if self.values < self.known and self._has_listing():
                self._settle(values, rounds)
            if self.values < self.known:
                self._close(values, rounds)
            rounds = min(2 * rounds, 64)
        result.closed, result.bounds = len(values), values

    def _attempt_all(self) -> None:
        """All tiers at once: the totals that reach every bound, packed together."""
        values: list[int] = []
        for tier in range(self.problem.tiers):
            bound = self.totals.bound(tier, values, self.allowance)
            if bound is None:
                return
            values.append(bound)
        need = self.totals.cheapest(values, self.weights, self.allowance)
        if need is not None and self.values < tuple(values):
            self._place(need, 1)

    def _tier(self, tier: int) -> int:
        rounds, known = 1, -1
        closed = list(self.values[:tier])
        while True:
            if self.values[tier] == self.problem.most_of(tier):
                return self.values[tier]
            bound = self.totals.bound(tier, closed, self.allowance)
            assert bound is not None, "a placement reaches the tiers before"
            self._last_bound = bound
            if bound <= self.values[tier]:
                return self.values[tier]
            for target in dict.fromkeys((bound, self.values[tier] + 1)):
                if self.values[tier] >= target:
                    continue
                need = self.totals.cheapest([*closed, target], self.weights, self.allowance)
                if need is not None:
                    self._place(need, rounds)
            if self.values[tier] >= bound:
                return bound
            if self._has_listing():
                if known != bound:
                    known = bound
                    self._lp_cut(bound, closed)
                    if (self.totals.bound(tier, closed, self.allowance) or 0) < bound:
                        continue
                self._settle([*closed, bound], rounds)
            if self.values[tier] < bound:
                self._close([*closed, bound], rounds)
            rounds = min(2 * rounds, 64)

    def _close(self, values: list[int], rounds: int) -> None:
        """Ask the patterns that can occur for a placement of these values; if there is none, the totals learn it."""
        if self.listing is not None:
            placement, decided = close_listed(self.totals, self.listing, values, 0.5 * rounds, self.allowance)
        else:
            placement, decided = close(self.totals, values, 0.5 * rounds, self.allowance)
        if placement is not None:
            self._offer(self._filled(placement))
        elif decided:
            self.totals.ceilings[len(values) - 1] = values[-1] - 1

    def _place(self, need: list[int], rounds: int) -> bool:
        """Whether a placement of these totals was found; the best found on the way is kept."""
        for _ in range(rounds):
            self._tries += 1
            placement, missing = best_fit(self.problem, need, self.seed + 1000 * self._tries, self.allowance)
            self._offer(self._filled(placement))
            if not missing:
                return True
            found = self._packed(need)
            if found is not None:
                self._offer(self._filled(found))
                return True
        return False

    def _packed(self, need: list[int]) -> Counts | None:
        """A placement by what suits the totals: with few items on a node a dive, with many pairs or perfect fill."""
        is_tight = self._is_tight(need)
        has_many = sum(need) > MANY * len(self.problem.nodes)
        if has_many and not is_tight and (found := self._pair_filled(need)) is not None:
            return found
        if self._has_listing():
            assert self.listing is not None
            return dive(self.listing, need, self._master, self.seed + self._tries, self.allowance)
        if (
            is_tight
            and (found := perfect_fill(self.problem, need, self.seed + self._tries, self.allowance)) is not None
        ):
            return found
        return None if has_many and not is_tight else self._pair_filled(need)

    def _pair_filled(self, need: list[int]) -> Counts | None:
        for number in range(PAIR_FILLS):
            found = pair_fill(self.problem, need, self.seed + PAIR_FILLS * self._tries + number, self.allowance)
            if found is not None:
                return found
        return None

    def _is_tight(self, need: list[int]) -> bool:
        """Whether so little may be left that pair fill, which wastes about a thousandth of a node, rarely succeeds."""
        whole = self.problem.capacities.sum(axis=0)
        return bool((TIGHT * (whole - np.array(need) @ self.problem.sizes) < whole).any())

    def _settle(self, values: list[int], rounds: int) -> None:
        """Totals that reach the values, one after the other: placed, cut off by prices, or left open."""
        assert self.listing is not None
        for number in range(4 * rounds):
            need = self.totals.cheapest(values, self._varied(number), self.allowance, exact=True)
            if need is None:
                return
            if self._cut_off(need):
                continue
            if self._place(need, 1):
                return
            return

    def _cut_off(self, need: list[int]) -> bool:
        """Whether the LP's prices show that the totals cannot be placed; the cut is kept."""
        shortage, prices, _ = self._master.solve(need, [one.count for one in self.problem.classes], self.allowance)
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

    def _lp_cut(self, bound: int, closed: list[int]) -> None:
        need = self.totals.cheapest([*closed, bound], self.weights, self.allowance)
        if need is not None:
            self._cut_off(need)

    def _varied(self, number: int) -> list[int]:
        draw = np.random.default_rng(self.seed + number)
        return [max(1, int(weight * (1 + 0.2 * number * float(draw.random())))) for weight in self.weights]

    def _filled(self, placement: Counts) -> Counts:
        """The placement with whatever else fits, most important tier first."""
        problem, filled = self.problem, placement.copy()
        free = problem.capacities - filled @ problem.sizes
        left = problem.left(filled)
        partner = dict(problem.pairs) | {second: first for first, second in problem.pairs}
        for row in sorted(range(len(problem.rows)), key=lambda index: (problem.rows[index].tier, self.weights[index])):
            for node in range(len(problem.nodes)):
                size = problem.sizes[row]
                while left[row] > 0 and filled[node, row] < problem.most[node, row] and (free[node] >= size).all():
                    filled[node, row] += 1
                    left[row] -= 1
                    if row in partner:
                        left[partner[row]] -= 1
                    free[node] = free[node] - size
        return filled

    def _offer(self, placement: Counts) -> None:
        values = self.problem.values(placement)
        if values > self.values and is_feasible(self.problem, placement):
            self.best, self.values = placement, values

    def _has_listing(self) -> bool:
        if not self._listed:
            self._listed = True
            patterns = []
            has_many = sum(row.demand for row in self.problem.rows) > MANY * len(self.problem.nodes)
            most = FEW_PATTERNS if has_many else MOST_PATTERNS
            for one in self.problem.classes:
                listed = maximal_patterns(self.problem, one, self.allowance, most)
                if listed is None:
                    return False
                patterns.append(listed)
                most -= len(listed)
            self.listing = Listing(self.problem, patterns)
            self._master = Master(self.listing, [float(weight) for weight in self.weights])
        return self.listing is not None
