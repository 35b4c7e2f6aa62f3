"""Who may evict whom, as far as the snapshot alone says: the static half of the rule `eviction`."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import TYPE_CHECKING, Literal

from cpsched.instance import HOLDS_ROOM, Task
from cpsched.resources import Vector, greater_partly_relevant, less_equal, names

if TYPE_CHECKING:
    from cpsched.snapshot import Snapshot

Action = Literal["preempt", "reclaim"]


def actions_against(snapshot: Snapshot, task: Task, victim: Task) -> Iterator[Action]:
    """The actions by which a starving job's task may evict the victim, were both on one node."""
    job, owner = snapshot.job_of(task), snapshot.job_of(victim)
    if job is None or owner is None or victim.status not in HOLDS_ROOM:
        return
    unrestricted = job.key in snapshot.unrestricted
    if unrestricted:
        yield "preempt"
    if not job.is_starving(snapshot.policy) or task.never_preempts:
        return
    if not (victim.preemptable or snapshot.policy.is_kube):
        return
    if not unrestricted and snapshot.policy.evicts("preempt") and _may_preempt(snapshot, task, victim):
        yield "preempt"
    if snapshot.policy.evicts("reclaim") and job.queue != owner.queue and _gives_back(snapshot, owner.queue):
        yield "reclaim"


def claimants(snapshot: Snapshot, tasks: Iterable[Task]) -> list[Task]:
    """One task of every kind that actions_against can tell apart."""
    kinds: dict[Hashable, Task] = {}
    for task in tasks:
        job = snapshot.jobs[snapshot.job_key(task)]
        own = job.key if any(other.status in HOLDS_ROOM for other in job.tasks) else None
        kind = (job.queue, job.priority, job.is_starving(snapshot.policy), own, task.priority, task.best_effort)
        kinds.setdefault((*kind, task.never_preempts), task)
    return list(kinds.values())


def _may_preempt(snapshot: Snapshot, task: Task, victim: Task) -> bool:
    job, owner = snapshot.jobs[snapshot.job_key(task)], snapshot.jobs[snapshot.job_key(victim)]
    if job.queue != owner.queue:
        return False
    if not snapshot.policy.is_kube and task.best_effort and not victim.best_effort:
        return False
    if job is owner:
        return victim.priority < task.priority
    return owner.priority < job.priority


def _gives_back(snapshot: Snapshot, queue: str | None) -> bool:
    return queue is not None and snapshot.instance.queues[queue].reclaimable


def is_above_share(snapshot: Snapshot, queue: str, victim: Task, held: Vector) -> bool:
    """Whether the queue, holding this much, is above its deserved share in the eyes of its share plugin.

    proportion looks at every resource, capacity only at the victim's; it gives up freely what has no declared share.
    """
    if queue not in snapshot.shares:
        return False
    deserved = snapshot.shares[queue].deserved
    if snapshot.policy.share_plugin == "proportion":
        return not less_equal(held, deserved)
    unclaimed = not set(names(victim.requests)) & set(names(deserved))
    return unclaimed or greater_partly_relevant(held, deserved, victim.requests)
