"""Patterns: what one node of a class can hold. All maximal ones, listed, where they are few enough."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cpsched.optimum.packing.allowance import Allowance
from cpsched.optimum.packing.problem import Counts, NodeClass, Problem

MOST_PATTERNS = 1_000_000
"""Partial patterns kept while listing; beyond it a class is not listed. 32 nodes × 4 pods have 60,000 to 350,000 that
are maximal."""
FEW_PATTERNS = 100_000
"""The same where nodes hold many items, so that there are far more in the end."""


def maximal_patterns(
    problem: Problem, one: NodeClass, allowance: Allowance, most_patterns: int = MOST_PATTERNS
) -> NDArray[np.int16] | None:
    """Every pattern (counts per row) of the class to which no item can be added; None if there are too many.

    Rows are taken in the order of their size, largest first, so that partial patterns stay few. A placement may use any
    subset of a maximal pattern, so "the patterns cover the totals" is all that listing them may be used for.
    """
    rows = [index for index, most in enumerate(one.most) if most and problem.rows[index].demand]
    capacity = np.array(one.capacity, dtype=np.int64)
    share = problem.sizes / np.maximum(1, capacity)
    rows.sort(key=lambda index: (-float(share[index].max()), -float(share[index].sum()), index))
    limit = {index: min(one.most[index], problem.rows[index].demand) for index in rows}
    counts: NDArray[np.int16] = np.zeros((1, len(problem.rows)), dtype=np.int16)
    free = capacity[None, :].copy()
    for index in rows:
        size = problem.sizes[index]
        some = size > 0
        allowance.over(counts.size + 4 * free.size)
        fit = np.full(len(free), limit[index], dtype=np.int64)
        if some.any():
            fit = np.minimum(fit, (free[:, some] // size[some]).min(axis=1))
        if int(fit.sum()) + len(fit) > 4 * most_patterns:
            return None
        origin = np.repeat(np.arange(len(free)), fit + 1)
        copies = np.arange(len(origin)) - np.repeat(np.cumsum(fit + 1) - (fit + 1), fit + 1)
        counts = counts[origin]
        counts[:, index] = copies
        free = free[origin] - copies[:, None] * size
        if len(free) > most_patterns:
            keep = _may_become_maximal(problem, rows, limit, index, counts, free, allowance)
            counts, free = counts[keep], free[keep]
            if len(free) > most_patterns:
                return None
    keep = np.ones(len(free), dtype=bool)
    for index in rows:
        allowance.over(free.size)
        keep &= ~((free >= problem.sizes[index]).all(axis=1) & (counts[:, index] < limit[index]))
    return counts[keep]


def _may_become_maximal(
    problem: Problem,
    rows: list[int],
    limit: dict[int, int],
    done: int,
    counts: NDArray[np.int16],
    free: Counts,
    allowance: Allowance,
) -> NDArray[np.bool_]:
    """Partial patterns that can still become maximal: whatever the rows to come take, no item of a row that is done
    may fit in the end. What is left after all rows to come took all that fits is at least free minus all they ask for.
    """
    position = rows.index(done)
    to_come = sum((problem.sizes[index] * limit[index] for index in rows[position + 1 :]), np.zeros_like(free[0]))
    least_left = np.maximum(0, free - to_come)
    keep = np.ones(len(free), dtype=bool)
    for index in rows[: position + 1]:
        allowance.over(free.size)
        keep &= ~((least_left >= problem.sizes[index]).all(axis=1) & (counts[:, index] < limit[index]))
    return keep
