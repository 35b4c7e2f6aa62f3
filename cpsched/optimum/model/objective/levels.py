"""The levels as expressions to minimise; a level may take several steps, and the judge reads its value afterwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import floor, gcd
from typing import Any

from ortools.sat.python import cp_model

from cpsched import objectives
from cpsched.check import Decision
from cpsched.check.protections import covers
from cpsched.instance import Task
from cpsched.objectives import MILLIONTHS, PRIORITY_OFFSET, out_of_reach
from cpsched.optimum.model.objective.queue_deficit import deficits_of
from cpsched.optimum.model.objective.stage import Step
from cpsched.optimum.model.symmetry import Classes, VictimGroup
from cpsched.optimum.model.variables import ZERO, Expr, Variables, sum_of, weighted
from cpsched.snapshot import Snapshot
from cpsched.snapshot.queues import cluster_total


def steps_of(v: Variables, name: str, priority: int | None) -> list[Step]:
    """What to minimise, one after another, to settle a level."""
    return [replace(step, measure=_once(step.measure)) for step in _steps_of(v, name, priority)]


def _steps_of(v: Variables, name: str, priority: int | None) -> list[Step]:
    if name == "jobs_admitted":
        starving = {job.key for job in v.snapshot.starving if job.priority == priority}
        jobs = [jobs for jobs in v.classes.jobs if jobs.sample.key in starving]
        served, most = sum_of([v.served(one) for one in jobs]), sum(len(one) for one in jobs)
        worth = _worth(name, priority or 0)

        def pin(value: int) -> list[Any]:
            return [v.served(one) >= len(one) for one in jobs] if value == -most else [-1 * served <= value]

        return [
            Step(
                -1 * served,
                -most,
                lambda d: -worth(d),
                lambda value: -value,
                pin,
                lambda value: -value(served),
            )
        ]
    if name in OF_VICTIMS:
        groups: Iterable[VictimGroup] = v.classes.victims
        if priority is not None:
            beyond = out_of_reach(v.snapshot, priority)
            groups = [group for group in groups if beyond(group.sample)]
        return OF_VICTIMS[name](v, list(groups))
    return OF_DECISION[name](v)


def _worth(name: str, priority: int | None = None) -> Callable[[Decision], int]:
    """The level's own value, which a decision remembers."""

    def measure(decision: Decision) -> int:
        value = objectives.value_of(decision, name, priority)
        assert value is not None
        return value

    return measure


def _once(measure: Callable[[Decision], int]) -> Callable[[Decision], int]:
    """The same, of the decision it was last asked about from memory: a decision does not change."""
    last: list[tuple[Decision, int]] = []

    def remembered(decision: Decision) -> int:
        if not last or last[0][0] is not decision:
            last[:] = [(decision, measure(decision))]
        return last[0][1]

    return remembered


def _victim_max_priority(v: Variables, groups: list[VictimGroup]) -> list[Step]:
    """How many of the priorities are reached by some victim: reached[k] says that one has at least the k-th lowest."""
    rank_of = {group.index: group.sample.pod_priority for group in groups}
    priorities = sorted(set(rank_of.values()))
    place_of = {index: priorities.index(rank) for index, rank in rank_of.items()}

    def total() -> Expr:
        reached = [v.flag(f"victims reach priority {priority}") for priority in priorities]
        for group in groups:
            v.cp.add(v.evicted(group) <= len(group.tasks) * reached[place_of[group.index]])
        for lower, higher in pairwise(reached):
            v.cp.add_implication(higher, lower)
        return sum_of(list(reached))

    def measure(decision: Decision) -> int:
        top = objectives.victim_max_priority(_among(v, decision, groups), v.snapshot)
        return 0 if top is None else priorities.index(top) + 1

    def above(value: int) -> list[Expr]:
        return [v.evicted(group) for group in groups if place_of[group.index] >= value]

    def read(value: Callable[[Expr], int]) -> int:
        return max((place_of[group.index] + 1 for group in groups if value(v.evicted(group))), default=0)

    return [
        Step(
            total,
            0,
            measure,
            lambda value: priorities[value - 1] if value > 0 else None,
            lambda value: [lost == 0 for lost in above(value)],
            read,
            ladder=tuple(priorities),
            among=frozenset(group.index for group in groups),
            ranks=len(priorities),
            beyond=lambda value: sum_of(above(value)),
        )
    ]


