"""gang, protect.gang: minima of those who start and of those who lose tasks."""

from __future__ import annotations

from ortools.sat.python import cp_model

from cpsched.optimum.model.classes import JobClass
from cpsched.optimum.model.minimum import at_work, in_group, kept, lost, minima_of, reached, won_by
from cpsched.optimum.model.variables import Variables, sum_of
from cpsched.policy import Policy
from cpsched.policy.model import GangProtection
from cpsched.policy.policy import GANG_ACTIONS
from cpsched.rules.gangs import minds_sub_groups
from cpsched.snapshot import Snapshot
from cpsched.snapshot.sub_groups import SubGroups


def gang(cp: cp_model.CpModel, snapshot: Snapshot, v: Variables) -> None:
    """A served job is ready, or pipelined with nothing but reserves; so is each of its sub-groups."""
    policy = snapshot.policy
    if not policy.requires_gangs:
        return
    counts = policy.is_kube or policy.enabled("gang", "enableJobPipelined")
    for jobs in v.classes.jobs:
        ready, pipelined = v.ready[jobs.index], v.pipelined[jobs.index]
        for one, bound in v.taken(jobs, reserved=False):
            cp.add(bound <= jobs.counts[one.index] * ready)
        groups = jobs.representative.sub_groups
        if groups is not None or jobs.representative.key in v.victims_by_job:
            reached(v, jobs, bound=True, reserved=False).post(v, ready)
            if counts:
                reached(v, jobs, bound=False, reserved=True).post(v, pipelined)
        else:
            _linear(cp, v, jobs, counts=counts)
        if groups is not None:
            _sub_groups(v, jobs, groups, policy)


def _linear(cp: cp_model.CpModel, v: Variables, jobs: JobClass, *, counts: bool) -> None:
    """The minima of jobs that lose nothing, all jobs of the class at once."""
    for selects, least in minima_of(jobs.representative):
        missing = least - at_work(jobs.representative, selects)
        if missing > 0:
            bound, reserved = (won_by(v, jobs, selects, bound=how, reserved=not how) for how in (True, False))
            cp.add(bound >= missing * v.ready[jobs.index])
            if counts:
                cp.add(reserved >= missing * v.pipelined[jobs.index])


def _sub_groups(v: Variables, jobs: JobClass, groups: SubGroups, policy: Policy) -> None:
    """Tasks of a sub-group start only if it is ready then, and are reserved only if it is complete with them."""
    if not minds_sub_groups(policy, "enabledSubJobReady"):
        return
    waits_for_all = minds_sub_groups(policy, "enabledSubJobPipelined")
    for group in groups.groups:
        if group.policy is None:
            continue
        selects = in_group(groups, group.key)
        have, gone = at_work(jobs.representative, selects), lost(v, jobs.representative, selects)
        for bound, reserved in ((True, False), (False, True)) if waits_for_all else ((True, False),):
            is_complete = v.flag(f"{group.key} is complete")
            won = won_by(v, jobs, selects, bound=True, reserved=reserved)
            v.cp.add(won - gone >= group.min_available - have).only_enforce_if(is_complete)
            for one, count in v.taken(jobs, bound=bound, reserved=reserved):
                if selects(one.representative):
                    v.cp.add(count <= jobs.counts[one.index] * is_complete)


def enough(v: Variables, jobs: JobClass) -> int:
    """How many tasks one of the jobs needs at most to count as served, if it loses none."""
    job = jobs.representative
    if job.sub_groups is not None:
        return len(job.pending)
    if not v.snapshot.policy.requires_gangs:
        return 1
    (_, in_all), *by_role = ((selects, least - at_work(job, selects)) for selects, least in minima_of(job))
    return max(1, in_all, sum(max(0, missing) for _, missing in by_role))


def protect_gang(cp: cp_model.CpModel, snapshot: Snapshot, v: Variables) -> None:
    """A job that loses tasks to an action that gang guards keeps its minimum, or with `whole` loses all.

    The gang actions spare the minimum per role and of sub-groups too, and nothing of a job that is incomplete already.
    """
    for key, groups in sorted(v.victims_by_job.items()):
        job, guarded = snapshot.jobs[key], dict[tuple[GangProtection, bool], list[cp_model.IntVar]]()
        for group in groups:
            for action in sorted(group.rights):
                by_gang = action in GANG_ACTIONS
                if not by_gang or job.is_whole:
                    mode = snapshot.policy.gang_protects(action)
                    guarded.setdefault((mode, by_gang), []).append(v.evict[group.index, action])
        keepers = [evicted for (how, _), some in guarded.items() if how == "keep" for evicted in some]
        ways = sum(len(group.rights) for group in groups)
        for (mode, by_gang), some in guarded.items():
            if mode == "off":
                continue
            minimum = kept(v, job, in_full=by_gang)
            if mode == "keep" and len(keepers) == ways and minimum.holds_without_change:
                # Losing no task keeps the minimum too, so the rows need no condition.
                for row in minimum.rows(v):
                    cp.add(row)
                continue
            hurt = v.flag(f"{key} loses tasks")
            cp.add(sum_of(list(some)) == 0).only_enforce_if(~hurt)
            minimum.post(v, hurt, *(() if mode == "keep" else (~v.goes_whole(job),)))
            if mode == "whole" and keepers:
                cp.add(sum_of(list(keepers)) == 0).only_enforce_if(v.goes_whole(job))
