"""Node-local scores in bulk; each equals its plain counterpart in `plugins/score_resources.py` or `fullness.py`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cpsched.greedy.volcano.fast.arrays import GPU, Ints, NodeArrays
from cpsched.greedy.volcano.fast.bulk import BinpackBulk
from cpsched.resources import names


def least(arrays: NodeArrays, nonzero: tuple[int, int], at: Any) -> Ints:
    """The emptier the better."""
    total: Any = 0
    for name, load, asked in _loads(arrays, nonzero):
        capacity = arrays.kube_capacity[name][at]
        free = capacity - (load[at] + asked)
        total = total + np.where(free < 0, 0, free * 100 // capacity)
    halves: Ints = total // 2
    return halves


def most(arrays: NodeArrays, nonzero: tuple[int, int], at: Any) -> Ints:
    """The fuller the better."""
    total: Any = 0
    for name, load, asked in _loads(arrays, nonzero):
        capacity = arrays.kube_capacity[name][at]
        total = total + np.minimum(load[at] + asked, capacity) * 100 // capacity
    halves: Ints = total // 2
    return halves


def _loads(arrays: NodeArrays, nonzero: tuple[int, int]) -> list[tuple[str, Ints, int]]:
    return [("cpu", arrays.nonzero_cpu, nonzero[0]), ("memory", arrays.nonzero_memory, nonzero[1])]


def balanced(arrays: NodeArrays, asked: Mapping[str, int], at: Any) -> Ints:
    """75 plus half of what the task improves the balance by."""
    before, after = [], []
    for name in ("cpu", "memory", *((GPU,) if asked[GPU] else ())):
        capacity, used = arrays.kube_capacity[name][at], arrays.requested[name][at]
        divisor = np.maximum(capacity, 1) if name == GPU else capacity
        before.append(np.minimum(used / divisor, 1.0))
        after.append(np.minimum((used + asked[name]) / divisor, 1.0))
    has_gpu = arrays.kube_capacity[GPU][at] > 0 if asked[GPU] else None
    change: Ints = 50 + (50 + _balance(after, has_gpu) - _balance(before, has_gpu)) // 2
    return change


def _balance(fractions: list[Any], has_gpu: Any) -> Any:
    deviation = np.abs((fractions[0] - fractions[1]) / 2)
    if has_gpu is not None:
        mean = (fractions[0] + fractions[1] + fractions[2]) / 3
        squares = 0.0
        for fraction in fractions:
            squares = squares + (fraction - mean) * (fraction - mean)
        deviation = np.where(has_gpu, np.sqrt(squares / 3), deviation)
    return ((1 - deviation) * 100).astype(np.int64)


def binpack(arrays: NodeArrays, request: Mapping[str, int], pack: BinpackBulk, at: Any) -> Any:
    """The weighted mean fullness, 0 where something does not fit."""
    total: Any = 0.0
    total_weight, refused = 0, np.False_
    for name in names(request):
        if name not in pack.weights:
            continue
        capacity, weight = arrays.capacity[name][at], pack.weights[name]
        if weight:
            used = arrays.used[name][at] + request[name]
            has = capacity > 0
            refused = refused | (has & (used > capacity))
            total = total + np.where(has, used * weight / np.maximum(capacity, 1), 0.0)
        total_weight += weight
    mean = total / total_weight if total_weight > 0 else total
    return np.where(refused, 0.0, mean) * (100 * pack.weight)
