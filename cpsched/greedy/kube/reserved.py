"""Room promised to nominated pods, summed per node and priority, so that all nodes can be tested at once."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from cpsched.filters.room import Amounts
from cpsched.filters.state import ClusterState
from cpsched.instance import Task


@dataclass
class Sums:
    """Pods and resources per node in snapshot order."""

    pods: npt.NDArray[np.int64]
    taken: dict[str, Amounts] = field(default_factory=dict)

    def shift(self, requests: dict[str, int], index: int, change: int) -> None:
        """A pod's share comes to a node or leaves it."""
        self.pods[index] += change
        for name, amount in requests.items():
            if name not in self.taken:
                self.taken[name] = np.zeros(len(self.pods), dtype=object if amount >= 2**53 else np.int64)
            self.taken[name][index] += change * amount


class Reserved:
    """What nominated pods would take, by priority."""

    def __init__(self, cluster: ClusterState):
        self._cluster = cluster
        self._by_priority: dict[int, Sums] = {}

    def shift(self, task: Task, node: str, change: int) -> None:
        """A pod is nominated to a node, or no longer; nodes that do not exist hold nothing."""
        state = self._cluster.nodes.get(node)
        if state is not None:
            sums = self._by_priority.get(task.pod_priority)
            if sums is None:
                sums = self._by_priority[task.pod_priority] = self._none()
            sums.shift(self._cluster.facts(task).requests, state.index, change)

    def competitors(self, task: Task, own_node: str) -> Sums | None:
        """What pods of the same or higher priority are promised, the task itself left out; None if nothing."""
        chosen = [sums for priority, sums in self._by_priority.items() if priority >= task.pod_priority]
        total = self._none()
        for sums in chosen:
            total.pods += sums.pods
            for name, amounts in sums.taken.items():
                total.taken[name] = total.taken[name] + amounts if name in total.taken else amounts
        if own_node in self._cluster.nodes:
            total.taken = {name: amounts.copy() for name, amounts in total.taken.items()}
            total.shift(self._cluster.facts(task).requests, self._cluster.nodes[own_node].index, -1)
        return total if total.pods.any() else None

    def _none(self) -> Sums:
        return Sums(np.zeros(len(self._cluster.node_list), dtype=np.int64))
