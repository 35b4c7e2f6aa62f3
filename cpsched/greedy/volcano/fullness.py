"""How full a task would make a node; mirrors `BinPackingScore` of `plugins/binpack/binpack.go`."""

from __future__ import annotations

from collections.abc import Mapping

from cpsched.greedy.volcano.nodes import NodeAccount
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.resources import THRESHOLD


def fullness(task: TaskState, node: NodeAccount, weights: Mapping[str, int]) -> float:
    """The weighted mean over what the task asks for and a weight is given for, 0 where something does not fit."""
    total, total_weight = 0.0, 0
    for name, amount in task.ordered_request:
        if amount < THRESHOLD or name not in weights:
            continue
        capacity, weight = node.allocatable.get(name, 0), weights[name]
        if capacity and weight:
            used = amount + node.used.get(name, 0)
            if used > capacity:
                return 0.0
            total += used * weight / capacity
        total_weight += weight
    return total / total_weight if total_weight > 0 else total
