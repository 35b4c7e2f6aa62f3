"""gang, protect.gang: minima of those who start and of those who lose tasks."""

from __future__ import annotations

from ortools.sat.python import cp_model

from cpsched.instance import Status
from cpsched.optimum.model.classes import JobClass
from cpsched.optimum.model.variables import ZERO, Expr, Variables, sum_of
from cpsched.snapshot import Snapshot

_READY = ("Bound", "Running", "Succeeded")


def gang(cp: cp_model.CpModel, snapshot: Snapshot, v: Variables) -> None:
    """A served job is ready, or pipelined with nothing but reserves."""
    policy = snapshot.policy
    if not policy.requires_gangs:
        return
    for jobs in v.classes.jobs:
        ready, pipelined = v.ready[jobs.index], v.pipelined[jobs.index]
        for one, bound in v.taken(jobs, reserved=False):
            cp.add(bound <= jobs.counts[one.index] * ready)
        counts = policy.is_kube or policy.enabled("gang", "enableJobPipelined")
        for role, minimum in _minima(jobs):
            missing = minimum - _at_work(jobs, role)
            lost = _lost(v, jobs, role)
            bound, reserved = _won(v, jobs, role, bound=True), _won(v, jobs, role, bound=False)
            if lost is not None:
                cp.add(bound - lost >= missing).only_enforce_if(ready)
                if counts:
                    cp.add(reserved - lost >= missing).only_enforce_if(pipelined)
            elif missing > 0:
                cp.add(bound >= missing * ready)
                if counts:
                    cp.add(reserved >= missing * pipelined)


def _minima(jobs: JobClass) -> list[tuple[str | None, int]]:
    """What one of the jobs must have at work, in all and per role."""
    by_role = sorted(jobs.representative.min_by_role.items()) if jobs.representative.roles_count else []
    return [(None, jobs.representative.min_available), *by_role]


def enough(v: Variables, jobs: JobClass) -> int:
    """How many tasks one of the jobs needs at most to count as served, if it loses none."""
    if not v.snapshot.policy.requires_gangs:
        return 1
    (_, in_all), *by_role = ((role, minimum - _at_work(jobs, role)) for role, minimum in _minima(jobs))
    return max(1, in_all, sum(max(0, missing) for _, missing in by_role))


def _at_work(jobs: JobClass, role: str | None) -> int:
    """Tasks of one of the jobs that count as ready already; pending ones that ask for nothing do."""
    fits = [task for task in jobs.representative.tasks if role is None or task.role == role]
    return sum(task.status.value in _READY or (task.status is Status.PENDING and task.best_effort) for task in fits)


def _lost(v: Variables, jobs: JobClass, role: str | None) -> Expr | None:
    """How many tasks the job loses; None if it has none to lose."""
    groups = [
        g for g in v.victims_by_job.get(jobs.representative.key, []) if role is None or g.representative.role == role
    ]
    return sum_of([v.evicted(group) for group in groups]) if groups else None


def _won(v: Variables, jobs: JobClass, role: str | None, *, bound: bool) -> Expr:
    """How many more tasks that count are started, or reserved."""
    return sum_of(
        [
            count
            for one, count in v.taken(jobs, bound=bound, reserved=not bound)
            if not one.representative.best_effort and (role is None or one.representative.role == role)
        ]
    )


def protect_gang(cp: cp_model.CpModel, snapshot: Snapshot, v: Variables) -> None:
    """A job that loses tasks to an action that gang guards keeps its minimum, or with `whole` loses all."""
    for key, groups in sorted(v.victims_by_job.items()):
        job = snapshot.jobs[key]
        modes = {action: snapshot.policy.gang_protects(action) for group in groups for action in group.rights}
        guarded = [v.evict[g.index, action] for g in groups for action in sorted(g.rights) if modes[action] != "off"]
        if not guarded:
            continue
        lost = sum_of([v.evicted(group) for group in groups])
        bound = _bound(v, key)
        missing = job.min_available - job.ready
        if "keep" in modes.values() and "off" not in modes.values() and missing <= 0:
            # Losing no task keeps the minimum too, so the row needs no condition.
            cp.add(lost - bound <= -missing)
            continue
        hurt = v.flag(f"{key} loses tasks")
        cp.add(sum_of(guarded) == 0).only_enforce_if(~hurt)
        if "keep" in modes.values():
            cp.add(bound - lost >= missing).only_enforce_if(hurt)
            continue
        whole = v.flag(f"{key} loses everything")
        cp.add(lost == job.holding).only_enforce_if(whole)
        cp.add(bound - lost >= missing).only_enforce_if(hurt, ~whole)


def _bound(v: Variables, job: str) -> Expr:
    """How many tasks of a job that has some at work start; such a job is a class of its own."""
    jobs = v.class_by_job.get(job)
    return ZERO if jobs is None else sum_of([count for _, count in v.taken(jobs, reserved=False)])
