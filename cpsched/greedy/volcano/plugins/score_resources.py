"""Scores by how full and how balanced a node would be; mirrors kube-scheduler's `plugins/noderesources`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from cpsched.greedy.volcano.picture import FilterView
from cpsched.instance import Task

GPU = "nvidia.com/gpu"


def least_scores(picture: FilterView, task: Task, indexes: Sequence[int]) -> list[int]:
    """The emptier the better (`leastResourceScorer`, weights 50 and 50)."""
    return _means(picture, task, indexes, _free_part)


def most_scores(picture: FilterView, task: Task, indexes: Sequence[int]) -> list[int]:
    """The fuller the better (`mostResourceScorer`, weights 1 and 1)."""
    return _means(picture, task, indexes, _used_part)


def _means(picture: FilterView, task: Task, indexes: Sequence[int], part: Callable[[int, int], int]) -> list[int]:
    cpu, memory = picture.nonzero(task)
    scores = []
    for index in indexes:
        allocatable = picture.node_list[index].allocatable
        parts = []
        if capacity := allocatable.get("cpu", 0):
            parts.append(part(picture.nonzero_cpu[index] + cpu, capacity))
        if capacity := allocatable.get("memory", 0):
            parts.append(part(picture.nonzero_memory[index] + memory, capacity))
        # Both weights are equal, so they cancel out even under integer division.
        scores.append(sum(parts) // len(parts) if parts else 0)
    return scores


def _free_part(used: int, capacity: int) -> int:
    return 0 if used > capacity else (capacity - used) * 100 // capacity


def _used_part(used: int, capacity: int) -> int:
    return min(used, capacity) * 100 // capacity


def balanced_scores(picture: FilterView, task: Task, indexes: Sequence[int]) -> list[int] | None:
    """75 plus half of what the task improves the balance of cpu, memory and GPU by (`balancedResourceScorer`)."""
    asked = {name: task.kube_requests.get(name, 0) for name in ("cpu", "memory", GPU)}
    if not any(asked.values()):
        return None
    return [_balance_change(picture, asked, index) for index in indexes]


def _balance_change(picture: FilterView, asked: dict[str, int], index: int) -> int:
    node = picture.node_list[index]
    allocatable, requested = node.allocatable, node.requested
    before, after = [], []
    for name, amount in asked.items():
        capacity = allocatable.get(name, 0)
        if capacity and (amount or name != GPU):
            used = requested.get(name, 0)
            before.append(min(used / capacity, 1.0))
            after.append(min((used + amount) / capacity, 1.0))
    return 50 + (50 + balance(after) - balance(before)) // 2


def balance(fractions: list[float]) -> int:
    """From 0 to 100, the higher the closer the fractions."""
    deviation = 0.0
    if len(fractions) == 2:
        deviation = abs((fractions[0] - fractions[1]) / 2)
    elif len(fractions) > 2:
        first, second, third = fractions
        mean = (first + second + third) / 3
        squares = (first - mean) * (first - mean) + (second - mean) * (second - mean) + (third - mean) * (third - mean)
        deviation = math.sqrt(squares / 3)
    return int((1 - deviation) * 100)
