"""gangpreempt: starving gangs evict less important gangs of their queue; mirrors `actions/gangpreempt`."""

from __future__ import annotations

from functools import cmp_to_key

from cpsched.greedy.volcano.amounts import Amounts
from cpsched.greedy.volcano.jobs import JobState
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.status import PREEMPTABLE
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.greedy.volcano.topology.bundles import Bundle
from cpsched.greedy.volcano.topology.gang_eviction import GangAction, run


def gangpreempt(session: Session) -> None:
    """Within each queue, jobs of strictly lower priority give way."""
    run(session, _ACTION)


def _may_go(session: Session, job: JobState, task: TaskState, other: JobState) -> bool:
    lower = other is not job and other.queue == job.queue and other.priority < job.priority
    return lower and task.status in PREEMPTABLE


def _ordered(session: Session, job: JobState, need: Amounts, bundles: list[Bundle]) -> list[Bundle]:
    """What gangs can spare first; of either sort, the job that is served last first."""

    def compare(left: Bundle, right: Bundle) -> int:
        if left.whole != right.whole:
            return left.whole - right.whole
        if left.job is right.job:
            return 0
        return 1 if session.job_before(left.job, right.job) else -1

    return sorted(bundles, key=cmp_to_key(compare))


_ACTION = GangAction(
    name="gangpreempt",
    overused=lambda session, queue: None,
    refused=lambda session, queue, need: None,
    may_go=_may_go,
    order=_ordered,
)
