"""Instance: one validated, frozen snapshot of a cluster; every engine and the checker read this and nothing else."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any

from cpsched import resources, timestamps
from cpsched.alterations import Alteration
from cpsched.frames import Framed, headline_of_instance, tables_of_instance
from cpsched.objects import cluster, groups, node, pod
from cpsched.objects.base import Object
from cpsched.objects.beside import NodeLoad, Sharding
from cpsched.objects.devices import ResourceClaim
from cpsched.objects.pod import PodSpec, PodStatus
from cpsched.objects.written import object_dict, unversioned_dict
from cpsched.requests import kube_nonzero_requests, kube_requests, volcano_requests

API_VERSION = "cpsched/v1"
_YEAR = 365 * 86_400 * 10**9
GROUP_ANNOTATION = "scheduling.k8s.io/group-name"
ID_ANNOTATION = "cpsched/task"
PREEMPTABLE = "volcano.sh/preemptable"
_NO_LABELS: dict[str, str] = {}
_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})


class Status(Enum):
    """A task's status as the snapshot shows it (Volcano's `getTaskStatus`)."""

    PENDING = "Pending"
    BOUND = "Bound"
    RUNNING = "Running"
    RELEASING = "Releasing"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    UNKNOWN = "Unknown"

    __hash__ = object.__hash__
    """Members are unique; the usual hash goes by their name, which takes longer than all else about a status."""


HOLDS_ROOM = frozenset({Status.BOUND, Status.RUNNING})
"""Statuses whose request counts as allocated to its job and queue."""
ENDED = frozenset({Status.SUCCEEDED, Status.FAILED})
"""Statuses of tasks that have left their node."""
PENDING, RELEASING = Status.PENDING, Status.RELEASING
"""For those who ask every task: to reach a member through its enum takes longer than to compare it."""


@dataclass(frozen=True)
class Task:
    """A pod, with what schedulers derive from it."""

    key: str
    pod: pod.Pod
    group: str | None
    """Key of the pod's PodGroup, or of the job of one made for it; None if it belongs to no job."""
    spec: PodSpec = field(init=False, compare=False, repr=False)
    """What the pod asks for; pods that ask for the same mostly share it."""
    pod_status: PodStatus = field(init=False, compare=False, repr=False)
    """Where the pod stands; pods that stand alike mostly share it."""
    node: str = field(init=False, compare=False)
    """The node it sits on, or empty."""
    namespace: str = field(init=False, compare=False)
    """The pod's namespace."""
    labels: dict[str, str] = field(init=False, compare=False)
    """The pod's labels."""
    priority: int = field(init=False, compare=False)
    """Volcano's task priority: 1 unless the pod or its annotation says otherwise."""
    pod_priority: int = field(init=False, compare=False)
    """spec.priority or 0: what victims are scored by."""
    role: str = field(init=False, compare=False)
    """The task-spec the pod was made from."""
    preemptable: bool = field(init=False, compare=False)
    """May be a victim at all; an unreadable mark means no."""
    best_effort: bool = field(init=False, compare=False)
    """Asks for nothing but a place."""

    def __post_init__(self) -> None:
        # Read here once: these are asked for by the million, and a pod's own fields are slow to reach.
        metadata, spec = self.pod.metadata, self.pod.spec
        annotations, labels, priority = metadata.annotations, metadata.labels, spec.priority
        stated = annotations.get("volcano.sh/task-priority")
        number = None if stated is None else _int32(stated)
        if number is None:
            number = 1 if priority is None else priority
        keep = object.__setattr__
        keep(self, "spec", spec)
        keep(self, "pod_status", self.pod.status)
        keep(self, "node", spec.node_name)
        keep(self, "namespace", metadata.namespace)
        keep(self, "labels", labels or _NO_LABELS)
        keep(self, "priority", number)
        keep(self, "pod_priority", priority or 0)
        keep(self, "role", annotations.get("volcano.sh/task-spec") or labels.get("volcano.sh/task-spec", ""))
        keep(self, "preemptable", _mark(annotations, labels, default=True))
        keep(self, "best_effort", resources.is_empty(self.requests))

    @property
    def name(self) -> str:
        """The pod's own name."""
        return self.pod.metadata.name

    @property
    def uid(self) -> str:
        """The last tie-break of upstream's orders."""
        return self.pod.metadata.uid

    @cached_property
    def status(self) -> Status:
        """Phase, node and deletion time read as one status."""
        phase, deleting = self.pod_status.phase, self.pod.metadata.deletion_timestamp is not None
        if phase == "Running":
            return Status.RELEASING if deleting else Status.RUNNING
        if phase in ("Pending", ""):
            if deleting:
                return Status.RELEASING
            return Status.BOUND if self.node else Status.PENDING
        return Status(phase)

    @cached_property
    def requests(self) -> Mapping[str, int]:
        """Request vector in Volcano's units; tasks that ask for the same mostly share it."""
        return volcano_requests(self.pod)

    @cached_property
    def kube_requests(self) -> dict[str, int]:
        """Request vector in kube-scheduler's units."""
        return kube_requests(self.pod)

    @cached_property
    def kube_nonzero_requests(self) -> dict[str, int]:
        """cpu and memory with stand-ins for containers that ask for none."""
        return kube_nonzero_requests(self.pod)

    @property
    def gated(self) -> bool:
        """Held back by a scheduling gate."""
        return bool(self.spec.scheduling_gates)

    @property
    def never_preempts(self) -> bool:
        """preemptionPolicy Never."""
        return self.spec.preemption_policy == "Never"


