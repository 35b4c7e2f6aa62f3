"""The compact form (`kind: Instance`): a short way of writing the same Kubernetes objects, expanded into them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WithJsonSchema, model_validator

from cpsched import timestamps
from cpsched.errors import InputError
from cpsched.importers.compact_pod import TASK_FIELDS, pod_object, replicas_of
from cpsched.importers.kubernetes import input_error, without_nulls
from cpsched.importers.sizes import MOST_MADE, check_size
from cpsched.objects.base import INT32_MAX, Items, Quantities, Quantity, Time

Raw = dict[str, Any]
Name = Annotated[str, Field(min_length=1)]
Task = Annotated[Raw, WithJsonSchema({"type": "object", "propertyNames": {"enum": sorted(TASK_FIELDS)}})]


class Compact(BaseModel):
    """A part of the compact form; a misspelt field is an error."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class CompactNode(Compact):
    """`replicas: 3` with name n makes n-0, n-1, n-2; each gets its own hostname label."""

    name: Name
    replicas: int | None = Field(None, ge=0, le=MOST_MADE)
    allocatable: Quantities = {}
    capacity: Quantities = {}
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    taints: Items[Raw] = ()
    unschedulable: bool = False
    images: Items[Raw] = ()


class CompactQueue(Compact):
    """Spec fields of a Queue, with its state beside them."""

    name: Name
    weight: int = 1
    capability: Quantities | None = None
    deserved: Quantities | None = None
    guarantee: Quantities | None = None
    reclaimable: bool | None = None
    priority: int = 0
    parent: str = ""
    affinity: Raw | None = None
    state: Literal["Open", "Closed", "Closing", "Unknown"] = "Open"
    annotations: dict[str, str] = {}
    creationTimestamp: Time | None = None


class CompactPriorityClass(Compact):
    """A PriorityClass."""

    name: Name
    value: int
    globalDefault: bool = False
    preemptionPolicy: str = ""


def _class_list(value: object) -> object:
    return [{"name": name, "value": number} for name, number in value.items()] if isinstance(value, dict) else value


PriorityClasses = Annotated[
    Items[CompactPriorityClass],
    BeforeValidator(_class_list, json_schema_input_type=Items[CompactPriorityClass] | dict[Name, int]),
]
"""A list, or shorter a mapping of name to value."""


class CompactBudget(Compact):
    """A PodDisruptionBudget: whom it covers and how many disruptions it still allows."""

    name: Name
    namespace: str = "default"
    selector: Raw
    disruptionsAllowed: int = 0
    disruptedPods: Items[str] = ()


class CompactTopology(Compact):
    """How near to each other pods are to run."""

    mode: Literal["hard", "soft", ""] = "hard"
    highestTierAllowed: int | None = None
    highestTierName: str | None = None


class CompactSubGroups(Compact):
    """Pods of a job that belong together, one sub-group per combination of the labels' values."""

    name: Name
    labelSelector: Raw | None = None
    matchLabelKeys: Items[str] = ()
    subGroupSize: int | None = None
    minSubGroups: int | None = None
    networkTopology: CompactTopology | None = None


class CompactHyperNode(Compact):
    """A HyperNode: nodes and other HyperNodes by name, or `members` as in the object."""

    name: Name
    tier: int = Field(ge=0, le=INT32_MAX)
    tierName: str = ""
    nodes: Items[Name] = ()
    hyperNodes: Items[Name] = ()
    members: Items[Raw] = ()


class CompactJob(Compact):
    """A PodGroup with its tasks; minMember defaults to all of them."""

    name: Name
    namespace: str = "default"
    queue: str = ""
    minMember: int | None = Field(None, ge=0)
    # As in Metadata: there are many jobs, and an empty mapping is made faster than copied.
    minTaskMember: dict[str, int] = Field(default_factory=dict)
    minResources: dict[str, Quantity] | None = None
    networkTopology: CompactTopology | None = None
    subGroupPolicy: Items[CompactSubGroups] = ()
    priorityClassName: str = ""
    phase: Literal["Pending", "Inqueue", "Running", "Unknown", "Completed", ""] | None = None
    labels: dict[str, str] = Field(default_factory=dict)
    annotations: dict[str, str] = Field(default_factory=dict)
    creationTimestamp: Time | None = None
    tasks: Items[Task] = ()


