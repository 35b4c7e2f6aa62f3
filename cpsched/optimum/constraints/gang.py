"""gang, protect.gang: minima of those who start and of those who lose tasks."""

from __future__ import annotations

from ortools.sat.python import cp_model

from cpsched.instance import Status
from cpsched.optimum.variables import ZERO, Expr, Variables, sum_of
from cpsched.snapshot import SessionJob, Snapshot

_READY = ("Bound", "Running", "Succeeded")


def gang(cp: cp_model.CpModel, snapshot: Snapshot, v: Variables) -> None:
    """A served job is ready, or pipelined with nothing but reserves."""
    policy = snapshot.policy
    if not policy.requires_gangs:
        return
    for key, job in v.jobs.items():
        ready, pipelined = v.flag(f"ready {key}"), v.flag(f"pipelined {key}")
        cp.add_bool_or([~v.served[key], ready, pipelined])
        for count, minimum in _counts(v, job, reserved=False):
            cp.add(count >= minimum).only_enforce_if(ready)
        if policy.is_kube or policy.enabled("gang", "enableJobPipelined"):
            for count, minimum in _counts(v, job, reserved=True):
                cp.add(count >= minimum).only_enforce_if(pipelined)
        bound = sum_of([count for _, count in v.taken(key, reserved=False)])
        cp.add(bound == 0).only_enforce_if(pipelined)


def _counts(v: Variables, job: SessionJob, *, reserved: bool) -> list[tuple[Expr, int]]:
    """(tasks that count, minimum): in all, and per role where roles count."""
    minima: list[tuple[str | None, int]] = [(None, job.min_available)]
    if job.roles_count:
        minima += sorted(job.min_by_role.items())
    return [(_count(v, job, role, reserved=reserved), minimum) for role, minimum in minima]


def _count(v: Variables, job: SessionJob, role: str | None, *, reserved: bool) -> Expr:
    fits = [task for task in job.tasks if role is None or task.role == role]
    base = sum(task.status.value in _READY or (task.status is Status.PENDING and task.best_effort) for task in fits)
    lost = [v.evicted(g) for g in v.victims_by_job.get(job.key, []) if role is None or g.sample.role == role]
    won = [
        count
        for one, count in v.taken(job.key, reserved=reserved)
        if not one.sample.best_effort and (role is None or one.sample.role == role)
    ]
    return sum_of(won) - sum_of(lost) + base


def protect_gang(cp: cp_model.CpModel, snapshot: Snapshot, v: Variables) -> None:
    """A job that loses tasks to an action that gang guards keeps its minimum, or with `whole` loses all."""
    for key, groups in sorted(v.victims_by_job.items()):
        job = snapshot.jobs[key]
        modes = {action: snapshot.policy.gang_protects(action) for group in groups for action in group.rights}
        guarded = [v.evict[g.index, action] for g in groups for action in sorted(g.rights) if modes[action] != "off"]
        if not guarded:
            continue
        hurt = v.flag(f"{key} loses tasks")
        cp.add(sum_of(guarded) == 0).only_enforce_if(~hurt)
        lost = sum_of([v.evicted(group) for group in groups])
        bound = sum_of([count for _, count in v.taken(key, reserved=False)]) if key in v.jobs else ZERO
        if "keep" in modes.values():
            cp.add(bound - lost >= job.min_available - job.ready).only_enforce_if(hurt)
            continue
        whole = v.flag(f"{key} loses everything")
        at_work = sum(task.node != "" for task in job.tasks)
        cp.add(lost == at_work).only_enforce_if(whole)
        cp.add(bound - lost >= job.min_available - job.ready).only_enforce_if(hurt, ~whole)
