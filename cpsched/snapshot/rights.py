"""Who may evict whom, as far as the snapshot alone says: the static half of the rule `eviction`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from cpsched.instance import HOLDS_ROOM, Task
from cpsched.policy.policy import AnyAction
from cpsched.resources import Vector
from cpsched.shares import Exact

if TYPE_CHECKING:
    from cpsched.snapshot import Snapshot

Action = AnyAction
"""An action that evicts."""


def actions_against(snapshot: Snapshot, task: Task, victim: Task) -> Iterator[Action]:
    """The actions by which a starving job's task may evict the victim, were both on one node."""
    job, owner = snapshot.job_of(task), snapshot.job_of(victim)
    if job is None or owner is None or victim.status not in HOLDS_ROOM:
        return
    unrestricted = job.key in snapshot.unrestricted
    if unrestricted:
        yield "preempt"
    if not snapshot.is_starving(job) or snapshot.never_preempts(task):
        return
    if not (victim.preemptable or snapshot.policy.is_kube):
        return
    if not unrestricted and snapshot.policy.evicts("preempt") and _may_preempt(snapshot, task, victim):
        yield "preempt"
    if snapshot.policy.evicts("reclaim") and job.queue != owner.queue and _gives_back(snapshot, owner.queue):
        yield "reclaim"


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


def is_above_share_now(snapshot: Snapshot, victim: Task) -> bool:
    """Whether the victim's queue is above its share today; tasks that go before can only make that less so."""
    queue = snapshot.queue_of(victim)
    if queue is None or queue.name not in snapshot.shares:
        return False
    return is_above_share(snapshot, queue.name, victim, snapshot.shares[queue.name].allocated)


def is_above_share(snapshot: Snapshot, queue: str, victim: Task, held: Vector) -> bool:
    """Whether the queue, holding this much, is above its deserved share in the eyes of its share plugin.

    proportion looks at every resource, capacity only at the victim's; it gives up freely what has no declared share.
    """
    if queue not in snapshot.shares:
        return False
    deserved = snapshot.shares[queue].deserved
    if snapshot.policy.share_plugin == "proportion":
        return any(amount > deserved.get(name, 0) for name, amount in held.items())
    if not claims_any(deserved, victim.requests):
        return True
    return any(held.get(name, 0) > deserved.get(name, 0) for name in declared_of(deserved, victim.requests))


def claims_any(deserved: Mapping[str, Exact], requests: Mapping[str, int]) -> bool:
    """Whether a share is declared for anything that is asked for, pods included."""
    return any(amount > 0 and deserved.get(name, 0) > 0 for name, amount in requests.items())


def declared_of(deserved: Mapping[str, Exact], requests: Mapping[str, int]) -> list[str]:
    """What is asked for and has a declared share; of a scalar a share of nothing counts too, pods never count."""
    return [
        name
        for name, amount in requests.items()
        if amount > 0 and name != "pods"
        if (deserved.get(name, 0) > 0 if name in ("cpu", "memory") else name in deserved)
    ]