@dataclass(frozen=True)
class Node:
    """A node, with what it can give."""

    node: node.Node

    @property
    def name(self) -> str:
        """The node's name."""
        return self.node.metadata.name

    @property
    def labels(self) -> dict[str, str]:
        """The node's labels."""
        return self.node.metadata.labels

    @cached_property
    def allocatable(self) -> dict[str, int]:
        """Allocatable vector in Volcano's units."""
        return resources.from_quantities(self.node.status.allocatable)


@dataclass(frozen=True)
class Job:
    """A PodGroup and its tasks, or a pod on its own."""

    key: str
    group: groups.PodGroup
    tasks: tuple[str, ...]
    priority: int
    queue: str
    min_available: int = field(init=False, compare=False)
    """How many tasks must run together."""
    min_by_role: dict[str, int] = field(init=False, compare=False)
    """Minimum per role."""
    phase: str = field(init=False, compare=False)
    """PodGroup phase; empty counts as Pending."""

    def __post_init__(self) -> None:
        # As for tasks: read here once.
        spec, keep = self.group.spec, object.__setattr__
        keep(self, "min_available", spec.min_member)
        keep(self, "min_by_role", spec.min_task_member)
        keep(self, "phase", self.group.status.phase)

    @property
    def is_pending(self) -> bool:
        """Not yet let into the cycle."""
        return self.phase in ("", "Pending")

    @cached_property
    def min_resources(self) -> dict[str, int] | None:
        """spec.minResources, None if not stated."""
        stated = self.group.spec.min_resources
        return None if stated is None else resources.from_quantities(stated)

    @property
    def created(self) -> int:
        """Creation time; missing counts as the zero time."""
        return _created(self.group)

    @cached_property
    def preemptable(self) -> bool:
        """The job's own mark (tdm); default no."""
        return _mark(self.group.metadata.annotations, self.group.metadata.labels, default=False)


@dataclass(frozen=True)
class Queue:
    """A queue, its shares as vectors."""

    queue: groups.Queue

    @property
    def name(self) -> str:
        """The queue's name."""
        return self.queue.metadata.name

    @property
    def weight(self) -> int:
        """Share in proportion's water filling."""
        return self.queue.spec.weight

    @property
    def priority(self) -> int:
        """Higher is served first and reclaimed last."""
        return self.queue.spec.priority

    @property
    def parent(self) -> str:
        """Parent queue; empty means root where queues form a tree."""
        return self.queue.spec.parent

    @property
    def reclaimable(self) -> bool:
        """Others may take back what it borrows."""
        return self.queue.spec.reclaimable is not False

    @property
    def is_open(self) -> bool:
        """Takes new work; a queue without a state counts as Open."""
        return self.queue.status.state in ("", "Open")

    @property
    def created(self) -> int:
        """Creation time; missing counts as the zero time."""
        return _created(self.queue)

    @cached_property
    def capability(self) -> dict[str, int] | None:
        """Upper limit, None if not stated."""
        return _vector(self.queue.spec.capability)

    @cached_property
    def deserved(self) -> dict[str, int] | None:
        """Declared share, None if not stated."""
        return _vector(self.queue.spec.deserved)

    @cached_property
    def guarantee(self) -> dict[str, int] | None:
        """Reserved resources, None if not stated."""
        return _vector(self.queue.spec.guarantee.resource or None)


