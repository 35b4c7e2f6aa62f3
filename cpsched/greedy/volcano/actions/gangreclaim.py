"""gangreclaim: starving gangs take back from other queues what they are due; mirrors `actions/gangreclaim`."""

from __future__ import annotations

from functools import cmp_to_key

from cpsched.greedy.volcano.amounts import Amounts
from cpsched.greedy.volcano.jobs import JobState
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.status import Status
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.greedy.volcano.topology.bundles import Bundle
from cpsched.greedy.volcano.topology.gang_eviction import GangAction, run


def gangreclaim(session: Session) -> None:
    """Running gangs of other queues give way, whatever their priority."""
    run(session, _ACTION)


def _may_go(session: Session, job: JobState, task: TaskState, other: JobState) -> bool:
    return task.status is Status.RUNNING and other.queue != job.queue and session.queues[other.queue].reclaimable


def _ordered(session: Session, job: JobState, need: Amounts, bundles: list[Bundle]) -> list[Bundle]:
    """What gangs can spare first, then by queue, by what a bundle is worth, and by name."""
    own = session.queues[job.queue]
    worth = {id(bundle): bundle.worth(need) for bundle in bundles}

    def compare(left: Bundle, right: Bundle) -> int:
        if left.whole != right.whole:
            return left.whole - right.whole
        if left.job.queue != right.job.queue:
            mine, other = session.queues[left.job.queue], session.queues[right.job.queue]
            first = session.victim_queue_before(mine, other, own)
            if first != session.victim_queue_before(other, mine, own):
                return -1 if first else 1
        if worth[id(left)] != worth[id(right)]:
            return -1 if worth[id(left)] > worth[id(right)] else 1
        keys = [(bundle.job.key, bundle.tasks[0].uid, len(bundle.tasks)) for bundle in (left, right)]
        return (keys[0] > keys[1]) - (keys[0] < keys[1])

    return sorted(bundles, key=cmp_to_key(compare))


_ACTION = GangAction(
    name="gangreclaim",
    overused=lambda session, queue: session.overused(queue),
    refused=lambda session, queue, need: session.not_preemptive(queue, need),
    may_go=_may_go,
    order=_ordered,
)
