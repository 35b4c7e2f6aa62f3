"""What queues, PodGroups, sets and budgets count by themselves, against the pods of the input."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from cpsched import amounts, resources
from cpsched.completeness.origin import FREE_CAPACITY, WAS_IT_ALL
from cpsched.instance import Instance, Task
from cpsched.objects.cluster import ReplicaSet, StatefulSet
from cpsched.selectors import label_selector
from cpsched.workloads.expand import PODS_LACKING

MOST_NAMED = 3
ROOT = "root"
ENOUGH = 0.9
"""A queue is counted once a second: so much of it is there although some pods have just gone."""


def queues(instance: Instance) -> Iterator[tuple[str, str]]:
    """status.allocated is what running pods of the queue and of those below it request."""
    if not _is_counted_now(instance):
        return
    held = _held(instance)
    lines = []
    for name, queue in instance.queues.items():
        if name == ROOT:
            continue
        own, short = held.get(name, Counter()), list[str]()
        for resource, counted in resources.from_quantities(queue.queue.status.allocated).items():
            here = own.get(resource, 0)
            if counted * ENOUGH > here and resource != "pods":
                shown = amounts.exact(resource, here), amounts.exact(resource, counted)
                short.append(f"{shown[1]} {amounts.short(resource)}, of which pods of the input hold {shown[0]}")
        if short:
            lines.append(f"queue {name} counts {'; '.join(short[:2])}")
    yield from _missing(lines, "queues")


def _is_counted_now(instance: Instance) -> bool:
    """Whether Volcano has held a session since the last PodGroup was made: each session counts again."""
    statuses = [job.group.status for job in instance.jobs.values()]
    return all(status.conditions or status.phase not in ("", "Pending") for status in statuses)


def _held(instance: Instance) -> dict[str, Counter[str]]:
    """queue → what pods of its jobs hold, with those of the queues below it; a pod that ended may still be counted."""
    held: dict[str, Counter[str]] = {}
    for job in instance.jobs.values():
        total: Counter[str] = Counter()
        for key in job.tasks:
            task = instance.tasks[key]
            if task.node:
                total.update(task.requests)
        seen: set[str] = set()
        name = job.queue
        while name and name not in seen:
            seen.add(name)
            held.setdefault(name, Counter()).update(total)
            name = instance.queues[name].parent if name in instance.queues else ""
    return held


def pod_groups(instance: Instance) -> Iterator[tuple[str, str]]:
    """status.running counts pods; of those that have ended some may be gone."""
    lines = []
    for job in instance.jobs.values():
        counted, here = job.group.status.running, len(job.tasks)
        if counted > here and job.phase != "Completed":
            lines.append(f"PodGroup {job.group.key} counts {counted} running pods, the input has {here} of it")
    yield from _missing(lines, "PodGroups")


def controllers(instance: Instance) -> Iterator[tuple[str, str]]:
    """status.replicas of a ReplicaSet or StatefulSet counts pods that have not ended; of others all may be missing."""
    owned = Counter(
        owner.uid
        for task in instance.tasks.values()
        for owner in task.pod.metadata.owner_references
        if owner.controller
    )
    without_any: dict[str, int] = dict(instance.found_out.get(PODS_LACKING, ()))
    lines, counted, missing = [], 0, 0
    for shape in (ReplicaSet, StatefulSet):
        for one in instance.of_kind(shape):
            here, replicas = owned[one.metadata.uid], one.status.replicas
            without_any.pop(f"{shape.__name__} {one.key}", None)
            counted += replicas
            if replicas > here:
                missing += replicas - here
                lines.append(f"{shape.__name__} {one.key} counts {replicas} pods, the input has {here} of it")
    for title, pods in without_any.items():
        counted, missing = counted + pods, missing + pods
        lines.append(f"{title} counts {pods} pods, the input has 0 of it")
    # Objects are listed one kind after the other: a set may have made a pod or two in between.
    if missing > 2 and missing * 20 > counted:
        yield from _missing(lines, "sets")


def budgets(instance: Instance) -> Iterator[tuple[str, str]]:
    """status.currentHealthy counts pods that the budget selects."""
    by_namespace: dict[str, list[Task]] = {}
    for task in instance.tasks.values():
        by_namespace.setdefault(task.namespace, []).append(task)
    lines = []
    for budget in instance.budgets:
        selector = label_selector(budget.spec.selector)
        here = sum(selector.matches(task.labels) for task in by_namespace.get(budget.metadata.namespace, ()))
        counted = budget.status.current_healthy
        if counted > here + 1:
            lines.append(
                f"PodDisruptionBudget {budget.key} counts {counted} healthy pods, the input has {here} of them"
            )
    yield from _missing(lines, "budgets")


def _missing(lines: list[str], kind: str) -> Iterator[tuple[str, str]]:
    """All of one kind as one sentence."""
    if lines:
        shown = "; ".join(lines[:MOST_NAMED])
        more = f"; {len(lines) - MOST_NAMED} more {kind} like that" if len(lines) > MOST_NAMED else ""
        yield FREE_CAPACITY, f"{shown}{more}: pods are missing; {WAS_IT_ALL}"
