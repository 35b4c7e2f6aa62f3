"""Rules about gangs: all or nothing for those who start, and no breaking of those who run."""

from __future__ import annotations

from collections.abc import Iterator

from cpsched.check.decision import Decision
from cpsched.check.rights import by_action
from cpsched.check.violation import Violation


def gang(decision: Decision) -> Iterator[Violation]:
    """A job that received anything is ready, or pipelined with nothing but reserves."""
    policy = decision.snapshot.policy
    if not policy.requires_gangs:
        return
    binds, evicted = decision.binds, decision.evicted
    waits_for_all = policy.is_kube or policy.enabled("gang", "enableJobPipelined")
    for job in decision.jobs_served():
        keys = {task.key for task in decision.placed_by_job[job.key]}
        started = {key for key in keys if key in binds}
        if job.is_ready(started, evicted):
            continue
        if waits_for_all and not job.is_pipelined(keys, evicted):
            yield Violation(
                "gang", job.key, f"gets {len(keys)} tasks, fewer than its minimum of {job.min_available} needs"
            )
        elif started:
            yield Violation(
                "gang", job.key, f"starts {len(started)} tasks before its minimum of {job.min_available} is ready"
            )


def protect_gang(decision: Decision) -> Iterator[Violation]:
    """A victim's job keeps its minimum (or, with `whole`, loses everything)."""
    rights, mode_by_action = decision.rights, by_action(decision.snapshot.policy.gang_protects)
    for key, victims in decision.victims_by_job.items():
        job = decision.snapshot.jobs[key]
        modes = {mode_by_action[action] for v in victims if (action := rights.action(v.key))}
        if modes <= {"off"}:
            continue
        left = job.ready - len(victims) + decision.starts_of(job)
        if left >= job.min_available:
            continue
        if "keep" not in modes and len(victims) == sum(task.node != "" for task in job.tasks):
            continue
        yield Violation("protect.gang", key, f"{left} tasks are left of a minimum of {job.min_available}")
