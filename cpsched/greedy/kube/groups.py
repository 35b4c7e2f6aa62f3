"""Pod groups and what they mean for victims; mirrors `preemption/types.go` and `util.go` (GetPodPriority)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from cpsched.filters import NodeState
from cpsched.greedy.kube.victims import Unit, single
from cpsched.instance import Instance, Task

Key = tuple[str, str, str]
"""Kind, namespace, name."""
_DEEPEST = 8


@dataclass(frozen=True)
class Group:
    """A PodGroup or CompositePodGroup; `all_together` is disruption mode All."""

    key: Key
    priority: int
    all_together: bool = False
    parent: Key | None = None


@dataclass(frozen=True)
class Groups:
    """All groups; without the gate for composite groups no group has a parent."""

    groups: Mapping[Key, Group] = field(default_factory=dict)

    @classmethod
    def of(cls, instance: Instance) -> Groups:
        """The scheduling.k8s.io PodGroups of an instance."""
        found = {}
        for item in instance.workload_groups.values():
            key = pod_group_key(item.metadata.namespace, item.metadata.name)
            found[key] = Group(key, item.spec.priority or 0, is_all(item.spec.disruption_mode))
        return cls(found)

    def lineage(self, task: Task) -> Iterator[Group]:
        """The task's groups from its own upwards, as far as they are known."""
        name = task.pod.spec.scheduling_group.pod_group_name
        key = pod_group_key(task.namespace, name) if name else None
        seen: set[Key] = set()
        while key is not None and key in self.groups and key not in seen and len(seen) < _DEEPEST:
            seen.add(key)
            group = self.groups[key]
            yield group
            key = group.parent

    def priority(self, task: Task) -> int:
        """The priority of the topmost group, or the task's own."""
        return next((group.priority for group in reversed(list(self.lineage(task)))), task.pod_priority)

    def together(self, task: Task) -> Key | None:
        """The topmost group that is disrupted as a whole."""
        return next((group.key for group in reversed(list(self.lineage(task))) if group.all_together), None)

    def units(self, tasks: Iterable[Task], nodes: Iterable[NodeState]) -> list[Unit]:
        """Units that some of the tasks belong to, each once; a whole group counts with its tasks on all nodes."""
        every = list(nodes)
        seen: set[Key] = set()
        found = []
        for task in tasks:
            key = self.together(task)
            if key is None:
                grouped = bool(task.pod.spec.scheduling_group.pod_group_name)
                found.append(Unit((task,), self.priority(task), "podgroup" if grouped else "pod"))
            elif key not in seen:
                seen.add(key)
                members = (other for node in every for other in node.tasks if self.together(other) == key)
                found.append(Unit(tuple(members), self.priority(task), key[0]))
        return found


def pod_group_key(namespace: str, name: str) -> Key:
    """The key of a PodGroup."""
    return ("podgroup", namespace, name)


def is_all(mode: Any) -> bool:
    """Whether a disruption mode, an object or its plain name, is All."""
    return mode == "All" or (isinstance(mode, Mapping) and mode.get("all") is not None)


def units_on(node: NodeState, groups: Groups | None, nodes: Iterable[NodeState]) -> list[Unit]:
    """Everything on a node that can be evicted as one, in the order of the node's list."""
    return [single(task) for task in node.tasks] if groups is None else groups.units(node.tasks, nodes)
