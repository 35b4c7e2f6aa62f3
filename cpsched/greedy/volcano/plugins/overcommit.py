"""overcommit: jobs enter while the stretched cluster could hold them; mirrors `plugins/overcommit/overcommit.go`."""

from __future__ import annotations

from cpsched.greedy.volcano.amounts import Amounts, give, take
from cpsched.greedy.volcano.hooks import PERMIT, REJECT, Hooks
from cpsched.greedy.volcano.jobs import JobState
from cpsched.greedy.volcano.plugins.promises import promised, without_gated
from cpsched.greedy.volcano.session import Session
from cpsched.policy import PluginConf
from cpsched.resources import add, insufficient_for, scaled


def overcommit(session: Session, conf: PluginConf) -> Hooks:
    """Count what was let in and has not started against what is free."""
    idle: Amounts = scaled(session.total, conf.arguments.number("overcommit-factor"))
    for node in session.node_list:
        take(idle, node.used)
    inqueue: Amounts = {}
    for job in session.jobs.values():
        minimum = job.job.min_resources
        if job.phase == "Inqueue" and minimum is not None:
            give(inqueue, without_gated(job, minimum))
        elif job.phase == "Running":
            give(inqueue, promised(job))

    def enqueueable(job: JobState) -> int:
        minimum = job.job.min_resources
        if minimum is None:
            return PERMIT
        missing = insufficient_for(add(inqueue, minimum), idle, minimum)
        if not missing:
            return PERMIT
        job.enqueue_refusal = f"resource in cluster is overused: {', '.join(f'overused {name}' for name in missing)}"
        return REJECT

    def enqueued(job: JobState) -> None:
        if job.job.min_resources is not None:
            give(inqueue, without_gated(job, job.job.min_resources))

    return Hooks(job_enqueueable=enqueueable, job_enqueued=enqueued)
