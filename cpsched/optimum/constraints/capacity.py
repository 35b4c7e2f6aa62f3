"""capacity and charge: what nodes can hold, and whose room it is."""

from __future__ import annotations

from math import floor, inf

from ortools.sat.python import cp_model

from cpsched.instance import Task
from cpsched.optimum.classes import TaskClass, VictimGroup
from cpsched.optimum.variables import Expr, Variables, sum_of, weighted
from cpsched.snapshot import Snapshot


def capacity(cp: cp_model.CpModel, snapshot: Snapshot, v: Variables) -> None:
    """Binds fit what is idle, everything fits what will be idle once the victims that may be charged are gone."""
    for node, present in sorted(v.classes_by_node.items()):
        groups = v.victims_by_node.get(node, [])
        freed = _charged_room(cp, snapshot, v, node, present, groups)
        for resource in sorted({name for one in present for name, amount in one.sample.requests.items() if amount}):
            unit = v.classes.unit[resource]
            asking = [one for one in present if one.sample.requests.get(resource, 0)]
            idle = floor(snapshot.idle[node].get(resource, 0) / unit)
            future = floor(snapshot.future_idle[node].get(resource, 0) / unit)
            cp.add(
                weighted((v.classes.amount(one.sample, resource), v.bound(one, node)) for one in asking) <= max(idle, 0)
            )
            placed = weighted((v.classes.amount(one.sample, resource), v.placed(one, node)) for one in asking)
            room = weighted((v.classes.amount(group.sample, resource), freed[group.index]) for group in groups)
            if future >= 0:
                cp.add(placed <= future + room)
            else:
                asked = v.flag(f"{resource} asked on {node}")
                for one in asking:
                    cp.add(v.placed(one, node) == 0).only_enforce_if(~asked)
                cp.add(placed <= future + room).only_enforce_if(asked)


def _charged_room(
    cp: cp_model.CpModel,
    snapshot: Snapshot,
    v: Variables,
    node: str,
    present: list[TaskClass],
    groups: list[VictimGroup],
) -> dict[int, Expr]:
    """Per group how many of its victims make room here: all, where every class has every right; else those charged."""
    if snapshot.policy.rules.charge == "off" or _all_have_all_rights(present, groups):
        return {group.index: v.evicted(group) for group in groups}
    freed: dict[int, Expr] = {}
    everywhere = snapshot.policy.rules.eviction_scope == "cluster"
    for group in groups:
        parts: list[Expr] = []
        entitled = {index for indices in group.rights.values() for index in indices}
        for one in v.classes.tasks if everywhere else present:
            if one.index in entitled:
                most = min(most_needed(one.sample, group.sample), len(group.tasks))
                charged = cp.new_int_var(0, len(group.tasks), f"charge {group.sample.key} to {one.index}")
                where = sum_of([v.placed(one, place) for place in one.nodes]) if everywhere else v.placed(one, node)
                cp.add(charged <= where * most)
                parts.append(charged)
        total = sum_of(parts)
        cp.add(total <= v.evicted(group))
        freed[group.index] = total
    return freed


def _all_have_all_rights(present: list[TaskClass], groups: list[VictimGroup]) -> bool:
    """Where everybody may evict everybody, whoever needs the room can be charged; the checker has the last word."""
    everybody = {one.index for one in present}
    return all(everybody <= {i for indices in group.rights.values() for i in indices} for group in groups)


def most_needed(task: Task, victim: Task) -> int:
    """How many such victims the task can be charged: one less must not cover its request in some resource."""
    most: float = 1
    for name, amount in task.requests.items():
        if amount > 0:
            size = victim.requests.get(name, 0)
            most = max(most, inf if size == 0 else 1 + (amount - 1) // size)
    return 10**6 if most == inf else int(most)
