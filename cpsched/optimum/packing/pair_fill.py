"""Pair fill: nodes are filled one by one, the last two items of each chosen so that the least capacity is left."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cpsched.optimum.packing.allowance import Allowance
from cpsched.optimum.packing.problem import Counts, Problem
from cpsched.optimum.packing.tail import pack_tail

TRIES = 48
"""Fillings of a node of which the best is kept."""
TAILS = (3, 4, 3, 5)


def pair_fill(problem: Problem, totals: Sequence[int], seed: int, allowance: Allowance) -> Counts | None:
    """A placement of all of the totals, or None if this run does not end in one."""
    draw = np.random.default_rng(seed)
    need = np.asarray(totals, dtype=np.int64).copy()
    placement = np.zeros((len(problem.nodes), len(problem.rows)), dtype=np.int64)
    scale = 1.0 / np.maximum(1, problem.capacities.max(axis=0, initial=1))
    asked = need @ problem.sizes
    slack = np.maximum(1.0, (problem.capacities.sum(axis=0) - asked).astype(float))
    if (problem.capacities.sum(axis=0) < asked).any():
        return None
    order = list(np.argsort(-(problem.capacities * scale).sum(axis=1), kind="stable"))
    tail = min(TAILS[seed % len(TAILS)], len(order))
    for node in order[: len(order) - tail]:
        if not need.any():
            return placement
        counts = _filled(problem, int(node), need, slack, scale, draw, allowance)
        placement[node] = counts
        need -= counts
    rest = [int(node) for node in order[len(order) - tail :]]
    found = pack_tail(problem, rest, need.tolist(), problem.capacities[rest], allowance)
    if found is None:
        return None
    placement[rest] = found
    return placement


def _filled(
    problem: Problem,
    node: int,
    need: Counts,
    slack: NDArray[np.float64],
    scale: NDArray[np.float64],
    draw: np.random.Generator,
    allowance: Allowance,
) -> Counts:
    """The best of TRIES fillings: random items, large ones preferred, while two of mean size would fit; then pairs.

    All tries are filled in one array pass.
    """
    rows = np.flatnonzero(need)
    size, most = problem.sizes[rows], np.minimum(problem.most[node], need)[rows]
    relative = np.log(np.maximum(1e-12, (size * scale).sum(axis=1)))
    mean = need[rows] @ size / max(1, int(need.sum()))
    counts = np.zeros((TRIES, len(rows)), dtype=np.int64)
    free = np.repeat(problem.capacities[node][None, :], TRIES, axis=0)
    lanes, begun = np.arange(TRIES), np.zeros(TRIES, dtype=bool)
    while True:
        fits = (counts < most) & (size[None, :, :] <= free[:, None, :]).all(axis=2)
        going = fits.any(axis=1) & ((free >= 2.2 * mean).all(axis=1) | ~begun)
        if not going.any():
            break
        weight = relative + np.log(np.maximum(1, need[rows] - counts)) + draw.gumbel(size=counts.shape)
        weight[::2] = np.where(begun[::2, None], weight[::2], 1e6 * relative)
        row = np.argmax(np.where(fits, weight, -np.inf), axis=1)
        counts[lanes[going], row[going]] += 1
        free[going] -= size[row[going]]
        begun |= True
    counts, free = _closed(counts, free, size, most, slack, allowance)
    best = int(np.argmin((free / slack).sum(axis=1)))
    filled = np.zeros(len(need), dtype=np.int64)
    filled[rows] = counts[best]
    return filled


def _closed(
    counts: Counts, free: Counts, size: Counts, most: Counts, slack: NDArray[np.float64], allowance: Allowance
) -> tuple[Counts, Counts]:
    """Add the two items (or the one) that leave least, against the slack of the cluster, until nothing fits."""
    lanes = np.arange(len(counts))
    cost = (size / slack).sum(axis=1)
    same = np.eye(len(size), dtype=bool)
    while True:
        able = (counts < most) & (size[None, :, :] <= free[:, None, :]).all(axis=2)
        going = able.any(axis=1)
        if not going.any():
            return counts, free
        allowance.over(counts.shape[0] * size.size * len(size), 2)
        pairs = (size[None, :, None, :] + size[None, None, :, :] <= free[:, None, None, :]).all(axis=3)
        pairs &= able[:, :, None] & able[:, None, :]
        pairs &= ~(same[None, :, :] & ((most - counts) < 2)[:, :, None])
        gain = np.where(pairs, cost[:, None] + cost[None, :], -1.0).reshape(len(counts), -1)
        best = np.argmax(gain, axis=1)
        two = gain[lanes, best] > 0
        first, second = best // len(size), best % len(size)
        alone = np.argmax(np.where(able, cost, -1.0), axis=1)
        for chosen, row in ((two & going, first), (two & going, second), (~two & going, alone)):
            counts[lanes[chosen], row[chosen]] += 1
            free[chosen] -= size[row[chosen]]
