"""What HyperNodes have and hold; mirrors `initHyperNodeResourceCache` of network-topology-aware and its events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

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


class Room:
    """Sums over the nodes of every HyperNode; only what is used follows the session."""

    def __init__(self, session: Session, weights: Weights):
        self._weights = weights
        self._domains: dict[str, list[str]] = {name: [] for name in session.nodes}
        self._capacity: dict[str, Amounts] = {}
        self._used: dict[str, Amounts] = {}
        self._idle: dict[str, Amounts] = {}
        self._future: dict[str, Amounts] = {}
        for name in session.tree.names:
            capacity, used, idle, future = Amounts(), Amounts(), Amounts(), Amounts()
            for node in session.nodes_in(name):
                self._domains[node.name].append(name)
                give(capacity, node.allocatable)
                give(used, node.used)
                give(idle, node.idle)
                give(future, node.future_idle)
            self._capacity[name], self._used[name] = capacity, used
            self._idle[name], self._future[name] = idle, future

    def has(self, domain: str, need: Mapping[str, float]) -> bool:
        """Whether the nodes of a HyperNode have so much free together, now or later."""
        asked = request_of(need)
        return fits(asked, self._idle[domain]) or fits(asked, self._future[domain])

    def could_have(self, domain: str, need: Mapping[str, float]) -> bool:
        """Whether they would have it if they were empty."""
        return fits(request_of(need), self._capacity[domain])

    def fullness(self, domain: str, request: Request) -> float:
        """The weighted mean over the resources of a request, 0 where one of them does not fit."""
        total, total_weight = 0.0, 0
        capacity, held, weights = self._capacity[domain], self._used[domain], self._weights.by_name
        for name, amount in request:
            used = held.get(name, 0) + amount
            if used > capacity.get(name, 0):
                return 0.0
            total += weights[name] * (used / capacity[name])
            total_weight += weights[name]
        return total / total_weight if total_weight > 0 else 0.0

    def taken(self, task: TaskState) -> None:
        """A task takes room on its node."""
        self._shift(task, 1)

    def given_back(self, task: TaskState) -> None:
        """A task gives its room back."""
        self._shift(task, -1)

    def _shift(self, task: TaskState, sign: int) -> None:
        for domain in self._domains.get(task.node, ()):
            used = self._used[domain]
            for name, amount in task.request.items():
                used[name] = used.get(name, 0) + sign * amount
