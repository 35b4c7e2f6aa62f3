"""What HyperNodes have and hold; mirrors `initHyperNodeResourceCache` of network-topology-aware and its events."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from cpsched.greedy.volcano.amounts import Amounts, fits, give, request_of
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.policy import PluginConf, packing_weights
from cpsched.resources import THRESHOLD

Request = Sequence[tuple[str, float]]


class Weights:
    """Which resources count, and how much."""

    def __init__(self, conf: PluginConf):
        self.by_name = packing_weights(conf)

    def weighed(self, request: Iterable[tuple[str, float]]) -> list[tuple[str, float]]:
        """What of a request counts."""
        return [(name, amount) for name, amount in request if amount >= THRESHOLD and name in self.by_name]


class HyperNodeSums:
    """Sums over the nodes of every HyperNode; only what is used follows the session, and only of what counts."""

    def __init__(self, session: Session, weights: Weights):
        self._weights = weights
        self.row = {name: row for row, name in enumerate(weights.by_name)}
        self.number = {name: number for number, name in enumerate(session.tree.names)}
        """HyperNodes by number, which is their column."""
        self._numbers: dict[str, list[int]] = {name: [] for name in session.nodes}
        self._all: dict[str, Amounts] = {}
        self._idle: dict[str, Amounts] = {}
        self._future: dict[str, Amounts] = {}
        self.capacity: Any = np.zeros((len(self.row), len(self.number)))
        self.used: Any = np.zeros((len(self.row), len(self.number)))
        self._changes: dict[str, Any] = {}
        self._opened: dict[str, Hashable] = {}
        for name, number in self.number.items():
            everything, idle, future = Amounts(), Amounts(), Amounts()
            for node in (session.nodes[one] for one in session.tree.nodes.get(name, ())):
                self._numbers[node.name].append(number)
                give(everything, node.allocatable)
                give(idle, node.idle)
                give(future, node.future_idle)
                for resource, row in self.row.items():
                    self.used[row, number] += node.used.get(resource, 0)
            for resource, row in self.row.items():
                self.capacity[row, number] = everything.get(resource, 0)
            self._all[name], self._idle[name], self._future[name] = everything, idle, future
        self._columns: dict[str, Any] = {node: np.array(found, dtype=np.int64) for node, found in self._numbers.items()}

    def has(self, domain: str, need: Mapping[str, float]) -> bool:
        """Whether the nodes of a HyperNode have so much free together, now or later."""
        asked = request_of(need)
        return fits(asked, self._idle[domain]) or fits(asked, self._future[domain])

    def could_have(self, domain: str, need: Mapping[str, float]) -> bool:
        """Whether they would have it if they were empty."""
        return fits(request_of(need), self._all[domain])

    def fullness(self, domain: str, request: Request) -> float:
        """The weighted mean over the resources of a request, 0 where one of them does not fit."""
        total, total_weight, number = 0.0, 0, self.number[domain]
        for name, amount in request:
            row = self.row[name]
            used, capacity = float(self.used[row, number]) + amount, float(self.capacity[row, number])
            if used > capacity:
                return 0.0
            total += self._weights.by_name[name] * (used / capacity)
            total_weight += self._weights.by_name[name]
        return total / total_weight if total_weight > 0 else 0.0

    def fullness_of_all(self, request: Request) -> Any:
        """The same for every HyperNode, by number."""
        count = len(self.number)
        total, total_weight, fit = np.zeros(count), 0, np.ones(count, dtype=np.bool_)
        for name, amount in request:
            row, weight = self.row[name], self._weights.by_name[name]
            used, capacity = self.used[row] + amount, self.capacity[row]
            fit &= used <= capacity
            total += weight * (used / np.maximum(capacity, 1))
            total_weight += weight
        return np.where(fit, total / total_weight, 0.0) if total_weight > 0 else np.zeros(count)

    def state(self, domain: str) -> Hashable:
        """All that is known of a HyperNode's room, to tell whether two are alike."""
        opened = self._opened.get(domain)
        if opened is None:
            sums = (tuple(sorted(one[domain].items())) for one in (self._all, self._idle, self._future))
            opened = self._opened[domain] = tuple(sums)
        return opened, self.used[:, self.number[domain]].tobytes()

    def taken(self, task: TaskState) -> None:
        """A task takes room on its node."""
        if task.node:
            self.used[:, self._columns[task.node]] += self._change(task)

    def given_back(self, task: TaskState) -> None:
        """A task gives its room back."""
        if task.node:
            self.used[:, self._columns[task.node]] -= self._change(task)

    def _change(self, task: TaskState) -> Any:
        change = self._changes.get(task.key)
        if change is None:
            amounts = [task.request.get(name, 0) for name in self.row]
            change = self._changes[task.key] = np.array(amounts, dtype=np.float64).reshape(-1, 1)
        return change
