"""What can be changed by degrees: a queue's share, a gang's minimum, a node's size, the number of nodes."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from cpsched.explanation.changes import added, cloned, lowered, raised
from cpsched.explanation.trial import Lever, Trial
from cpsched.snapshot import Snapshot

HOSTNAME = "kubernetes.io/hostname"


def gang_levers(trial: Trial) -> list[Lever]:
    """The job's minimum, down to one task more than are at work."""
    job = trial.snapshot.jobs[trial.goal.job]
    steps = job.min_available - (job.ready + 1)
    if trial.policy.is_kube or trial.goal.task is not None or steps < 1:
        return []
    return [Lever(lambda n: lowered(job.key, job.min_available, job.min_available - n), steps)]


def queue_levers(trial: Trial) -> Iterator[list[Lever]]:
    """Ways to give the job's queue more: its limits, its share, its guarantee, all of them."""
    snapshot = trial.snapshot
    queue = snapshot.jobs[trial.goal.job].queue
    if queue is None or queue not in snapshot.shares or not snapshot.policy.limits_queues:
        return
    parts = ["capability", "guarantee"]
    if snapshot.policy.share_plugin == "capacity":
        parts.insert(1, "deserved")
    ways = []
    for part in parts:
        line = (queue, *reversed(snapshot.shares[queue].ancestors)) if part == "capability" else (queue,)
        levers = [one for name in line for one in _queue_levers(trial, name, part)]
        if levers:
            ways.append(levers)
            yield levers
    if len(ways) > 1:
        yield [lever for way in ways for lever in way]


def _queue_levers(trial: Trial, queue: str, part: str) -> Iterator[Lever]:
    share, stated = trial.snapshot.shares[queue], getattr(trial.snapshot.instance.queues[queue], part)
    for resource, amount in asked(trial).items():
        before = None if stated is None else stated.get(resource)
        # A limit that is not stated is none, and stating one gives nothing.
        if resource == "pods" or (part == "capability" and not before):
            continue
        unit = unit_of(trial.snapshot, resource)
        start = int(before or 0) // unit
        most = -(-(int(share.allocated.get(resource, 0)) + amount) // unit) - start
        if most > 0:
            yield _raising(queue, part, resource, before, start, unit, most)


def _raising(queue: str, part: str, resource: str, before: float | None, start: int, unit: int, most: int) -> Lever:
    return Lever(lambda n: raised(queue, part, resource, before, (start + n) * unit), most)


def node_levers(trial: Trial) -> Iterator[Lever]:
    """More nodes, one lever per class of node."""
    most = max(1, len(trial.snapshot.jobs[trial.goal.job].pending))
    for node in node_classes(trial.snapshot):
        yield _cloning(node, described(trial.snapshot, node), most)


def _cloning(node: str, what: str, most: int) -> Lever:
    return Lever(lambda n: cloned(node, n, what), most)


def size_levers(trial: Trial, resource: str) -> Iterator[Lever]:
    """More of a resource on a node, one lever per kind of node, those with most room first."""
    snapshot, unit = trial.snapshot, unit_of(trial.snapshot, resource)
    steps = -(-asked(trial)[resource] // unit)
    for node, alike in _kinds_by_room(snapshot, resource):
        short = -(-max(0, -int(snapshot.future_idle[node].get(resource, 0))) // unit)
        yield _growing(node, alike, resource, described(snapshot, node), unit, steps + short)


def _growing(node: str, alike: int, resource: str, what: str, unit: int, most: int) -> Lever:
    return Lever(lambda n: added(node, alike, resource, n * unit, what), most)


def asked(trial: Trial) -> dict[str, int]:
    """What the job's pending tasks ask for together, or what its PodGroup says it needs at least if that is more."""
    job = trial.snapshot.jobs[trial.goal.job]
    total: dict[str, int] = {}
    for task in job.pending:
        for name, amount in task.requests.items():
            total[name] = total.get(name, 0) + amount
    for name, amount in (job.min_resources or {}).items():
        total[name] = max(total.get(name, 0), amount)
    return {name: amount for name, amount in sorted(total.items()) if amount > 0}


def unit_of(snapshot: Snapshot, resource: str) -> int:
    """The steps in which a resource is counted: every request and every node's size is a multiple."""
    instance = snapshot.instance
    requests = (task.requests.get(resource, 0) for task in instance.tasks.values())
    sizes = (node.allocatable.get(resource, 0) for node in instance.nodes.values())
    return gcd(*requests, *sizes) or 1


def node_classes(snapshot: Snapshot) -> list[str]:
    """One node of every class: alike in size, labels (but the hostname), taints and cordon."""
    return [names[0] for names in _alike(snapshot, with_pods=False)]


def described(snapshot: Snapshot, node: str) -> str:
    """The node's class, if it carries the usual label."""
    name = snapshot.instance.nodes[node].labels.get("node.kubernetes.io/instance-type")
    return f" (class {name})" if name else ""


def _kinds_by_room(snapshot: Snapshot, resource: str) -> list[tuple[str, int]]:
    """One node of every kind, alike in all that counts, with how many there are; most room first."""
    kinds = _alike(snapshot, with_pods=True)
    kinds.sort(key=lambda names: -snapshot.future_idle[names[0]].get(resource, 0))
    return [(names[0], len(names)) for names in kinds]


def _alike(snapshot: Snapshot, *, with_pods: bool) -> list[list[str]]:
    found: dict[object, list[str]] = {}
    for name, node in snapshot.instance.nodes.items():
        labels = tuple(sorted(item for item in node.labels.items() if item[0] != HOSTNAME))
        key: tuple[object, ...] = (tuple(sorted(node.allocatable.items())), labels, node.node.spec.model_dump_json())
        if with_pods:
            tasks = snapshot.instance.tasks_by_node[name]
            key += (tuple(sorted((repr(task.group), repr(sorted(task.requests.items()))) for task in tasks)),)
        found.setdefault(key, []).append(name)
    return list(found.values())
