"""queue, deserved, enqueue, protect.guarantee: limits and shares of queues, and the way in."""

from __future__ import annotations

from math import ceil, floor, gcd, inf

from ortools.sat.python import cp_model

from cpsched.optimum.model.classes import JobClass, TaskClass, VictimClass
from cpsched.optimum.model.variables import Expr, Variables, sum_of, weighted
from cpsched.shares import Exact
from cpsched.snapshot import Snapshot
from cpsched.snapshot.enqueue import Limit, decisive_limits


def with_ancestors(snapshot: Snapshot, queue: str | None) -> tuple[str, ...]:
    """The queue and its ancestors, as far as they have shares."""
    shares = snapshot.shares
    return () if queue is None or queue not in shares else (queue, *shares[queue].ancestors)


def change(v: Variables, queue: str, resource: str) -> Expr:
    """By how many units the queue's holding of the resource changes: placed, less evicted; descendants count.

    One variable stands for the sum, however many rows speak of it.
    """
    if (queue, resource) not in v.changes:
        least, most = change_bounds(v, queue, resource)
        changed = v.cp.new_int_var(least, most, f"change of {queue} in {resource}")
        won = ((v.classes.amount(one.representative, resource), v.total(one)) for one in _arriving(v, queue, resource))
        lost = [(amount, v.evicted(group)) for amount, group in _leaving(v, queue, resource)]
        v.cp.add(changed == weighted(won) - weighted(lost))
        v.changes[queue, resource] = changed
    return v.changes[queue, resource]


def change_bounds(v: Variables, queue: str, resource: str) -> tuple[int, int]:
    """How far the queue's holding can fall and rise."""
    fall = sum([amount * group.most for amount, group in _leaving(v, queue, resource)])
    rise = sum(v.classes.amount(c.representative, resource) * len(c.tasks) for c in _arriving(v, queue, resource))
    return -fall, rise


def _arriving(v: Variables, queue: str, resource: str) -> list[TaskClass]:
    return [
        one
        for one in v.classes.tasks
        if one.representative.requests.get(resource)
        and queue in with_ancestors(v.snapshot, v.snapshot.jobs[one.jobs[0]].queue)
    ]


def _leaving(v: Variables, queue: str, resource: str) -> list[tuple[int, VictimClass]]:
    """The groups that hold any of it for the queue or below it, with how much each of their tasks does."""
    if (queue, resource) not in v.leaving:
        jobs, asked = v.snapshot.jobs, v.classes.requested_by_shape(resource)
        own = {name for name in v.snapshot.instance.queues if queue in with_ancestors(v.snapshot, name)}
        v.leaving[queue, resource] = [
            (asked[group.shape], group)
            for group in v.classes.victims
            if asked[group.shape] and jobs[group.job].queue in own
        ]
    return v.leaving[queue, resource]


def capacity_for(v: Variables, queue: str, resource: str, limit: Exact) -> int | None:
    """How many more units keep the queue within the limit; None for no limit."""
    held = v.snapshot.shares[queue].allocated.get(resource, 0)
    return None if limit == inf else floor((limit - held) // v.classes.unit.get(resource, 1))


def queue(cp: cp_model.CpModel, snapshot: Snapshot, v: Variables) -> None:
    """A queue that receives something stays within its limit in what was asked for, and so do its ancestors."""
    if not snapshot.policy.limits_queues:
        return
    by_deserved = snapshot.policy.share_plugin == "proportion"
    for name, share in snapshot.shares.items():
        own = [
            one
            for one in v.classes.tasks
            if not one.representative.best_effort and name in with_ancestors(snapshot, snapshot.jobs[one.jobs[0]].queue)
        ]
        limit = share.deserved if by_deserved else share.real_capability
        for resource in sorted({r for one in own for r, a in one.representative.requests.items() if a and r != "pods"}):
            room = capacity_for(v, name, resource, limit.get(resource, 0))
            asking = [one for one in own if one.representative.requests.get(resource)]
            if room is None:
                continue
            if room >= 0:
                cp.add(change(v, name, resource) <= room)
                continue
            # Where no task requests it the holding does not rise, so one row says both without a condition.
            asked = v.flag(f"{resource} asked in {name}")
            cp.add(change(v, name, resource) <= room * asked)
            _asks(cp, v, asking, asked)


def _asks(cp: cp_model.CpModel, v: Variables, asking: list[TaskClass], asked: cp_model.IntVar) -> None:
    """Without the flag no task that requests it is placed; one row per job class where all its tasks do."""
    indices = {one.index for one in asking}
    for jobs in v.classes.jobs:
        if jobs.counts.keys() <= indices:
            cp.add(v.served(jobs) <= len(jobs) * asked)
        else:
            for one, count in v.taken(jobs):
                if one.index in indices:
                    cp.add(count <= len(jobs) * jobs.counts[one.index] * asked)


def enqueue(cp: cp_model.CpModel, snapshot: Snapshot, v: Variables) -> None:
    """Pending jobs that are served enter within the limits of the tier that decides."""
    entering = [jobs for jobs in v.classes.jobs if jobs.representative.is_pending]
    if snapshot.policy.pending_jobs_enter == "freely":
        return
    for jobs in entering:
        limits = decisive_limits(snapshot, jobs.representative)
        if not limits:
            continue
        enters = v.flag(f"{jobs.representative.key} enters")
        cp.add(v.served(jobs) <= len(jobs) * enters)
        for limit in limits:
            counted = [other for other in entering if limit.counts(snapshot, other.representative)]
            for resource, minimum in sorted(limit.asked(jobs.representative).items()):
                left = limit.left.get(resource, 0)
                if left != inf:
                    promised = {other.index: _promised(limit, other, resource) for other in counted}
                    own = minimum - promised.get(jobs.index, 0)
                    unit = gcd(*promised.values()) or 1
                    wanted = weighted((promised[other.index] // unit, v.served(other)) for other in counted)
                    cp.add(wanted <= (floor(left) - own) // unit).only_enforce_if(enters)


def _promised(limit: Limit, jobs: JobClass, resource: str) -> int:
    return ceil(limit.promise(jobs.representative).get(resource, 0))


def protect_guarantee(cp: cp_model.CpModel, snapshot: Snapshot, v: Variables) -> None:
    """A queue that loses tasks to an action that guards guarantees keeps its guarantee."""
    for name, share in snapshot.shares.items():
        lost = [
            v.evict[group.index, action]
            for group in v.classes.victims
            if snapshot.jobs[group.job].queue == name
            for action in sorted(group.rights)
            if snapshot.policy.guarantee_protects(action)
        ]
        if not lost or not any(share.guarantee.values()):
            continue
        loses = v.flag(f"{name} loses tasks")
        cp.add(sum_of(lost) == 0).only_enforce_if(~loses)
        for resource, amount in sorted(share.guarantee.items()):
            unit = v.classes.unit.get(resource, 1)
            least = -floor((share.allocated.get(resource, 0) - amount) // unit)
            cp.add(change(v, name, resource) >= least).only_enforce_if(loses)
