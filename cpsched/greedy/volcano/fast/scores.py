"""Node-local scores in bulk; each equals its plain counterpart in `plugins/score_resources.py` or `fullness.py`.

`part` holds what `NodeArrays.part` says of the nodes that are asked about.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cpsched.greedy.volcano.fast.arrays import Ints, Layout
from cpsched.greedy.volcano.fast.asks import Asks


def least(part: Ints, layout: Layout, asks: Asks) -> Ints:
    """The emptier the better."""
    capacity = part[layout.kube_capacity][:2]
    free = capacity - (part[layout.nonzero] + asks.nonzero)
    parts = np.where(free < 0, 0, free * 100 // capacity)
    halves: Ints = (parts[0] + parts[1]) // 2
    return halves


def most(part: Ints, layout: Layout, asks: Asks) -> Ints:
    """The fuller the better."""
    capacity = part[layout.kube_capacity][:2]
    parts = np.minimum(part[layout.nonzero] + asks.nonzero, capacity) * 100 // capacity
    halves: Ints = (parts[0] + parts[1]) // 2
    return halves


def balanced(part: Ints, layout: Layout, asks: Asks) -> Ints:
    """75 plus half of what the task improves the balance by."""
    # Two resources, or three with a GPU asked for.
    count = len(asks.balanced)
    capacity, used = part[layout.kube_capacity][:count], part[layout.requested][:count]
    divisor = np.maximum(capacity, 1)
    has_gpu = capacity[2] > 0 if count == 3 else None
    fractions = np.empty((count, 2, used.shape[1]), dtype=np.float64)
    np.divide(used, divisor, out=fractions[:, 0])
    np.divide(used + asks.balanced, divisor, out=fractions[:, 1])
    balance = _balance(np.minimum(fractions, 1.0, out=fractions), has_gpu)
    change: Ints = 50 + (50 + balance[1] - balance[0]) // 2
    return change


def _balance(fractions: Any, has_gpu: Any) -> Any:
    deviation = np.abs((fractions[0] - fractions[1]) / 2)
    if has_gpu is not None:
        distances = fractions - (fractions[0] + fractions[1] + fractions[2]) / 3
        squares = distances * distances
        deviation = np.where(has_gpu, np.sqrt((squares[0] + squares[1] + squares[2]) / 3), deviation)
    return ((1 - deviation) * 100).astype(np.int64)


def binpack(part: Ints, layout: Layout, asks: Asks) -> Any:
    """The weighted mean fullness, 0 where something does not fit."""
    if not asks.packed:
        return 0.0
    used, capacity = part[layout.all_used] + asks.packed_amounts, part[layout.all_capacity]
    has = capacity > 0
    refused = np.logical_or.reduce(has & (used > capacity), axis=0)
    # What has no weight or is not there adds nothing.
    terms = used * (asks.packed_weights * has) / np.maximum(capacity, 1)
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    fullness = total / asks.packed_total
    fullness[refused] = 0.0
    return fullness
