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
    binds, placed, evicted = decision.binds, decision.placed, decision.evicted
    waits_for_all = policy.is_kube or policy.enabled("gang", "enableJobPipelined")
    for job in decision.jobs_served():
        if job.is_ready(binds, evicted):
            continue
        tasks = decision.placed_by_job[job.key]
        if waits_for_all and not job.is_pipelined(placed, evicted):
            yield Violation(
                "gang", job.key, f"gets {len(tasks)} tasks, fewer than its minimum of {job.min_available} needs"
            )
        elif started := sum([task.key in binds for task in tasks]):
            yield Violation(
                "gang", job.key, f"starts {started} tasks before its minimum of {job.min_available} is ready"
            )


def protect_gang(decision: Decision) -> Iterator[Violation]:
    """A victim's job keeps its minimum (or, with `whole`, loses everything)."""
    rights, mode_by_action = decision.rights, by_action(decision.snapshot.policy.gang_protects)
    for key, victims in decision.victims_by_job.items():
        job = decision.snapshot.jobs[key]
        left = job.ready - len(victims) + decision.starts_of(job)
        if left >= job.min_available:
            continue
        modes = {mode_by_action[action] for v in victims if (action := rights.action(v.key))}
        if modes <= {"off"}:
            continue
        if "keep" not in modes and len(victims) == job.holding:
            continue
        yield Violation("protect.gang", key, f"{left} tasks are left of a minimum of {job.min_available}")
