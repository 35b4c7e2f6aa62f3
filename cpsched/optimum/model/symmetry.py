"""Symmetry: which pending tasks and which jobs are interchangeable, and the unit of every resource."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from math import gcd
from operator import attrgetter

from cpsched.instance import Task
from cpsched.optimum.model.classes import Classes, JobClass, TaskClass
from cpsched.optimum.model.features import FeatureIds, sorted_items
from cpsched.optimum.model.victims import victim_classes
from cpsched.policy.policy import GANG_ACTIONS
from cpsched.snapshot import SessionJob, Snapshot
from cpsched.snapshot.enqueue import decisive_limits, promise, stated_minimum

Counts = tuple[tuple[int, int], ...]
"""How many tasks of each class."""


def build_classes(snapshot: Snapshot, *, presolve: bool = True) -> Classes:
    """Aggregate the pending tasks of jobs that take part, and the tasks that one of them may evict."""
    waiting = [job for job in snapshot.jobs.values() if job.pending and snapshot.takes_part(job)]
    waiting.sort(key=attrgetter("key"))
    tasks = _task_classes(snapshot, waiting)
    victims = victim_classes(snapshot, tasks, presolve=presolve)
    return Classes(tasks, _job_classes(snapshot, waiting, tasks), victims, _units(snapshot))


def _task_classes(snapshot: Snapshot, waiting: Iterable[SessionJob]) -> tuple[TaskClass, ...]:
    members: dict[Hashable, list[Task]] = {}
    known: dict[int, list[Task]] = {}
    features, identical_of = FeatureIds(), snapshot.identities
    for job in waiting:
        for task in job.pending:
            identical = identical_of[task.key]
            if identical not in known:
                whole = (job_features(snapshot, job), task_features(snapshot, job, task, features))
                known[identical] = members.setdefault(whole, [])
            known[identical].append(task)
    found: list[TaskClass] = []
    job_of = snapshot.job_by_task
    for tasks in members.values():
        tasks.sort(key=attrgetter("key"))
        owners = tuple(dict.fromkeys([job_of[task.key].key for task in tasks]))
        nodes = _allowed_nodes(snapshot, tasks[0])
        bind, reserve = _allowed_kinds(snapshot, tasks[0])
        found.append(TaskClass(len(found), tuple(tasks), owners, nodes, bind, reserve))
    return tuple(found)


def job_features(snapshot: Snapshot, job: SessionJob) -> Hashable:
    """What a rule or a level can tell the tasks of two jobs apart by, however equal they are."""
    stands_alone = job.key in snapshot.apart or job.holding > 0 or job.is_shaped
    return job.queue, job.priority, snapshot.is_starving(job), job.key if stands_alone else None


def task_features(snapshot: Snapshot, job: SessionJob, task: Task, features: FeatureIds) -> Hashable:
    """What a rule or a level can tell two tasks of jobs that are no different apart by."""
    placement = features.placement(task.pod.spec)
    owners = task.pod.metadata.owner_references
    return (
        features.requests(task.requests),
        placement,
        task.priority,
        task.role if job.min_by_role else None,
        task.namespace,
        frozenset(task.labels.items()) if task.labels else None,
        task.key if placement in features.private or task.uid in snapshot.instance.claim_owners else None,
        owners if owners and snapshot.predicates.has_default_spread(task) else None,
        snapshot.mark(task),
    )


def _job_classes(
    snapshot: Snapshot, waiting: Iterable[SessionJob], tasks: tuple[TaskClass, ...]
) -> tuple[JobClass, ...]:
    counts: dict[str, Counts] = {}
    job_of, identical_of = snapshot.job_by_task, snapshot.identities
    for one in tasks:
        alone = len(one.jobs) == len(one.tasks)
        sizes = dict.fromkeys(one.jobs, 1) if alone else Counter([job_of[task.key].key for task in one.tasks])
        only = {count: ((one.index, count),) for count in set(sizes.values())}
        for job, count in sizes.items():
            counts[job] = counts[job] + only[count] if job in counts else only[count]
    members: dict[Hashable, list[str]] = {}
    known: dict[int, list[str]] = {}
    for owner in waiting:
        identical = identical_of[owner.tasks[0].key]
        mine = known.get(identical)
        if mine is None:
            mine = members.setdefault(_job_key(snapshot, owner, counts[owner.key]), [])
            if len(owner.tasks) == 1 and not (owner.is_pending or owner.min_by_role):
                known[identical] = mine
        mine.append(owner.key)
    return tuple(
        JobClass(index, tuple(keys), snapshot.jobs[keys[0]], dict(counts[keys[0]]))
        for index, keys in enumerate(members.values())
    )


def _job_key(snapshot: Snapshot, job: SessionJob, counts: Counts) -> Hashable:
    """What tells jobs apart, beyond the classes of their tasks, which know queue, priority and who starves.

    Only gangs of one kind of task, all of them pending, are merged.
    """
    if len(counts) != 1 or len(job.tasks) != counts[0][1] or job.roles_count:
        return job.key
    limits = () if not job.is_pending else (sorted_items(stated_minimum(job)), repr(decisive_limits(snapshot, job)))
    return (
        counts,
        job.min_available,
        job.phase,
        job.is_below_minimum,
        sorted_items(promise(job)) if job.min_resources else (),
        limits,
    )


def _allowed_nodes(snapshot: Snapshot, task: Task) -> tuple[str, ...]:
    queue = snapshot.queue_of(task)
    if snapshot.nearness.is_barred(snapshot.job_key(task)):
        return ()
    if not task.best_effort and (
        snapshot.shares_refused or (queue and snapshot.policy.limits_queues and not queue.is_open)
    ):
        return ()
    refused, barred = snapshot.predicates.refused(task), snapshot.barred(task)
    return tuple(name for name in snapshot.instance.nodes if name not in refused and name not in barred)


def _allowed_kinds(snapshot: Snapshot, task: Task) -> tuple[bool, bool]:
    policy = snapshot.policy
    if policy.is_kube:
        return True, True
    evicting = policy.has_action("preempt") or policy.has_action("reclaim")
    if task.best_effort:
        return policy.has_action("backfill"), evicting
    reserving = evicting or any(map(policy.has_action, GANG_ACTIONS))
    return policy.has_action("allocate"), policy.has_action("allocate") or reserving


def _units(snapshot: Snapshot) -> dict[str, int]:
    """The largest unit of which every request of a resource is a multiple: small numbers for the solver."""
    unit: dict[str, int] = {}
    vectors = {id(task.requests): task.requests for task in snapshot.instance.tasks.values()}
    for vector in vectors.values():
        for name, amount in vector.items():
            if amount:
                unit[name] = gcd(unit.get(name, 0), amount)
    return unit
