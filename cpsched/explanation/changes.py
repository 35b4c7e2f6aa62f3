"""Changes to a cluster, small enough to be advice: each makes a new instance out of an old one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from cpsched.amounts import exact, shown
from cpsched.instance import Instance, Job, Node, Queue
from cpsched.objects.base import Object

Kind = Literal["queue", "gang", "eviction", "capacity", "nodes"]


@dataclass(frozen=True)
class Change:
    """One change: to which object, what, and how much."""

    kind: Kind
    subject: str
    """queue: a queue. gang: a job. eviction: a task. capacity, nodes: a node."""
    amount: int = 0
    """queue: the new amount. gang: the new minimum. capacity: what is added. nodes: how many like it are added."""
    resource: str = ""
    part: str = ""
    """queue: capability, deserved or guarantee."""
    text: str = ""


def applied(instance: Instance, changes: Sequence[Change]) -> Instance:
    """The instance after the changes."""
    for change in changes:
        instance = APPLY[change.kind](instance, change)
    return instance


def _queue(instance: Instance, change: Change) -> Instance:
    old = instance.queues[change.subject].queue
    amount = exact(change.resource, change.amount)
    if change.part == "guarantee":
        guaranteed = old.spec.guarantee.resource | {change.resource: amount}
        update: dict[str, object] = {"guarantee": old.spec.guarantee.model_copy(update={"resource": guaranteed})}
    else:
        update = {change.part: (getattr(old.spec, change.part) or {}) | {change.resource: amount}}
    new = old.model_copy(update={"spec": old.spec.model_copy(update=update)})
    return replace(
        instance, objects=_swapped(instance, old, new), queues={**instance.queues, change.subject: Queue(new)}
    )


def _gang(instance: Instance, change: Change) -> Instance:
    job = instance.jobs[change.subject]
    spec = job.group.spec.model_copy(update={"min_member": change.amount})
    group = job.group.model_copy(update={"spec": spec})
    objects = _swapped(instance, job.group, group)
    return replace(instance, objects=objects, jobs={**instance.jobs, job.key: replace(job, group=group)})


def _eviction(instance: Instance, change: Change) -> Instance:
    task = instance.tasks[change.subject]
    jobs: dict[str, Job] = dict(instance.jobs)
    if task.group in jobs:
        left = tuple(key for key in jobs[task.group].tasks if key != task.key)
        jobs[task.group] = replace(jobs[task.group], tasks=left)
        if not left and not any(_same(item, jobs[task.group].group) for item in instance.objects):
            del jobs[task.group]
    return replace(
        instance,
        objects=tuple(item for item in instance.objects if not _same(item, task.pod)),
        tasks={key: one for key, one in instance.tasks.items() if key != task.key},
        jobs=jobs,
    )


def _capacity(instance: Instance, change: Change) -> Instance:
    old = instance.nodes[change.subject]
    amount = old.allocatable.get(change.resource, 0) + change.amount
    allocatable = old.node.status.allocatable | {change.resource: exact(change.resource, amount)}
    new = old.node.model_copy(update={"status": old.node.status.model_copy(update={"allocatable": allocatable})})
    return replace(
        instance, objects=_swapped(instance, old.node, new), nodes={**instance.nodes, change.subject: Node(new)}
    )


def _nodes(instance: Instance, change: Change) -> Instance:
    pattern = instance.nodes[change.subject].node
    nodes = dict(instance.nodes)
    objects = list(instance.objects)
    for number in range(1, change.amount + 1):
        name = f"{change.subject}-new-{number}"
        hostname = {"kubernetes.io/hostname": name} if "kubernetes.io/hostname" in pattern.metadata.labels else {}
        labels = pattern.metadata.labels | hostname
        metadata = pattern.metadata.model_copy(update={"name": name, "uid": name, "labels": labels})
        new = pattern.model_copy(update={"metadata": metadata})
        nodes[name] = Node(new)
        objects.append(new)
    return replace(instance, objects=tuple(objects), nodes=nodes)


APPLY: Mapping[Kind, Callable[[Instance, Change], Instance]] = {
    "queue": _queue,
    "gang": _gang,
    "eviction": _eviction,
    "capacity": _capacity,
    "nodes": _nodes,
}


def _swapped(instance: Instance, old: Object, new: Object) -> tuple[Object, ...]:
    """The objects with the new one for the old; a queue that was only implied comes to be stated."""
    found = tuple(new if _same(item, old) else item for item in instance.objects)
    return found if new in found else (*found, new)


def _same(one: Object, other: Object) -> bool:
    return type(one) is type(other) and one.key == other.key


def raised(queue: str, part: str, resource: str, before: float | None, amount: int) -> Change:
    """A queue's share or limit, raised."""
    was = "not stated" if before is None else shown(resource, before)
    more = "" if before is None else f"+{shown(resource, amount - before)} {resource}: "
    text = f"queue {queue}: {more}{part} of {resource} {was} → {shown(resource, amount)}"
    return Change("queue", queue, amount, resource, part, text)


def lowered(job: str, before: int, amount: int) -> Change:
    """A gang's minimum, lowered."""
    return Change("gang", job, amount, text=f"{job}: minAvailable {before} → {amount}")


def added(node: str, alike: int, resource: str, amount: int, what: str = "") -> Change:
    """More of a resource on one node."""
    like = f", or on another of {alike} nodes like it" if alike > 1 else ""
    text = f"+{shown(resource, amount)} {resource} on node {node}{what}{like}"
    return Change("capacity", node, amount, resource, text=text)


def cloned(node: str, amount: int, what: str = "") -> Change:
    """More nodes like one."""
    return Change("nodes", node, amount, text=f"{amount} more node{'s' * (amount > 1)} like {node}{what}")
