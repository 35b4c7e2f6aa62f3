"""Rules about gangs: all or nothing for those who start, and no breaking of those who run."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from cpsched.policy import Policy
from cpsched.policy.policy import GANG_ACTIONS
from cpsched.rules.decision import Decision
from cpsched.rules.identical import fates
from cpsched.rules.rights import by_action
from cpsched.rules.violation import Violation
from cpsched.snapshot import SessionJob


def gang(decision: Decision) -> Iterator[Violation]:
    """A job that received anything is ready, or pipelined with nothing but reserves; so is each of its sub-groups."""
    policy = decision.snapshot.policy
    if not policy.requires_gangs:
        return
    waits_for_all = policy.is_kube or policy.enabled("gang", "enableJobPipelined")
    broken = decision.snapshot.identical.once(partial(_broken, decision, waits_for_all), fates(decision))
    for job in decision.jobs_served():
        if reason := broken(job):
            yield Violation("gang", job.key, reason)
        if job.sub_groups is not None and minds_sub_groups(policy, "enabledSubJobReady"):
            yield from _broken_groups(decision, job)


def minds_sub_groups(policy: Policy, flag: str) -> bool:
    """Whether a sub-group gets its minimum or nothing, as far as the flag of the gang plugin decides it."""
    return policy.requires_gangs and (policy.rules.gang == "on" or policy.enabled("gang", flag))


def _broken_groups(decision: Decision, job: SessionJob) -> Iterator[Violation]:
    """Sub-groups of policies that received something and are neither ready nor pipelined with nothing but reserves."""
    waits_for_all = minds_sub_groups(decision.snapshot.policy, "enabledSubJobPipelined")
    assert job.sub_groups is not None
    placed, by_task = decision.placed_by_job[job.key], job.sub_groups.by_task
    ready, pipelined = (
        {group.key for group in job.sub_groups.complete(job.at_work(places, decision.evicted))}
        for places in (decision.binds, decision.placed)
    )
    for key in dict.fromkeys([by_task[task.key].key for task in placed if by_task[task.key].policy]):
        mine = [task for task in placed if by_task[task.key].key == key]
        if key not in ready and any(task.key in decision.binds for task in mine):
            yield Violation("gang", key, "starts tasks before the sub-group's minimum is ready")
        elif key not in ready and key not in pipelined and waits_for_all:
            yield Violation("gang", key, f"gets {len(mine)} tasks, fewer than the sub-group's minimum needs")


def _broken(decision: Decision, waits_for_all: bool, job: SessionJob) -> str | None:
    binds, evicted = decision.binds, decision.evicted
    if job.is_ready(binds, evicted):
        return None
    tasks = decision.placed_by_job[job.key]
    if waits_for_all and not job.is_pipelined(decision.placed, evicted):
        if len(job.at_work(decision.placed, evicted)) >= job.min_available and job.sub_groups is not None:
            return f"gets {len(tasks)} tasks, which complete too few of its roles or sub-groups"
        return f"gets {len(tasks)} tasks, fewer than its minimum of {job.min_available} needs"
    if started := sum([task.key in binds for task in tasks]):
        return f"starts {started} tasks before its minimum of {job.min_available} is ready"
    return None


def protect_gang(decision: Decision) -> Iterator[Violation]:
    """A victim's job keeps its minimum (or, with `whole`, loses everything).

    Against the gang actions that is its minimum per role and of sub-groups too; a gang that is incomplete already is
    fair game for them.
    """
    rights, mode_by_action = decision.rights, by_action(decision.snapshot.policy.gang_protects)
    for key, victims in decision.victims_by_job.items():
        job = decision.snapshot.jobs[key]
        guarded = {a for v in victims if (a := rights.protection(v.key)) and mode_by_action[a] != "off"}
        modes = {mode_by_action[action] for v in victims if (action := rights.protection(v.key))}
        if "keep" not in modes and len(victims) == job.holding:
            continue
        left = job.ready - len(victims) + decision.starts_of(job)
        if guarded - GANG_ACTIONS and left < job.min_available:
            yield Violation("protect.gang", key, f"{left} tasks are left of a minimum of {job.min_available}")
        elif guarded & GANG_ACTIONS and job.is_whole and not job.keeps_minimum(decision.binds, decision.evicted):
            whose = f"a minimum of {job.min_available}" if left < job.min_available else "its roles or sub-groups"
            yield Violation("protect.gang", key, f"{left} tasks are left, too few for {whose}")
