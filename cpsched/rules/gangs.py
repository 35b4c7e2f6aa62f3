"""Rules about gangs: all or nothing for those who start, and no breaking of those who run."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from cpsched.rules.decision import Decision
from cpsched.rules.identical import fates
from cpsched.rules.rights import by_action
from cpsched.rules.violation import Violation
from cpsched.snapshot import SessionJob


def gang(decision: Decision) -> Iterator[Violation]:
    """A job that received anything is ready, or pipelined with nothing but reserves."""
    policy = decision.snapshot.policy
    if not policy.requires_gangs:
        return
    waits_for_all = policy.is_kube or policy.enabled("gang", "enableJobPipelined")
    broken = decision.snapshot.identical.once(partial(_broken, decision, waits_for_all), fates(decision))
    for job in decision.jobs_served():
        if reason := broken(job):
            yield Violation("gang", job.key, reason)


def _broken(decision: Decision, waits_for_all: bool, job: SessionJob) -> str | None:
    binds, evicted = decision.binds, decision.evicted
    if job.is_ready(binds, evicted):
        return None
    tasks = decision.placed_by_job[job.key]
    if waits_for_all and not job.is_pipelined(decision.placed, evicted):
        return f"gets {len(tasks)} tasks, fewer than its minimum of {job.min_available} needs"
    if started := sum([task.key in binds for task in tasks]):
        return f"starts {started} tasks before its minimum of {job.min_available} is ready"
    return None


def protect_gang(decision: Decision) -> Iterator[Violation]:
    """A victim's job keeps its minimum (or, with `whole`, loses everything)."""
    rights, mode_by_action = decision.rights, by_action(decision.snapshot.policy.gang_protects)
    for key, victims in decision.victims_by_job.items():
        job = decision.snapshot.jobs[key]
        left = job.ready - len(victims) + decision.starts_of(job)
        if left >= job.min_available:
            continue
        by_gang = {v.key for v in victims if rights.protection(v.key) in ("gangpreempt", "gangreclaim")}
        modes = {mode_by_action[action] for v in victims if (action := rights.protection(v.key))}
        if modes <= {"off"} or (job.ready < job.min_available and by_gang >= {v.key for v in victims}):
            # A gang that is incomplete already is fair game for the gang actions.
            continue
        if "keep" not in modes and len(victims) == job.holding:
            continue
        yield Violation("protect.gang", key, f"{left} tasks are left of a minimum of {job.min_available}")
