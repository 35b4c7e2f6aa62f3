"""What an input holds, in one line, and whether it leaves a scheduler anything to decide."""

from __future__ import annotations

from collections import Counter

from cpsched.instance import ENDED, Instance, Status
from cpsched.objects.groups import Queue
from cpsched.policy import Policy
from cpsched.snapshot import Snapshot
from cpsched.solution import Solution

_STATES = {
    Status.RUNNING: "running",
    Status.BOUND: "bound",
    Status.PENDING: "pending",
    Status.RELEASING: "ending",
    Status.UNKNOWN: "in phase Unknown",
}


def contents(instance: Instance, policy: Policy | None = None) -> str:
    """`12 nodes, 92 pods running, 6 pending, 2 ending; 4 queues; scheduler volcano`: an unread file shows here."""
    counts = Counter(task.status for task in instance.tasks.values())
    states = [(counts[status], name) for status, name in _STATES.items() if counts[status]]
    ended = sum(counts[status] for status in ENDED)
    states += [(ended, "finished")] if ended else []
    pods = [f"{count:,} {name}" for count, name in states]
    if pods:
        pods[0] = f"{counted(states[0][0], 'pod')} {states[0][1]}"
    parts = [", ".join([counted(len(instance.nodes), "node"), *(pods or ["no pods"])])]
    if queues := len(instance.of_kind(Queue)):
        parts.append(counted(queues, "queue"))
    if policy is not None:
        parts.append(f"scheduler {policy.model.scheduler}")
    return "; ".join(parts)


def counted(count: int, noun: str) -> str:
    """`1 node`, `12 nodes`, `no nodes`."""
    return f"{f'{count:,}' if count else 'no'} {noun}{'' if count == 1 else 's'}"


def nothing_to_decide(snapshot: Snapshot, solution: Solution) -> str:
    """Why there was nothing to decide, such as `no pod is pending`; empty if there was something.

    Such a decision is empty, and a proof that none is better would prove nothing.
    """
    if solution.binds or solution.reserves or solution.evictions or solution.findings:
        return ""
    instance = snapshot.instance
    pending = sum(task.status is Status.PENDING for task in instance.tasks.values())
    if not instance.nodes:
        waits = f", {counted(pending, 'pod')} pending" if pending else ""
        return f"the input has no nodes{waits}"
    if any(job.pending or (job.is_pending and not job.tasks) for job in snapshot.jobs.values()):
        return ""
    if not pending:
        return "no pod is pending"
    if solution.unplaced:
        return ""
    return f"{counted(pending, 'pod')} pending, none of a job that scheduler {snapshot.policy.model.scheduler} looks at"
