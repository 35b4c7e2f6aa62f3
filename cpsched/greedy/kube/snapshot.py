"""The cluster as kube-scheduler's cache holds it; mirrors `backend/cache` (node_tree.go, cache.go)."""

from __future__ import annotations

from collections.abc import Iterable

from cpsched.filters.devices import Devices
from cpsched.filters.state import ClusterState, NodeState
from cpsched.filters.storage import Storage
from cpsched.greedy.kube.terms import TermIndex
from cpsched.greedy.kube.usage import NonzeroUsage
from cpsched.greedy.kube.victims import start_time
from cpsched.greedy.outcomes import Choices, First
from cpsched.instance import PENDING, Instance, Node, Task

_REGION = ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region")
_ZONE = ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone")


class Snapshot:
    """The filters' cluster state together with what only scores ask for."""

    def __init__(self, instance: Instance, choices: Choices | None = None):
        nodes = [instance.nodes[name] for name in node_order(instance.nodes.values())]
        self.cluster = ClusterState(instance, nodes, storage=Storage.of(instance), devices=Devices.of(instance))
        self.usage = NonzeroUsage(len(nodes))
        self.terms = TermIndex()
        self.names = [node.name for node in nodes]
        self.stamps = [0] * len(nodes)
        for task in arrivals(instance, choices or First()):
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


def arrivals(instance: Instance, choices: Choices) -> list[Task]:
    """Running pods by namespace and name, as a scheduler that starts hears of them.

    One that has been running heard of them in an order that no dump tells. It matters among pods of a node that only
    this order tells apart as victims: of one priority, started in the same second.
    """
    running = (task for tasks in instance.tasks_by_node.values() for task in tasks)
    ordered = sorted(running, key=lambda task: (task.namespace, task.name))
    waiting = [task.pod_priority for task in instance.tasks.values() if not task.node and task.status is PENDING]
    equal: dict[tuple[str, int, int], list[int]] = {}
    for place, task in enumerate(ordered):
        if task.pod_priority < max(waiting, default=0):
            equal.setdefault((task.node, task.pod_priority, start_time(task)), []).append(place)
    found = list(ordered)
    for places in equal.values():
        for place, drawn in zip(places, choices.order(places), strict=True):
            found[place] = ordered[drawn]
    return found


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
