"""rescheduling: pods that shuffle moves off loaded nodes; mirrors `plugins/rescheduling`."""

from __future__ import annotations

from collections.abc import Sequence

from cpsched.greedy.volcano.hooks import Hooks
from cpsched.greedy.volcano.nodes import NodeAccount
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.hardware.quality import quality
from cpsched.objects.beside import NodeLoad
from cpsched.policy import PluginConf
from cpsched.policy.nested import LowUtilization
from cpsched.resources import from_quantities

PERIOD = "10m"
"""The only period for which Volcano's collector keeps loads."""
NAMES = ("cpu", "memory")


def rescheduling(session: Session, conf: PluginConf) -> Hooks:
    """Name pods of loaded nodes, as long as some node has little to do; the interval is taken to be over."""
    strategies: tuple[LowUtilization, ...] = conf.arguments.form("strategies")
    measured = session.instance.node_usage or {}
    known = measured if conf.arguments.form("metricsPeriod") == PERIOD else {}

    def victims(candidates: Sequence[TaskState]) -> list[TaskState]:
        return [victim for strategy in strategies for victim in _Balance(session, strategy, known).victims(candidates)]

    return Hooks(victim_tasks=victims)


class _Balance:
    """One look at all nodes under one strategy."""

    def __init__(self, session: Session, strategy: LowUtilization, known: dict[str, NodeLoad] | object):
        self._session, self._target = session, dict(strategy.targets)
        loads = known if isinstance(known, dict) else {}
        self._load = {
            node.name: {"cpu": load.cpu, "memory": load.memory}
            for node in session.node_list
            for load in [loads.get(node.name, NodeLoad())]
        }
        bound = dict(strategy.thresholds)
        self._low = [
            node
            for node in session.node_list
            if not node.node.node.spec.unschedulable and all(self._of(node)[name] < bound[name] for name in NAMES)
        ]
        low = {node.name for node in self._low}
        loaded = (n for n in session.node_list if n.name not in low and self._is_above(n))
        self._high = sorted(loaded, key=lambda node: -sum(self._of(node).values()))

    def victims(self, candidates: Sequence[TaskState]) -> list[TaskState]:
        """Pods of loaded nodes, until the node is no longer loaded; room that is overdrawn does not end it."""
        if not self._low or not self._high or len(self._low) == len(self._session.node_list):
            return []
        room = {name: sum(self._room(node, name) for node in self._low) for name in NAMES}
        found: list[TaskState] = []
        for node in self._high:
            capacity, load = from_quantities(node.node.node.status.capacity), self._of(node)
            for task in self._in_order(node):
                if not any(load[name] >= self._target[name] for name in NAMES) or 0 in room.values():
                    break
                # Upstream knows a pod again by its name alone, whatever its namespace.
                named = [one for one in candidates if one.task.name == task.task.name]
                if not named:
                    continue
                found.append(named[self._session.choices.pick(len(named))] if len(named) > 1 else named[0])
                for name in NAMES:
                    room[name] -= task.request[name]
                    load[name] -= 100 * task.request[name] / capacity[name] if capacity.get(name) else 0
        return found

    def _of(self, node: NodeAccount) -> dict[str, float]:
        return self._load[node.name]

    def _is_above(self, node: NodeAccount) -> bool:
        return any(self._of(node)[name] > self._target[name] for name in NAMES)

    def _room(self, node: NodeAccount, name: str) -> float:
        status = node.node.node.status
        whole = from_quantities(status.allocatable or status.capacity).get(name, 0)
        return int(self._target[name] * whole / 100) - int(self._of(node)[name] * whole / 100)

    def _in_order(self, node: NodeAccount) -> list[TaskState]:
        def rank(task: TaskState) -> tuple[bool, int, int]:
            stated = task.task.spec.priority
            return stated is not None, stated or 0, quality(task.task)

        tasks = list(node.tasks.values())
        if len({rank(task) for task in tasks}) < len(tasks):
            tasks = self._session.choices.order(tasks)
        return sorted(tasks, key=rank)
