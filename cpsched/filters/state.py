"""The cluster as the filters see it: who is on which node now, and the objects filters look up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import cached_property, lru_cache
from typing import Any

from cpsched import quantity
from cpsched.filters.devices import Devices
from cpsched.filters.facts import Facts, HostPort, counts
from cpsched.filters.index import AntiIndex, Domains, LabelIndex
from cpsched.filters.room import FreeAmounts
from cpsched.filters.storage import Storage
from cpsched.instance import Instance, Node, Task
from cpsched.objects.cluster import Namespace
from cpsched.selectors import Labels

FactsOf = Callable[[Task], Facts]


class NodeState:
    """One node with the tasks on it; mirrors `framework.NodeInfo`."""

    __slots__ = ("_facts", "allocatable", "allowed_pods", "claims", "index", "node", "ports", "requested", "tasks")

    def __init__(self, node: Node, index: int, facts: FactsOf):
        self.node, self.index, self._facts = node, index, facts
        self.allocatable = kube_amounts(node.node.status.allocatable)
        self.allowed_pods = quantity.whole(node.node.status.allocatable.get("pods", "0"))
        self.tasks: list[Task] = []
        self.requested: dict[str, int] = {}
        self.ports: set[HostPort] = set()
        self.claims: Counter[str] = Counter()

    @property
    def name(self) -> str:
        """The node's name."""
        return self.node.name

    @property
    def labels(self) -> Labels:
        """The node's labels."""
        return self.node.node.metadata.labels

    def add(self, task: Task) -> None:
        """Put a task on the node, last in its list."""
        facts = self._facts(task)
        self.tasks.append(task)
        for name, amount in facts.requests.items():
            self.requested[name] = self.requested.get(name, 0) + amount
        self.ports.update(facts.ports)
        for claim in facts.claims:
            self.claims[f"{task.namespace}/{claim}"] += 1

    def remove(self, task: Task) -> Task:
        """Take the task with that key off the node; the last one of the list moves into the gap."""
        place = next(i for i, other in enumerate(self.tasks) if other.key == task.key)
        removed, last = self.tasks[place], self.tasks.pop()
        if last is not removed:
            self.tasks[place] = last
        facts = self._facts(removed)
        for name, amount in facts.requests.items():
            self.requested[name] -= amount
        # Upstream keeps a set: a port goes with the first of its holders.
        self.ports.difference_update(facts.ports)
        for claim in facts.claims:
            self.claims[f"{removed.namespace}/{claim}"] -= 1
        return removed

    def without(self, task: Task) -> NodeState:
        """The node as if the task had never come; unlike after `remove`, a port that another one holds stays taken."""
        fresh = NodeState(self.node, self.index, self._facts)
        for other in self.tasks:
            if other.key != task.key:
                fresh.add(other)
        return fresh

    def clone(self) -> NodeState:
        """A copy to try something on."""
        copy = object.__new__(NodeState)
        copy.node, copy.index, copy._facts = self.node, self.index, self._facts
        copy.allocatable, copy.allowed_pods = self.allocatable, self.allowed_pods
        copy.tasks, copy.requested = list(self.tasks), dict(self.requested)
        copy.ports, copy.claims = set(self.ports), Counter(self.claims)
        return copy


