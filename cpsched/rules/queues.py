"""Rules about queues: limits, shares, and the way in."""

from __future__ import annotations

from collections.abc import Iterator

from cpsched.resources import total_of
from cpsched.rules.decision import Decision
from cpsched.rules.violation import Violation
from cpsched.snapshot.enqueue import refusal


def queue(decision: Decision) -> Iterator[Violation]:
    """A queue that received something stays within its limit in what was asked for, and so do its ancestors."""
    snapshot = decision.snapshot
    if not snapshot.policy.limits_queues:
        return
    closed = {name for name, one in snapshot.instance.queues.items() if not one.is_open}
    for key, tasks in decision.placed_by_job.items() if closed else ():
        if (name := snapshot.jobs[key].queue) in closed:
            for task in tasks:
                if not task.best_effort:
                    yield Violation("queue", name, f"is not Open but {task.key} is placed")
    by_deserved = snapshot.policy.share_plugin == "proportion"
    for name, resources in _asked_by_queue(decision).items():
        share = snapshot.shares[name]
        limit = share.deserved if by_deserved else share.real_capability
        for resource in sorted(resources):
            if decision.allocated_after[name].get(resource, 0) > limit.get(resource, 0):
                yield Violation(
                    "queue", name, f"holds more {resource} than its {'deserved share' if by_deserved else 'capability'}"
                )


def _asked_by_queue(decision: Decision) -> dict[str, set[str]]:
    """What the tasks placed in a queue or below it ask for; pods and BestEffort tasks are exempt."""
    shares = decision.snapshot.shares
    asked: dict[str, set[str]] = {}
    for queue, tasks in decision.placed_by_queue.items():
        total = total_of([task.requests for task in tasks if not task.best_effort])
        for name in (queue, *shares[queue].ancestors) if queue in shares else ():
            asked.setdefault(name, set()).update([r for r, amount in total.items() if amount > 0 and r != "pods"])
    return asked


def deserved(decision: Decision) -> Iterator[Violation]:
    """Shares can be computed, or nothing that asks for resources is placed."""
    reason = decision.snapshot.shares_refused
    if reason is None:
        return
    for tasks in decision.placed_by_job.values():
        for task in tasks:
            if not task.best_effort:
                yield Violation("deserved", task.key, f"is placed although queues have no shares: {reason}")


def enqueue(decision: Decision) -> Iterator[Violation]:
    """Jobs that enter from Pending pass overcommit and queue quota together."""
    snapshot = decision.snapshot
    how = snapshot.policy.pending_jobs_enter
    entering = [snapshot.jobs[key] for key in sorted(decision.entered)]
    for job in entering:
        if how == "never":
            yield Violation("enqueue", job.key, "enters from Pending, but no configured action lets it in")
        elif how == "enqueue" and (refused := refusal(snapshot, job, entering)):
            yield Violation("enqueue", job.key, f"is refused by {refused[0]}: {', '.join(refused[1:])}")
