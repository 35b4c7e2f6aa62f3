"""The models that the optimum is measured against: the same rules and levels, without what makes ours fast."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from ortools.sat.python import cp_model

from cpsched.objectives import level_plan
from cpsched.optimum.model.capacity import node_capacity
from cpsched.optimum.model.classes import Classes, JobClass, TaskClass, VictimClass
from cpsched.optimum.model.constraints import CONSTRAINTS
from cpsched.optimum.model.objective import stages_of
from cpsched.optimum.model.symmetry import build_classes
from cpsched.optimum.model.variables import Variables
from cpsched.snapshot import Snapshot


@dataclass(frozen=True)
class Settled:
    """One level: what a model reached and whether it says that nothing is better."""

    name: str
    priority: int | None
    proved: bool


def by_default(
    snapshot: Snapshot,
    merge: Callable[[Snapshot], Classes],
    limit: float,
    clock: Callable[[], float] = time.monotonic,
) -> list[Settled]:
    """Level by level with CP-SAT as it comes: two workers, no hint, no bound from elsewhere, no second solver."""
    end = clock() + limit
    cp = cp_model.CpModel()
    classes = merge(snapshot)
    variables = Variables(cp, snapshot, classes, node_capacity(snapshot, classes))
    for constrain in CONSTRAINTS.values():
        constrain(cp, snapshot, variables)
    plan = level_plan(snapshot)
    found: list[Settled] = []
    for position, (name, priority) in enumerate(plan):
        share = max(0.1, (end - clock()) * 2 / (len(plan) - position + 1))
        solved = [_solved(cp, step.expr, share) for step in stages_of(variables, name, priority)]
        found.append(Settled(name, priority, all(solved) and all(level.proved for level in found)))
    return found


def _solved(cp: cp_model.CpModel, expr: cp_model.LinearExpr, seconds: float) -> bool:
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 2
    solver.parameters.max_time_in_seconds = seconds
    cp.minimize(expr)
    status = solver.solve(cp)
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        cp.add(expr <= solver.value(expr))
    return status == cp_model.OPTIMAL


def one_by_one(snapshot: Snapshot) -> Classes:
    """Every task and every victim by itself: a variable per task and node."""
    merged = build_classes(snapshot, presolve=False)
    tasks: list[TaskClass] = []
    alone: dict[int, list[int]] = {one.index: [] for one in merged.tasks}
    for one in merged.tasks:
        for task in one.tasks:
            alone[one.index].append(len(tasks))
            tasks.append(replace(one, index=len(tasks), tasks=(task,), jobs=(snapshot.job_key(task),)))
    counts: dict[str, dict[int, int]] = {}
    for one in tasks:
        counts.setdefault(one.jobs[0], {})[one.index] = 1
    jobs = tuple(JobClass(index, (key,), snapshot.jobs[key], counts[key]) for index, key in enumerate(sorted(counts)))
    victims: list[VictimClass] = []
    for group in merged.victims:
        rights = {action: tuple(j for i in indices for j in alone[i]) for action, indices in group.rights.items()}
        for victim in group.tasks:
            job = snapshot.job_key(victim)
            victims.append(replace(group, index=len(victims), job=job, tasks=(victim,), rights=rights, most=1))
    return replace(merged, tasks=tuple(tasks), jobs=jobs, victims=tuple(victims))