class ClusterState:
    """All nodes in snapshot order with the tasks on them, and whatever else a filter asks for."""

    def __init__(self, instance: Instance, nodes: Iterable[Node], *, storage: Storage, devices: Devices):
        self.instance, self.storage, self.devices = instance, storage, devices
        self.labels, self.anti = LabelIndex(), AntiIndex()
        self._facts: dict[int, Facts] = {}
        self._domains: dict[str, Domains] = {}
        self.nodes = {node.name: NodeState(node, index, self.facts) for index, node in enumerate(nodes)}
        self.node_list = list(self.nodes.values())
        self.room = FreeAmounts(self.node_list)
        self.node_by_task: dict[str, str] = {}
        self.memo: dict[Hashable, Any] = {}
        """Answers that depend on nodes and objects alone; code that adds one says so in its key."""
        self.anti_affinity_nodes: frozenset[int] | None = None

    @classmethod
    def from_instance(cls, instance: Instance, node_order: Iterable[str] | None = None) -> ClusterState:
        """The snapshot: every task that sits on a node and has not ended is on it, terminating ones too."""
        order = instance.nodes if node_order is None else node_order
        nodes = [instance.nodes[name] for name in order]
        state = cls(instance, nodes, storage=Storage.of(instance), devices=Devices.of(instance))
        for name in state.nodes:
            for task in instance.tasks_by_node[name]:
                state.add(task, name)
        return state

    def copy(self) -> ClusterState:
        """An independent copy with the same tasks in the same order."""
        nodes = (state.node for state in self.node_list)
        copy = ClusterState(self.instance, nodes, storage=self.storage.copy(), devices=self.devices.copy())
        copy.anti_affinity_nodes = self.anti_affinity_nodes
        for name, state in self.nodes.items():
            for task in state.tasks:
                copy.add(task, name)
        return copy

    def facts(self, task: Task) -> Facts:
        """What filters derive from the task; kept as long as this state lives."""
        found = self._facts.get(id(task))
        if found is None:
            found = self._facts[id(task)] = Facts(task, self.labels, self.anti)
        return found

    def add(self, task: Task, node: str) -> None:
        """Put a task on a node."""
        state, facts = self.nodes[node], self.facts(task)
        state.add(task)
        self.node_by_task[task.key] = node
        self._count(state, facts, 1)

    def remove(self, task: Task) -> Task:
        """Take the task off its node; volumes and devices it holds stay held."""
        state = self.nodes[self.node_by_task.pop(task.key)]
        removed = state.remove(task)
        self._count(state, self.facts(removed), -1)
        return removed

    def freeze_anti_affinity(self) -> None:
        """From now on ask only nodes that hold a pod with required anti-affinity now for such pods, as Volcano does."""
        holders = (s.index for s in self.node_list if any(self.facts(t).anti for t in s.tasks))
        self.anti_affinity_nodes = frozenset(holders)

    def domains(self, key: str) -> Domains:
        """The values of a topology key over the nodes."""
        found = self._domains.get(key)
        if found is None:
            found = self._domains[key] = Domains(key, (state.labels for state in self.node_list))
        return found

    @cached_property
    def namespaces(self) -> dict[str, Labels]:
        """Labels of the namespaces that exist."""
        return {item.metadata.name: item.metadata.labels for item in self.instance.of_kind(Namespace)}

    def claim_in_use(self, claim: str) -> bool:
        """Whether a pod on some node names the PersistentVolumeClaim."""
        return any(state.claims[claim] > 0 for state in self.node_list)

    def _count(self, state: NodeState, facts: Facts, change: int) -> None:
        self.room.update(state, facts.requests)
        _shift(facts.labels.counts, state.index, change)
        if facts.anti is not None:
            _shift(facts.anti.counts, state.index, change)


def kube_amounts(quantities: Mapping[str, str]) -> dict[str, int]:
    """A resource list in kube-scheduler's units: cpu in thousandths, the rest whole, unknown names left out."""
    return dict(_kube_amounts(tuple(quantities.items())))


@lru_cache(maxsize=1024)
def _kube_amounts(quantities: tuple[tuple[str, str], ...]) -> dict[str, int]:
    """The same, read once: nodes come in few sizes."""
    return {
        name: quantity.milli(value) if name == "cpu" else quantity.whole(value)
        for name, value in quantities
        if counts(name)
    }


def _shift(amounts: dict[int, int], index: int, change: int) -> None:
    amount = amounts.get(index, 0) + change
    if amount:
        amounts[index] = amount
    else:
        del amounts[index]