def _victim_priority_sum(v: Variables, groups: list[VictimGroup]) -> list[Step]:
    """Fewest victims first, then the smallest sum, as long as sums stay below the offset that each victim adds."""
    ranked = [(group.sample.pod_priority, group) for group in groups]
    ranks = {rank for rank, _ in ranked}
    total = sum([abs(rank) * len(group.tasks) for rank, group in ranked])
    if total >= PRIORITY_OFFSET:
        literal = weighted((rank + PRIORITY_OFFSET, v.evicted(group)) for rank, group in ranked)
        return [Step(literal, 0, lambda d: objectives.victim_priority_sum(_among(v, d, groups), v.snapshot))]
    count = _victim_count(v, groups)[0]
    lowest, common = min(ranks, default=0), gcd(*ranks) or 1
    steps = [replace(count, level=lambda value: value * (PRIORITY_OFFSET + lowest))]
    if len(ranks) > 1:
        priorities = weighted((rank, v.evicted(group)) for rank, group in ranked)
        least = sum([min(0, rank) * len(group.tasks) for rank, group in ranked])
        steps.append(
            Step(
                priorities,
                least,
                lambda d: sum(task.pod_priority for task in _among(v, d, groups)),
                lambda _: None,
                read=lambda value: value(priorities),
                attainable=lambda bound: -(-bound // common) * common,
            )
        )
    return steps


def _victim_count(v: Variables, groups: list[VictimGroup]) -> list[Step]:
    total = sum_of([v.evicted(group) for group in groups])
    return [
        Step(
            total,
            0,
            lambda d: objectives.victim_count(_among(v, d, groups), v.snapshot),
            read=lambda value: value(total),
        )
    ]


def _among(v: Variables, decision: Decision, groups: list[VictimGroup]) -> list[Task]:
    """The decision's victims that belong to the groups."""
    if len(groups) == len(v.classes.victims) and decision.evicted <= v.group_of.keys():
        return list(decision.victims)
    wanted = {group.index for group in groups}
    return [victim for victim in decision.victims if v.group_of.get(victim.key) in wanted]


def _victim_start_time(v: Variables, groups: list[VictimGroup]) -> list[Step]:
    """Among the victims of highest priority: too_early[k] says that one started no later than the k-th start."""
    rank_of = {group.index: group.sample.pod_priority for group in groups}
    priorities = sorted(set(rank_of.values()), reverse=True)
    starts = sorted({_start(v, group) for group in groups})

    @cache
    def early() -> list[cp_model.IntVar]:
        flags = [v.flag(f"a top victim started by {start}") for start in starts]
        for lower, higher in pairwise(flags):
            v.cp.add_implication(lower, higher)
        above: list[VictimGroup] = []
        for priority in priorities:
            alike = [group for group in groups if rank_of[group.index] == priority]
            higher_goes = v.flag(f"a victim above {priority}") if above else None
            if higher_goes is not None:
                v.cp.add(sum_of([v.evicted(group) for group in above]) >= 1).only_enforce_if(higher_goes)
            for group in alike:
                flag = flags[starts.index(_start(v, group))]
                row = v.cp.add(v.evicted(group) <= len(group.tasks) * flag)
                if higher_goes is not None:
                    row.only_enforce_if(~higher_goes)
            above += alike
        return flags

    def measure(decision: Decision) -> int:
        first = objectives.victim_start_time(_among(v, decision, groups), v.snapshot)
        return 0 if first is None else len(starts) - starts.index(first)

    def too_early(value: int) -> list[cp_model.IntVar]:
        return early()[: len(starts) - value]

    def read(value: Callable[[Expr], int]) -> int:
        gone = [group for group in groups if value(v.evicted(group))]
        top = max((rank_of[group.index] for group in gone), default=0)
        first = min((_start(v, group) for group in gone if rank_of[group.index] == top), default=None)
        return 0 if first is None else len(starts) - starts.index(first)

    return [
        Step(
            lambda: sum_of(list(early())),
            0,
            measure,
            lambda value: starts[len(starts) - value] if value > 0 else None,
            lambda value: [flag == 0 for flag in too_early(value)],
            read,
            ranks=len(starts),
            beyond=lambda value: sum_of(list(too_early(value))),
        )
    ]


def _start(v: Variables, group: VictimGroup) -> int:
    start = group.sample.pod_status.start_time
    return v.snapshot.now if start is None else start


def _queue_deficit_max(v: Variables) -> list[Step]:
    deficits = deficits_of(v)
    if not deficits:
        return [Step(ZERO, 0, _worth("queue_deficit_max"))]
    worst = deficits[0].variable
    if len(deficits) > 1:
        worst = v.cp.new_int_var(0, MILLIONTHS, "worst deficit")
        for deficit in deficits:
            v.cp.add(worst >= deficit.variable)
        v.cp.add(sum_of([deficit.variable for deficit in deficits]) >= worst)
    gains = [gain for deficit in deficits for gain in deficit.gains]
    less = tuple((-1 * gain, fall.without) for gain, fall in gains)
    return [Step(worst, 0, _worth("queue_deficit_max"), less=less, in_millionths=True)]


def _queue_deficit_total(v: Variables) -> list[Step]:
    total = sum_of([deficit.variable for deficit in deficits_of(v)])
    return [Step(total, 0, _worth("queue_deficit_total"), in_millionths=True)]


def _pdb_violations(v: Variables) -> list[Step]:
    excess = []
    for budget in v.snapshot.instance.budgets:
        covered = [group for group in v.classes.victims if covers(budget, group.sample)]
        if covered:
            most = sum(len(group.tasks) for group in covered)
            over = v.cp.new_int_var(0, most, f"excess of {budget.key}")
            lost = sum_of([v.evicted(group) for group in covered])
            v.cp.add(over >= lost - max(0, budget.status.disruptions_allowed))
            excess.append(over)
    return [Step(sum_of(list(excess)), 0, _worth("pdb_violations"))]


def _gangs_broken(v: Variables) -> list[Step]:
    lefts: list[tuple[str, Expr, int]] = []
    for key, groups in sorted(v.victims_by_job.items()):
        job = v.snapshot.jobs[key]
        if job.ready >= job.min_available:
            jobs = v.class_by_job.get(key)
            bound = ZERO if jobs is None else sum_of([count for _, count in v.taken(jobs, reserved=False)])
            left = bound - sum_of([v.evicted(group) for group in groups])
            lefts.append((key, left, job.min_available - job.ready))

    @cache
    def total() -> Expr:
        broken = []
        for key, left, least in lefts:
            flag = v.flag(f"{key} is broken")
            v.cp.add(left >= least).only_enforce_if(~flag)
            broken.append(flag)
        return sum_of(list(broken))

    def read(value: Callable[[Expr], int]) -> int:
        return sum(value(left) < least for _, left, least in lefts)

    def pin(value: int) -> list[Any]:
        return [total() <= value] if value else [left >= least for _, left, least in lefts]

    return [Step(total, 0, _worth("gangs_broken"), pin=pin, read=read)]


def _tasks(v: Variables, *, reserved: bool) -> list[Step]:
    total = [count for jobs in v.classes.jobs for _, count in v.taken(jobs, reserved=reserved)]
    most = sum(len(one.tasks) for one in v.classes.tasks)
    count = _worth("tasks_placed" if reserved else "tasks_bound")
    placed = sum_of(total)
    return [Step(-1 * placed, -most, lambda d: -count(d), lambda value: -value, read=lambda value: -value(placed))]


def _resources_placed(v: Variables) -> list[Step]:
    total = cluster_total(v.snapshot.instance)
    parts, most = [], 0
    for one in v.classes.tasks:
        shares = (Fraction(a) / Fraction(total[n]) for n, a in one.sample.requests.items() if total.get(n))
        worth = floor(MILLIONTHS * max(shares, default=Fraction(0)))
        parts.append((-worth, v.total(one)))
        most += worth * len(one.tasks)
    count = _worth("resources_placed")
    return [Step(weighted(parts), -most, lambda d: -count(d), lambda value: -value, in_millionths=True)]


def used_at_least(snapshot: Snapshot, classes: Classes) -> Step:
    """What is known of `nodes_used` without a model."""
    least = len(_used_anyway(snapshot, classes))
    return Step(cp_model.LinearExpr.constant(least), least, _worth("nodes_used"))


def _used_anyway(snapshot: Snapshot, classes: Classes) -> set[str]:
    """Nodes on which somebody stays, or is placed because whoever evicts the last is, if evictions are by node."""
    by_node = snapshot.policy.rules.eviction_scope == "node"
    at_risk = Counter() if by_node else Counter([task.node for group in classes.victims for task in group.tasks])
    return {node for node, present in snapshot.instance.tasks_by_node.items() if at_risk[node] < len(present)}


def _nodes_used(v: Variables) -> list[Step]:
    """Nodes that are used whatever happens, and a flag for each of the others."""
    used = _used_anyway(v.snapshot, v.classes)
    least = len(used)
    held = {
        node: v.victims_by_node.get(node, [])
        for node, present in v.snapshot.instance.tasks_by_node.items()
        if node not in used and (present or v.classes_by_node.get(node))
    }

    @cache
    def flags() -> dict[str, cp_model.IntVar]:
        found = {node: v.flag(f"{node} hosts something") for node in held}
        for node, groups in held.items():
            if groups:
                staying = sum_of([v.evicted(group) for group in groups])
                v.cp.add(staying == sum(len(g.tasks) for g in groups)).only_enforce_if(~found[node])
                for one in v.classes_by_node.get(node, []):
                    v.cp.add(v.placed(one, node) == 0).only_enforce_if(~found[node])
            else:
                _hosted(v, node, found[node])
        for nodes in v.room.alike:
            for first, second in pairwise(node for node in nodes if node in found):
                v.cp.add_implication(found[second], found[first])
        return found

    def read(value: Callable[[Expr], int]) -> int:
        return least + sum(
            any(value(v.evicted(group)) < len(group.tasks) for group in groups)
            or any(value(v.placed(one, node)) for one in v.classes_by_node.get(node, []))
            for node, groups in held.items()
        )

    return [Step(lambda: sum_of(list(flags().values())) + least, least, _worth("nodes_used"), read=read)]


def _hosted(v: Variables, node: str, flag: cp_model.IntVar) -> None:
    """An empty node has room only if it counts as used; everybody asks for some of it."""
    present = v.classes_by_node.get(node, [])
    for resource in sorted({name for one in present for name, amount in one.sample.requests.items() if amount}):
        asked = weighted((v.classes.amount(one.sample, resource), v.placed(one, node)) for one in present)
        v.cp.add(asked <= max(0, v.room.future[node].get(resource, 0)) * flag)


OF_VICTIMS: dict[str, Callable[[Variables, list[VictimGroup]], list[Step]]] = {
    "victim_max_priority": _victim_max_priority,
    "victim_priority_sum": _victim_priority_sum,
    "victim_count": _victim_count,
    "victim_start_time": _victim_start_time,
}
OF_DECISION: dict[str, Callable[[Variables], list[Step]]] = {
    "queue_deficit_max": _queue_deficit_max,
    "queue_deficit_total": _queue_deficit_total,
    "pdb_violations": _pdb_violations,
    "gangs_broken": _gangs_broken,
    "tasks_bound": lambda v: _tasks(v, reserved=False),
    "tasks_placed": lambda v: _tasks(v, reserved=True),
    "resources_placed": _resources_placed,
    "nodes_used": _nodes_used,
}
