"""From counts to named tasks: ties are broken by name, so that equal counts give equal decisions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from ortools.sat.python import cp_model

from cpsched.check import Decision
from cpsched.instance import Task
from cpsched.optimum.variables import Expr, Variables
from cpsched.solution import Eviction

Places = dict[str, str]


def extract(v: Variables, value: Callable[[Expr], int]) -> tuple[Places, Places, tuple[Eviction, ...]]:
    """Binds, reserves and evictions of one assignment of the variables."""
    binds: Places = {}
    reserves: Places = {}
    for one in v.classes.tasks:
        waiting = {job: [t for t in one.tasks if v.snapshot.job_key(t) == job] for job in one.jobs}
        for places, found, kind in ((v.bind, binds, "bound"), (v.reserve, reserves, "reserved")):
            slots = [
                node for node in one.nodes if (one.index, node) in places for _ in range(value(places[one.index, node]))
            ]
            for job in one.jobs:
                taken = _taken(v, job, one.index, kind, value)
                for _ in range(taken):
                    found[waiting[job].pop(0).key] = slots.pop(0)
    return binds, reserves, _evictions(v, value, {**binds, **reserves})


def _taken(v: Variables, job: str, index: int, kind: str, value: Callable[[Expr], int]) -> int:
    counts = v.taken(job, bound=kind == "bound", reserved=kind == "reserved")
    return next((value(count) for one, count in counts if one.index == index), 0)


def _evictions(v: Variables, value: Callable[[Expr], int], placed: Places) -> tuple[Eviction, ...]:
    evictions = []
    class_of = {task.key: one.index for one in v.classes.tasks for task in one.tasks}
    everywhere = v.snapshot.policy.rules.eviction_scope == "cluster"
    for group in v.classes.victims:
        left = list(group.tasks)
        for action in sorted(group.rights):
            entitled = sorted(
                key
                for key, node in placed.items()
                if class_of[key] in group.rights[action] and (everywhere or node == group.node)
            )
            for _ in range(value(v.evict[group.index, action])):
                victim: Task = left.pop(0)
                evictions.append(Eviction(task=victim.key, node=victim.node, action=action, for_job=_job(v, entitled)))
    return tuple(sorted(evictions, key=lambda eviction: eviction.task))


def _job(v: Variables, entitled: list[str]) -> str:
    return v.snapshot.job_key(v.snapshot.instance.tasks[entitled[0]]) if entitled else ""


def counts_of(v: Variables, decision: Decision) -> dict[cp_model.IntVar, int]:
    """The other way round: the counts that a decision stands for."""
    class_of = {task.key: one.index for one in v.classes.tasks for task in one.tasks}
    counts: dict[cp_model.IntVar, int] = {}
    for places, found in ((v.bind, decision.binds), (v.reserve, decision.reserves)):
        totals = Counter((class_of[key], node) for key, node in found.items() if key in class_of)
        counts |= {variable: totals[place] for place, variable in places.items()}
    actions = {item.task: item.action or decision.rights.action(item.task) for item in decision.evictions}
    for group in v.classes.victims:
        for action in group.rights:
            counts[v.evict[group.index, action]] = sum(actions.get(task.key) == action for task in group.tasks)
    return counts
