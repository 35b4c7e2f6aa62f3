"""What an input holds, in one line, and whether it leaves a scheduler anything to decide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from cpsched.instance import ENDED, HOLDS_ROOM, Instance, Status
from cpsched.objects.groups import Queue
from cpsched.policy import Policy
from cpsched.snapshot import Snapshot
from cpsched.solution import Solution

FEW = 8
"""Inputs that are listed one by one."""
Span = tuple[int, int]
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


class Size(NamedTuple):
    """How large an input is."""

    nodes: int
    running: int
    pending: int
    """Pods that hold capacity, and pods that wait."""

    @classmethod
    def of(cls, instance: Instance) -> Size:
        """As counted."""
        counts = Counter(task.status for task in instance.tasks.values())
        running = sum(counts[status] for status in HOLDS_ROOM)
        return cls(len(instance.nodes), running, counts[Status.PENDING])


def read_of_many(sizes: Mapping[str, Size], noun: str) -> list[str]:
    """What inputs hold: a line for each of a few, a single one with the extremes for many."""
    if len(sizes) <= FEW:
        return [f"{name}: {_counts(*((count, count) for count in size))}" for name, size in sizes.items()]
    spans = [(min(counts), max(counts)) for counts in zip(*sizes.values(), strict=True)]
    idle = sum(not size.pending for size in sizes.values())
    rest = f"; nothing is pending in {idle}" if idle else ""
    return [f"{counted(len(sizes), noun)}: {_counts(*spans)}{rest}"]


def _counts(nodes: Span, running: Span, pending: Span) -> str:
    return f"{_span(nodes)} node{'s' * (nodes[1] != 1)}, {_span(running)} pods running, {_span(pending)} pending"


def _span(span: Span) -> str:
    least, most = span
    return f"{most:,}" if least == most else f"{least:,} to {most:,}"


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
