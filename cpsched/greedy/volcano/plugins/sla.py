"""sla: a job that has waited long enough is let through; mirrors `plugins/sla/sla.go`."""

from __future__ import annotations

from cpsched.greedy.volcano.hooks import ABSTAIN, PERMIT, Hooks
from cpsched.greedy.volcano.jobs import JobState
from cpsched.greedy.volcano.session import Session
from cpsched.policy import PluginConf
from cpsched.policy.durations import nanoseconds

ANNOTATIONS = ("volcano.sh/sla-waiting-time", "sla-waiting-time")


def sla(session: Session, conf: PluginConf) -> Hooks:
    """Order by deadline; permit once the deadline has passed."""
    default = conf.arguments.nanoseconds("sla-waiting-time")

    def deadline(job: JobState) -> int | None:
        wait = _own_wait(job) or default
        return None if wait is None else job.created + wait

    def order(left: JobState, right: JobState) -> int:
        mine, other = deadline(left), deadline(right)
        if mine is None or other is None:
            return int(mine is None) - int(other is None)
        return (mine > other) - (mine < other)

    def permit(job: JobState) -> int:
        moment = deadline(job)
        return PERMIT if moment is not None and session.now >= moment else ABSTAIN

    return Hooks(job_order=order, job_enqueueable=permit, job_pipelined=permit)


def _own_wait(job: JobState) -> int | None:
    annotations = job.job.group.metadata.annotations
    for key in ANNOTATIONS:
        if key in annotations:
            try:
                wait = nanoseconds(annotations[key])
            except ValueError:
                continue
            if wait > 0:
                return wait
    return None
