"""Exact fill: one node after the other is filled to the last unit; all that may be left is kept for the last nodes."""

from __future__ import annotations

from math import lgamma, log, pi

import numpy as np
from numpy.typing import NDArray

from cpsched.optimum.packing.allowance import ELEMENT, Allowance
from cpsched.optimum.packing.problem import Counts, Problem

TRIES = 24
"""Random beginnings of a node, each completed by any four items that leave nothing."""
MOST_PAIRS = 20_000


class ExactFill:
    """What is still to be placed, and nodes filled with it."""

    def __init__(self, problem: Problem, need: Counts, draw: np.random.Generator, allowance: Allowance):
        self.problem, self.need, self._draw, self._effort = problem, need.copy(), draw, allowance
        resources = problem.sizes.shape[1]
        self._weights = np.random.default_rng(11).integers(1, 1 << 60, size=resources)
        self._largest_first = np.log(
            np.maximum(1e-12, (problem.sizes / np.maximum(1, problem.capacities.max(0))).sum(1))
        )

    def fill(self, node: int, slack: Counts) -> Counts | None:
        """Counts that leave nothing of the node, or one unit of a resource of which there is slack; None: not found."""
        rows = np.flatnonzero(np.minimum(self.need, self.problem.most[node]))
        size = self.problem.sizes[rows]
        limit = np.minimum(self.need, self.problem.most[node])[rows]
        first, second = np.triu_indices(len(rows))
        able = (first != second) | (limit[first] > 1)
        first, second = first[able], second[able]
        if not len(first):
            return None
        if len(first) > MOST_PAIRS:
            some = np.sort(self._draw.permutation(len(first))[:MOST_PAIRS])
            first, second = first[some], second[some]
        both = size[first] + size[second]
        codes = both @ self._weights
        order = np.argsort(codes)
        for waste in self._wastes(slack):
            for _ in range(TRIES if not waste.any() else TRIES // 4):
                counts, free = self._begun(self.problem.capacities[node] - waste, rows, size, limit)
                self._effort.spend(60 * ELEMENT * len(codes))
                wanted = int(free @ self._weights) - codes
                at = np.minimum(np.searchsorted(codes, wanted, sorter=order), len(codes) - 1)
                for one in np.flatnonzero(codes[order[at]] == wanted):
                    other = order[at[one]]
                    found = counts + np.bincount(
                        [first[one], second[one], first[other], second[other]], minlength=len(rows)
                    )
                    if (found <= limit).all() and (found @ size + waste == self.problem.capacities[node]).all():
                        filled = np.zeros_like(self.need)
                        filled[rows] = found
                        return filled
        return None

    def _wastes(self, slack: Counts) -> list[Counts]:
        unit = np.eye(len(slack), dtype=np.int64)
        return [np.zeros_like(slack), *(unit[d] for d in np.flatnonzero(slack))]

    def _begun(self, free: Counts, rows: NDArray[np.int64], size: Counts, limit: Counts) -> tuple[Counts, Counts]:
        """Random items, large ones preferred, while five more of mean size would fit."""
        counts = np.zeros(len(rows), dtype=np.int64)
        mean = (self.need[rows] @ size) / max(1, int(self.need[rows].sum()))
        while True:
            fits = (counts < limit) & (size <= free).all(axis=1)
            if not fits.any() or (free < 4.7 * mean).any():
                return counts, free
            weight = (
                self._largest_first[rows] + np.log(np.maximum(1, self.need[rows])) + self._draw.gumbel(size=len(rows))
            )
            row = int(np.argmax(np.where(fits, weight, -np.inf)))
            counts[row] += 1
            free = free - size[row]


def log_packings(problem: Problem, need: Counts, nodes: int, slack: Counts) -> float:
    """A guess of the logarithm of the number of ways to pack the items on equal nodes; it only says what to try.

    Items are dealt out at random, and the sums of all nodes but the last have to leave a share of the slack each.
    """
    count = int(need.sum())
    if nodes < 1 or not count:
        return 0.0
    mean = need @ problem.sizes / count
    spread = (need @ (problem.sizes - mean) ** 2) / count * count / nodes
    ways = lgamma(count + 1) - nodes * lgamma(count / nodes + 1) - lgamma(nodes + 1)
    ways -= sum(lgamma(amount + 1) for amount in need.tolist() if amount > 1)
    for variance, left in zip(spread.tolist(), slack.tolist(), strict=True):
        if variance > 0:
            ways -= (nodes - 1) * 0.5 * log(2 * pi * variance)
            ways += lgamma(left + nodes) - lgamma(left + 1) - lgamma(nodes)
    return ways
