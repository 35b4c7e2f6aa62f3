"""priority: the more important first, and no task evicts a better one; mirrors `plugins/priority/priority.go`."""

from __future__ import annotations

from collections.abc import Sequence

from cpsched.greedy.volcano.hooks import PERMIT, GangEviction, Hooks
from cpsched.greedy.volcano.jobs import JobState
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.greedy.volcano.topology.sub_jobs import SubJob
from cpsched.policy import PluginConf


def priority(session: Session, conf: PluginConf) -> Hooks:
    """Orders by priority; victims of strictly lower priority."""

    def victims(preemptor: TaskState, candidates: Sequence[TaskState]) -> tuple[list[TaskState], int]:
        own = session.jobs.get(preemptor.job)
        if own is None:
            return [], PERMIT
        named = []
        for candidate in candidates:
            job = session.jobs.get(candidate.job)
            if job is None:
                continue
            if job is own:
                lower = candidate.priority < preemptor.priority
            else:
                lower = job.priority < own.priority
            if lower:
                named.append(candidate)
        return named, PERMIT

    def evictable(eviction: GangEviction, candidates: Sequence[TaskState]) -> tuple[list[TaskState], int]:
        if eviction.action == "gangreclaim":
            return list(candidates), PERMIT
        return [one for one in candidates if session.jobs[one.job].priority < eviction.job.priority], PERMIT

    return Hooks(
        task_order=_higher_first,
        job_order=_higher_first,
        preemptable=victims,
        sub_job_order=_higher_first,
        evictable=evictable,
        job_starving=lambda job: job.ready + job.waiting < len(job.tasks),
    )


def _higher_first(left: TaskState | JobState | SubJob, right: TaskState | JobState | SubJob) -> int:
    mine, other = left.priority, right.priority
    return (mine < other) - (mine > other)