class CompactSharding(Compact):
    """Node sharding; the field names of the shard CRD are understood too."""

    mode: Literal["none", "soft", "hard"] = "none"
    nodes: Items[str] = ()
    name: str = ""

    @model_validator(mode="before")
    @classmethod
    def _upstream_names(cls, data: Any) -> Any:
        names = {"sharding_mode": "mode", "nodes_in_shard": "nodes", "shard_name": "name"}
        return {names.get(key, key): value for key, value in data.items()} if isinstance(data, Mapping) else data


class CompactLoad(Compact):
    """What was measured on a node."""

    cpu: float = Field(0.0, ge=0, allow_inf_nan=False, description="percent of its cpu")
    memory: float = Field(0.0, ge=0, allow_inf_nan=False, description="percent of its memory")
    age: float = Field(0.0, ge=0, allow_inf_nan=False, description="seconds since it was measured")


class CompactInstance(Compact):
    """The whole compact form; `objects` may add any further Kubernetes objects."""

    apiVersion: Literal["cpsched/v1"] = "cpsched/v1"
    kind: Literal["Instance"] = "Instance"
    name: str = ""
    description: str = ""
    now: Time | None = None
    nodes: Items[CompactNode] = ()
    queues: Items[CompactQueue] = ()
    priorityClasses: PriorityClasses = ()
    jobs: Items[CompactJob] = ()
    running: dict[str, str] = Field({}, description="task id → node, for tasks that already run")
    budgets: Items[CompactBudget] = ()
    hyperNodes: Items[CompactHyperNode] = ()
    sharding: CompactSharding | None = None
    nodeUsage: dict[str, CompactLoad] | None = Field(None, description="node → the load that was measured on it")
    conf: Raw | None = None
    objects: Items[Raw] = ()
    recipe: Raw | None = Field(None, description="how a generated instance was made: family, parameters, seed, version")


def parse(data: Mapping[str, Any], file: str) -> CompactInstance:
    """Validate the compact form."""
    stated = without_nulls({key: value for key, value in data.items() if key != "objects"})
    if data.get("objects") is not None:
        # Objects keep their nulls here, as they do outside an Instance: disruptedPods has names without a time.
        stated["objects"] = data["objects"]
    try:
        return CompactInstance.model_validate(stated)
    except ValidationError as error:
        raise input_error(error, file=file, place=None) from None


def expand(compact: CompactInstance, file: str) -> Iterator[tuple[str, Raw]]:
    """(place, Kubernetes object) for everything the compact form says in its own words; `objects` are such already."""
    check_size(_templates(compact, file), file)
    for node in compact.nodes:
        yield from _nodes(node)
    for queue in compact.queues:
        yield f"queue {queue.name}", _queue(queue)
    for one in compact.priorityClasses:
        yield f"priorityClass {one.name}", _priority_class(one)
    placed: set[str] = set()
    for job in compact.jobs:
        yield from _job(job, compact.running, placed, file)
    if unknown := sorted(set(compact.running) - placed):
        raise InputError(f"no task has the id {unknown[0]}", file=file, place="running", right="ids are job/task-index")
    for budget in compact.budgets:
        yield f"budget {budget.name}", _budget(budget)
    for hyper_node in compact.hyperNodes:
        yield f"hyperNode {hyper_node.name}", _hyper_node(hyper_node)


def _templates(compact: CompactInstance, file: str) -> Iterator[tuple[int, Any]]:
    """How many nodes or pods each part makes, and what each of them carries."""
    for node in compact.nodes:
        yield node.replicas or 1, node.__dict__
    for job in compact.jobs:
        for index, task in enumerate(job.tasks):
            own = {key: value for key, value in task.items() if key != "running"}
            replicas = replicas_of(task, file, f"job {job.name} tasks[{index}]")
            yield replicas, [job.name, job.namespace, job.priorityClassName, own]


