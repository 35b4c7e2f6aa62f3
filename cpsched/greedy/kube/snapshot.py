"""The cluster as kube-scheduler's cache holds it; mirrors `backend/cache` (node_tree.go, cache.go)."""

from __future__ import annotations

from collections.abc import Iterable

from cpsched.filters.devices import Devices
from cpsched.filters.state import ClusterState, NodeState
from cpsched.filters.storage import Storage
from cpsched.greedy.kube.terms import TermIndex
from cpsched.greedy.kube.usage import Usage
from cpsched.instance import Instance, Node, Task

_REGION = ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region")
_ZONE = ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone")


class Snapshot:
    """The filters' cluster state together with what only scores ask for."""

    def __init__(self, instance: Instance):
        nodes = [instance.nodes[name] for name in node_order(instance.nodes.values())]
        self.cluster = ClusterState(instance, nodes, storage=Storage.of(instance), devices=Devices.of(instance))
        self.usage = Usage(len(nodes))
        self.terms = TermIndex()
        self.names = [node.name for node in nodes]
        self.stamps = [0] * len(nodes)
        running = (task for tasks in instance.tasks_by_node.values() for task in tasks)
        # A scheduler that starts hears of the pods in this order.
        for task in sorted(running, key=lambda task: (task.namespace, task.name)):
            self.add(task, task.node)

    @property
    def nodes(self) -> list[NodeState]:
        """The nodes in snapshot order."""
        return self.cluster.node_list

    def add(self, task: Task, node: str) -> None:
        """Put a task on a node, last in its list."""
        self.cluster.add(task, node)
        self._count(task, node, 1)

    def remove(self, task: Task) -> Task:
        """Take a task off its node; the last of the list moves into the gap."""
        node = self.cluster.node_by_task[task.key]
        removed = self.cluster.remove(task)
        self._count(removed, node, -1)
        return removed

    def update(self, task: Task) -> None:
        """An update moves the pod to the end of its node's list."""
        node = self.cluster.node_by_task[task.key]
        self.remove(task)
        self.add(task, node)

    def _count(self, task: Task, node: str, change: int) -> None:
        index = self.cluster.nodes[node].index
        self.stamps[index] += 1
        self.usage.shift(task, index, change)
        self.terms.shift(task, index, change)


def node_order(nodes: Iterable[Node]) -> list[str]:
    """Names zone by zone in turn, inside a zone in order of arrival (`nodeTree.list`)."""
    by_zone: dict[tuple[str, str], list[str]] = {}
    for node in nodes:
        by_zone.setdefault(_zone(node), []).append(node.name)
    longest = max(map(len, by_zone.values()), default=0)
    return [names[turn] for turn in range(longest) for names in by_zone.values() if turn < len(names)]


def _zone(node: Node) -> tuple[str, str]:
    region, zone = (next((node.labels[key] for key in keys if key in node.labels), "") for keys in (_REGION, _ZONE))
    return region, zone