@dataclass(frozen=True, repr=False)
class Instance(Framed):
    """One cluster at one moment; mappings keep the order in which objects were given (the order of arrival)."""

    objects: tuple[Object, ...]
    nodes: Mapping[str, Node]
    tasks: Mapping[str, Task]
    jobs: Mapping[str, Job]
    queues: Mapping[str, Queue]
    priority_classes: Mapping[str, groups.PriorityClass]
    budgets: tuple[groups.PodDisruptionBudget, ...] = ()
    workload_groups: Mapping[str, groups.WorkloadPodGroup] = field(default_factory=dict)
    namespaces: Mapping[str, cluster.Namespace] = field(default_factory=dict)
    sharding: Sharding | None = None
    now: int | None = None
    conf: Mapping[str, Any] | None = None
    recipe: Mapping[str, Any] | None = None
    """How a generated instance was made."""
    node_usage: Mapping[str, NodeLoad] | None = None
    """Measured load by node; None if none was given."""
    what_if: tuple[Alteration, ...] = ()
    warnings: tuple[str, ...] = ()
    file: str | None = None

    _headline = headline_of_instance
    _tables = tables_of_instance

    @cached_property
    def clock(self) -> int:
        """`now`, or a year after the last moment that the instance mentions: pending pods have waited long by then."""
        if self.now is not None:
            return self.now
        metadata = [item.metadata for item in self.objects]
        stated = {one.creation_timestamp for one in metadata} | {one.deletion_timestamp for one in metadata}
        stated |= {task.pod_status.start_time for task in self.tasks.values()}
        return max((moment for moment in stated if moment is not None), default=0) + _YEAR

    def of_kind(self, shape: type[Any]) -> tuple[Any, ...]:
        """All objects of one shape, in order: volumes, claims, services and the like."""
        if shape not in self._shapes:
            return ()
        if shape not in self._by_shape:
            self._by_shape[shape] = tuple([item for item in self.objects if type(item) is shape])
        return self._by_shape[shape]

    @cached_property
    def tasks_by_node(self) -> dict[str, tuple[Task, ...]]:
        """Tasks that sit on each node and have not ended, in order of arrival."""
        by_node: dict[str, list[Task]] = {name: [] for name in self.nodes}
        for task in self.tasks.values():
            there = by_node.get(task.node)
            if there is not None and task.status not in ENDED:
                there.append(task)
        return {name: tuple(tasks) for name, tasks in by_node.items()}

    @cached_property
    def claim_owners(self) -> frozenset[str]:
        """The uids of those for whom a claim was made, whether or not they name one: no other is like them."""
        claims = self.of_kind(ResourceClaim)
        return frozenset([owner.uid for c in claims for owner in c.metadata.owner_references if owner.controller])

    @cached_property
    def found_out(self) -> dict[str, Any]:
        """What modules above have found out about it once, by their names."""
        return {}

    @cached_property
    def _shapes(self) -> frozenset[type[Any]]:
        """The shapes that there are: most of those asked for are not among them."""
        return frozenset(map(type, self.objects))

    @cached_property
    def _by_shape(self) -> dict[type[Any], tuple[Any, ...]]:
        """Objects of the shapes that were asked for so far."""
        return {}

    @cached_property
    def sha256(self) -> str:
        """Hash of the content, the same for every way of writing or making the same instance, and after a heartbeat."""
        known: dict[int, Any] = {}
        content = self._stated() | {"objects": [unversioned_dict(item, known) for item in self.objects]}
        content.pop("recipe", None)
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """The instance as JSON (`kind: Instance`): every field that was understood; loading it gives this again."""
        return self._stated() | {"objects": [object_dict(item) for item in self.objects]}

    def _stated(self) -> dict[str, Any]:
        content: dict[str, Any] = {"apiVersion": API_VERSION, "kind": "Instance"}
        if self.now is not None:
            content["now"] = timestamps.text(self.now)
        if self.sharding:
            shard = self.sharding
            content["sharding"] = {"mode": shard.mode, "nodes": sorted(shard.nodes), "name": shard.name}
        if self.node_usage is not None:
            content["nodeUsage"] = {name: asdict(load) for name, load in sorted(self.node_usage.items())}
        if self.conf is not None:
            content["conf"] = dict(self.conf)
        if self.recipe is not None:
            content["recipe"] = dict(self.recipe)
        return content


def _vector(stated: Mapping[str, str] | None) -> dict[str, int] | None:
    return None if stated is None else resources.from_quantities(stated)


def _created(item: Object) -> int:
    return item.metadata.creation_timestamp if item.metadata.creation_timestamp is not None else -(2**63)


def _mark(annotations: Mapping[str, str], labels: Mapping[str, str], *, default: bool) -> bool:
    text = annotations.get(PREEMPTABLE, labels.get(PREEMPTABLE))
    return default if text is None else text in _TRUE


def _int32(text: str) -> int | None:
    try:
        number = int(text)
    except ValueError:
        return None
    return number if -(2**31) <= number < 2**31 else None