def _nodes(node: CompactNode) -> Iterator[tuple[str, Raw]]:
    names = [node.name] if node.replicas is None else [f"{node.name}-{index}" for index in range(node.replicas)]
    for name in names:
        labels = {"kubernetes.io/hostname": name, **node.labels}
        spec = {"unschedulable": node.unschedulable, "taints": list(node.taints)}
        status = {"allocatable": dict(node.allocatable), "images": list(node.images)}
        if node.capacity:
            status["capacity"] = dict(node.capacity)
        metadata: Raw = {"name": name, "labels": labels}
        if node.annotations:
            metadata["annotations"] = node.annotations
        yield (
            f"node {name}",
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": metadata,
                "spec": spec,
                "status": status,
            },
        )


def _queue(queue: CompactQueue) -> Raw:
    spec = queue.model_dump(
        mode="json",
        include={"weight", "capability", "deserved", "reclaimable", "priority", "parent", "affinity"},
        exclude_none=True,
    )
    if queue.guarantee is not None:
        spec["guarantee"] = {"resource": dict(queue.guarantee)}
    metadata = queue.model_dump(mode="json", include={"name", "annotations", "creationTimestamp"}, exclude_none=True)
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": metadata,
        "spec": spec,
        "status": {"state": queue.state},
    }


def _priority_class(item: CompactPriorityClass) -> Raw:
    fields = item.model_dump(exclude={"name"}, exclude_defaults=True)
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": item.name}, **fields}


def _budget(budget: CompactBudget) -> Raw:
    status = {
        "disruptionsAllowed": budget.disruptionsAllowed,
        "disruptedPods": dict.fromkeys(budget.disruptedPods, "1970-01-01T00:00:00Z"),
    }
    metadata = {"name": budget.name, "namespace": budget.namespace}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata,
        "spec": {"selector": budget.selector},
        "status": status,
    }


def _hyper_node(stated: CompactHyperNode) -> Raw:
    named = [("Node", name) for name in stated.nodes] + [("HyperNode", name) for name in stated.hyperNodes]
    members = [{"type": kind, "selector": {"exactMatch": {"name": name}}} for kind, name in named]
    spec: Raw = {"tier": stated.tier, "members": [*members, *stated.members]}
    if stated.tierName:
        spec["tierName"] = stated.tierName
    return {
        "apiVersion": "topology.volcano.sh/v1alpha1",
        "kind": "HyperNode",
        "metadata": {"name": stated.name},
        "spec": spec,
    }


def _job(job: CompactJob, running: Mapping[str, str], placed: set[str], file: str) -> Iterator[tuple[str, Raw]]:
    pods = [pod for index, task in enumerate(job.tasks) for pod in pod_object(job, index, task, running, file)]
    placed.update(task_id for task_id, _ in pods)
    spec: Raw = {
        "minMember": len(pods) if job.minMember is None else job.minMember,
        "minTaskMember": job.minTaskMember,
        "queue": job.queue,
    }
    spec["priorityClassName"] = job.priorityClassName
    if job.minResources is not None:
        spec["minResources"] = dict(job.minResources)
    if job.networkTopology is not None:
        spec["networkTopology"] = job.networkTopology.model_dump(mode="json", exclude_none=True)
    if job.subGroupPolicy:
        spec["subGroupPolicy"] = [one.model_dump(mode="json", exclude_none=True) for one in job.subGroupPolicy]
    phase = job.phase
    if phase is None:
        at_work = sum(bool(pod["spec"].get("nodeName")) for _, pod in pods)
        phase = "Running" if pods and at_work >= spec["minMember"] and at_work else "Inqueue"
    metadata: Raw = {"name": job.name, "namespace": job.namespace, "labels": job.labels, "annotations": job.annotations}
    if job.creationTimestamp is not None:
        metadata["creationTimestamp"] = timestamps.text(job.creationTimestamp)
    group = {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": metadata,
        "spec": spec,
        "status": {"phase": phase},
    }
    yield f"job {job.name}", group
    for task_id, pod in pods:
        yield f"task {task_id}", pod
