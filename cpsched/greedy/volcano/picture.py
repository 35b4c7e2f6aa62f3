"""The nodes as filters and scores see them; mirrors `Session.NodeMap` and `plugins/util/k8s/snapshot.go`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from cpsched import quantity
from cpsched.filters.facts import Facts
from cpsched.filters.state import ClusterState
from cpsched.instance import Instance, Node, Task
from cpsched.objects.affinity import PodAffinity
from cpsched.selectors import AffinityTerm, SelectorError, affinity_term

WeightedTerms = tuple[tuple[AffinityTerm, int], ...]


class PreferenceClass:
    """All pods with the same preferred (anti-)affinity, avoidance with negative weight: how many on each node."""

    __slots__ = ("counts", "terms")

    def __init__(self, terms: WeightedTerms):
        self.terms = terms
        self.counts: dict[int, int] = {}


class Derived(NamedTuple):
    """What filters and scores work out about a task once."""

    facts: Facts
    nonzero: tuple[int, int]
    preferred: WeightedTerms


class FilterView(ClusterState):
    """Pods on nodes, with the stand-in requests and the preferences that scores look at."""

    def __init__(self, instance: Instance, nodes: Iterable[Node], **others: Any):
        super().__init__(instance, nodes, **others)
        self.nonzero_cpu = [0] * len(self.node_list)
        self.nonzero_memory = [0] * len(self.node_list)
        self.preferences: dict[WeightedTerms, PreferenceClass] = {}
        self.affinity_nodes: frozenset[int] = frozenset()
        self._by_task: dict[int, Derived] = {}
        self._by_content: dict[tuple[Any, ...], Derived] = {}

    @classmethod
    def opened(cls, instance: Instance) -> FilterView:
        """The picture when the session opens; the lists of nodes with choosy pods never change afterwards."""
        picture = cls.from_instance(instance)
        assert isinstance(picture, FilterView)
        picture.freeze_anti_affinity()
        holders = (node.index for node in picture.node_list if any(has_pod_affinity(task) for task in node.tasks))
        picture.affinity_nodes = frozenset(holders)
        return picture

    def add(self, task: Task, node: str) -> None:
        """Put a task on a node."""
        super().add(task, node)
        self._shift(task, self.nodes[node].index, 1)

    def remove(self, task: Task) -> Task:
        """Take a task off its node."""
        index = self.nodes[self.node_by_task[task.key]].index
        removed = super().remove(task)
        self._shift(removed, index, -1)
        return removed

    def facts(self, task: Task) -> Facts:
        """What filters derive from the task; pods that differ in name only have it in common."""
        return self._derived(task).facts

    def nonzero(self, task: Task) -> tuple[int, int]:
        """cpu and memory of a task, with stand-ins where a container asks for none."""
        return self._derived(task).nonzero

    def preferred(self, task: Task) -> WeightedTerms:
        """The task's preferred terms; affinity counts for a node, anti-affinity against it."""
        return self._derived(task).preferred

    def _derived(self, task: Task) -> Derived:
        found = self._by_task.get(id(task))
        if found is None:
            key = _content(task)
            found = None if key is None else self._by_content.get(key)
            if found is None:
                affinity = task.pod.spec.affinity
                near, away = affinity.pod_affinity, affinity.pod_anti_affinity
                preferred = (*_terms(near, task.namespace, 1), *_terms(away, task.namespace, -1))
                found = Derived(super().facts(task), _nonzero(task), preferred)
                if key is not None:
                    self._by_content[key] = found
            self._by_task[id(task)] = found
        return found

    def _shift(self, task: Task, index: int, change: int) -> None:
        derived = self._derived(task)
        cpu, memory = derived.nonzero
        self.nonzero_cpu[index] += change * cpu
        self.nonzero_memory[index] += change * memory
        if terms := derived.preferred:
            one = self.preferences.setdefault(terms, PreferenceClass(terms))
            one.counts[index] = one.counts.get(index, 0) + change


def _content(task: Task) -> tuple[Any, ...] | None:
    """Everything filters and scores read of a plain pod; None for a pod with anything out of the ordinary."""
    spec, metadata, status = task.pod.spec, task.pod.metadata, task.pod.status
    if spec.init_containers or spec.volumes or spec.overhead or spec.resources.requests or status.container_statuses:
        return None
    affinity = spec.affinity
    if has_pod_affinity(task) or any(container.ports for container in spec.containers):
        return None
    return (
        metadata.namespace,
        tuple(metadata.labels.items()),
        metadata.deletion_timestamp is None,
        tuple(tuple(container.resources.requests.items()) for container in spec.containers),
        tuple(spec.node_selector.items()),
        affinity.node_affinity.required,
        tuple((one.key, one.operator, one.value, one.effect) for one in spec.tolerations),
    )


def has_pod_affinity(task: Task) -> bool:
    """Whether the pod wants to be near others or away from them."""
    near, away = task.pod.spec.affinity.pod_affinity, task.pod.spec.affinity.pod_anti_affinity
    return bool(near.required or near.preferred or away.required or away.preferred)


def _terms(affinity: PodAffinity, namespace: str, sign: int) -> WeightedTerms:
    try:
        return tuple((affinity_term(one.pod_affinity_term, namespace), sign * one.weight) for one in affinity.preferred)
    except SelectorError:
        return ()


def _nonzero(task: Task) -> tuple[int, int]:
    spec, found = task.pod.spec, []
    for name in ("cpu", "memory"):
        amount = task.kube_nonzero_requests[name]
        if spec.resources.requests and task.kube_requests.get(name):
            amount = task.kube_requests[name]
        elif name in spec.overhead:
            overhead = spec.overhead[name]
            amount += quantity.milli(overhead) if name == "cpu" else quantity.whole(overhead)
        found.append(amount)
    return found[0], found[1]
