"""gang: all of a job's minimum or nothing; mirrors `plugins/gang/gang.go`."""

from __future__ import annotations

from collections.abc import Sequence

from cpsched.greedy.volcano import explain
from cpsched.greedy.volcano.hooks import PERMIT, REJECT, Hooks
from cpsched.greedy.volcano.jobs import JobState
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.status import Status
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.policy import PluginConf


def gang(session: Session, conf: PluginConf) -> Hooks:
    """Validity, readiness, starvation, and victims only above the minimum."""

    def victims(preemptor: TaskState, candidates: Sequence[TaskState]) -> tuple[list[TaskState], int]:
        left: dict[str, int] = {}
        named = []
        for candidate in candidates:
            job = session.jobs.get(candidate.job)
            if job is None:
                continue
            left.setdefault(job.key, job.ready)
            if left[job.key] > job.min_available:
                left[job.key] -= 1
                named.append(candidate)
        return named, PERMIT

    return Hooks(
        job_valid=_invalid,
        preemptable=victims,
        reclaimable=victims,
        job_order=_unready_first,
        sub_job_order=lambda left, right: left.is_ready - right.is_ready,
        evictable=lambda eviction, candidates: (list(candidates), PERMIT),
        job_ready=lambda job: job.roles_ready() and job.sub_jobs_ready() and job.is_ready,
        job_pipelined=_pipelined,
        sub_job_ready=lambda sub_job: sub_job.is_ready,
        sub_job_pipelined=lambda sub_job: PERMIT if sub_job.is_pipelined else REJECT,
        job_starving=lambda job: job.is_starving,
        on_close=lambda: _close(session),
        order_matters=True,
    )


def _unready_first(left: JobState, right: JobState) -> int:
    # As is_ready, without the detour over properties: heaps ask this very often.
    ready = left.ready + left.pending_best_effort >= left.min_available
    other = right.ready + right.pending_best_effort >= right.min_available
    return ready - other


def _pipelined(job: JobState) -> int:
    return PERMIT if job.roles_pipelined() and job.sub_jobs_pipelined() and job.is_pipelined else REJECT


def _invalid(job: JobState) -> str | None:
    if not job.roles_valid():
        return "Not enough valid pods of each task for gang-scheduling"
    if not job.sub_jobs_valid():
        return "Not enough valid subGroups of each task for gang-scheduling"
    if job.valid_tasks < job.min_available:
        return f"Not enough valid tasks for gang-scheduling, valid: {job.valid_tasks}, min: {job.min_available}"
    return None


def _close(session: Session) -> None:
    """Tell every job that is not ready what it lacks."""
    for job in session.jobs.values():
        if job.tasks and not job.is_ready and not _only_going(job):
            job.unschedulable = True
            session.messages[job.key] = explain.gang_message(job)


def _only_going(job: JobState) -> bool:
    """A whole gang that is merely terminating needs no scheduling."""
    if not job.releasing_on_nodes or job.by_status[Status.PENDING] or job.by_status[Status.PIPELINED]:
        return False
    return job.scheduled >= job.min_available
