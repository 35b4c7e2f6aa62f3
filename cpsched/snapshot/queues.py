"""What queues use and what they are due when a session opens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from cpsched.instance import HOLDS_ROOM, PENDING, Instance
from cpsched.policy import Policy
from cpsched.resources import Vector, add, total_of
from cpsched.shares import (
    Exact,
    NotReady,
    QueueDemand,
    QueueShare,
    capacity_flat,
    capacity_hierarchical,
    exact_proportion,
)
from cpsched.snapshot.jobs import SessionJob

Amount = TypeVar("Amount", int, float)
QUEUE_GATE = "scheduling.volcano.sh/queue-allocation-gate"


def queue_shares(
    instance: Instance, policy: Policy, jobs: Mapping[str, SessionJob]
) -> Mapping[str, QueueShare[Exact]] | NotReady:
    """Deserved shares and limits by the configured share plugin, exact; empty without one."""
    if policy.share_plugin is None:
        return {}
    demands = queue_demands(instance, jobs)
    total = cluster_total(instance)
    if policy.share_plugin == "proportion":
        return exact_proportion(total, demands)
    if policy.enabled("capacity", "enableHierarchy"):
        return capacity_hierarchical(total, demands)
    return capacity_flat(total, demands)


def cluster_total(instance: Instance) -> dict[str, int]:
    """Everything the nodes can give."""
    return _sum(node.allocatable for node in instance.nodes.values())


def queue_demands(instance: Instance, jobs: Mapping[str, SessionJob]) -> list[QueueDemand]:
    """Each queue with what its jobs hold, ask for, and were promised on entering."""
    by_queue: dict[str, list[SessionJob]] = {name: [] for name in instance.queues}
    for job in jobs.values():
        if job.queue in by_queue:
            by_queue[job.queue].append(job)
    demands = []
    for name, members in by_queue.items():
        queue = instance.queues[name]
        tasks = [task for job in members for task in job.tasks]
        allocated = total_of([task.requests for task in tasks if task.status in HOLDS_ROOM])
        stating = [job for job in members if job.min_resources is not None]
        waiting = total_of([task.requests for task in tasks if task.status is PENDING])
        demands.append(
            QueueDemand(
                name=name,
                weight=queue.weight,
                priority=queue.priority,
                capability=queue.capability,
                deserved=queue.deserved,
                guarantee=queue.guarantee,
                parent=queue.parent or None,
                allocated=allocated,
                request=add(allocated, waiting),
                inqueue=_sum(map(promised, stating)),
                elastic=_beyond_minima(allocated, stating),
                has_jobs=bool(members),
            )
        )
    return demands


def held(job: SessionJob) -> Mapping[str, int]:
    """What the job's tasks hold now."""
    if not job.holding:
        return {}
    requests = [task.requests for task in job.tasks if task.status in HOLDS_ROOM]
    return requests[0] if len(requests) == 1 else _sum(requests)


def _beyond_minima(allocated: Vector, stating: Iterable[SessionJob]) -> dict[str, float]:
    """What jobs hold beyond their minima, given what they hold: less by what those that state one hold within it."""
    beyond = dict(allocated)
    for job in stating:
        over = elastic(job)
        for name, amount in held(job).items():
            beyond[name] -= amount - over.get(name, 0)
    return {name: amount for name, amount in beyond.items() if amount}


def elastic(job: SessionJob) -> Mapping[str, int]:
    """What the job holds beyond its stated minimum (`GetElasticResources`)."""
    own, minimum = held(job), job.min_resources or {}
    return {name: amount - minimum.get(name, 0) for name, amount in own.items() if amount > minimum.get(name, 0)}


def promised(job: SessionJob) -> dict[str, float]:
    """What a job let in earlier may still come to hold: its minimum less what it has."""
    if job.min_resources is None:
        return {}
    if job.phase == "Inqueue" or (job.phase == "Running" and job.holding >= job.min_available):
        own = held(job)
        left = {name: max(0, amount - own.get(name, 0)) for name, amount in job.min_resources.items()}
        return without_gated(job, left)
    return {}


def without_gated(job: SessionJob, amounts: Vector) -> dict[str, float]:
    """The amounts less what gated tasks ask for, never below zero (`DeductSchGatedResources`)."""
    gated = _sum(
        task.requests
        for task in job.tasks
        if task.gated and [gate.name for gate in task.pod.spec.scheduling_gates] != [QUEUE_GATE]
    )
    return {name: max(0, amount - gated.get(name, 0)) for name, amount in amounts.items()}


def _sum(vectors: Iterable[Mapping[str, Amount]]) -> dict[str, Amount]:
    total: dict[str, Amount] = {}
    for vector in vectors:
        for name, amount in vector.items():
            total[name] = total.get(name, 0) + amount
    return total
