"""Levels: what each measures as a sum of variables, what a value given for it says, and what a bound claims."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from math import floor, lcm
from typing import NamedTuple

from cpsched.objectives import MILLIONTHS, PRIORITY_OFFSET, out_of_reach, queue_deficits
from cpsched.policy.levels import ABOUT_NEARNESS, LevelRef, Value
from cpsched.proof.counted import started
from cpsched.proof.counts import Counts
from cpsched.proof.draft import Draft
from cpsched.proof.names import change, evicted, placed, served, taken
from cpsched.proof.names import started as starting
from cpsched.proof.rows import ProofRow, Terms, rounded, summed
from cpsched.rules.protections import covers
from cpsched.snapshot.queues import cluster_total


class UnstatedError(Exception):
    """The level cannot be stated as rows here; then there is nothing to prove about it."""


class Measure(NamedTuple):
    """constant + Σ coefficient · variable."""

    constant: int
    terms: Terms


def jobs_admitted(draft: Draft, priority: int | None) -> Measure:
    """Starving jobs of the priority that receive something."""
    starving = {job.key for job in draft.snapshot.starving if job.priority == priority}
    mine = [number for number, jobs in enumerate(draft.counted.jobs) if jobs.keys[0] in starving]
    return Measure(0, summed((1, served(draft, number)) for number in mine))


def victim_priority_sum(draft: Draft, priority: int | None) -> Measure:
    """Priorities of victims, each raised by 2^31."""
    groups = counted_by(draft, priority)
    victims = draft.counted.victims
    return Measure(0, summed((victims[n].task.pod_priority + PRIORITY_OFFSET, evicted(draft, n)) for n in groups))


def victim_count(draft: Draft, priority: int | None) -> Measure:
    """Victims."""
    return Measure(0, summed((1, evicted(draft, number)) for number in counted_by(draft, priority)))


def counted_by(draft: Draft, priority: int | None) -> list[int]:
    """The groups of victims that a level looks at: with a priority those out of reach of all lower ones."""
    victims = draft.counted.victims
    if priority is None:
        return list(range(len(victims)))
    beyond = out_of_reach(draft.snapshot, priority)
    return [number for number, group in enumerate(victims) if beyond(group.task)]


def pdb_violations(draft: Draft, _: int | None) -> Measure:
    """Evictions beyond what each budget allows."""
    excess = []
    for budget in draft.snapshot.instance.budgets:
        groups = [n for n, group in enumerate(draft.counted.victims) if covers(budget, group.task)]
        gone = summed((1, evicted(draft, number)) for number in groups)
        if not gone:
            continue

        allowed = max(0, budget.status.disruptions_allowed)

        def make(
            key: str = budget.key, groups: list[int] = groups, gone: Terms = gone, allowed: int = allowed
        ) -> Terms:
            over = draft.variable(
                f"excess[{key}]",
                0,
                draft.highest(gone),
                lambda c: max(0, sum(c.gone(n) for n in groups) - allowed),
            )
            draft.at_least(f"pdb_violations[{key}]", summed([(1, over), (-1, gone)]), -allowed)
            return over

        excess.append(draft.once(("excess", budget.key), make))
    return Measure(0, summed((1, over) for over in excess))


def gangs_broken(draft: Draft, _: int | None) -> Measure:
    """Jobs that reach their minimum before and not after; what they start counts."""
    flags = []
    for key, groups in draft.counted.victims_of.items():
        job = draft.snapshot.jobs[key]
        if job.ready < job.min_available:
            continue
        own = draft.counted.jobs_of.get(key)
        gone = summed((1, evicted(draft, number)) for number in groups)
        left = summed([(1, {} if own is None else starting(draft, own)), (-1, gone)])

        def make(key: str = key, left: Terms = left, least: int = job.min_available - job.ready) -> Terms:
            def value(c: Counts) -> int:
                one = draft.snapshot.jobs[key]
                gone = len(c.decision.victims_by_job.get(key, ()))
                return int(one.ready - gone + c.decision.starts_of(one) < one.min_available)

            broken = draft.variable(f"broken[{key}]", 0, 1, value)
            missing = least - draft.lowest(left)
            if missing > 0:
                draft.at_least(f"gangs_broken[{key}]", summed([(1, left), (missing, broken)]), least)
            return broken

        flags.append(draft.once(("broken", key), make))
    return Measure(0, summed((1, flag) for flag in flags))


def tasks_bound(draft: Draft, _: int | None) -> Measure:
    """Tasks that start."""
    return Measure(0, summed((1, starting(draft, number)) for number in range(len(draft.counted.jobs))))


def tasks_placed(draft: Draft, _: int | None) -> Measure:
    """Tasks that start or are reserved."""
    return Measure(0, summed((1, taken(draft, number)) for number in range(len(draft.counted.jobs))))


def resources_placed(draft: Draft, _: int | None) -> Measure:
    """The dominant share of the cluster of each placed task, in millionths, rounded down."""
    counted, total = draft.counted, cluster_total(draft.snapshot.instance)
    parts = []
    for number, place in enumerate(counted.places):
        for kind in place.kinds:
            requests = counted.kinds[kind].task.requests.items()
            shares = (Fraction(amount) / Fraction(total[name]) for name, amount in requests if total.get(name))
            parts.append((floor(MILLIONTHS * max(shares, default=Fraction(0))), placed(draft, kind, number)))
    return Measure(0, summed(parts))


def queue_deficit_total(draft: Draft, _: int | None) -> Measure:
    """All deficits together."""
    return Measure(0, summed((1, deficit) for deficit in _deficits(draft)))


def queue_deficit_max(draft: Draft, _: int | None) -> Measure:
    """The largest deficit."""
    deficits = _deficits(draft)

    def make() -> Terms:
        worst = draft.variable("worst deficit", 0, MILLIONTHS, lambda c: max(queue_deficits(c.decision)))
        for deficit in deficits:
            draft.at_least(f"queue_deficit_max[{next(iter(deficit))}]", summed([(1, worst), (-1, deficit)]), 0)
        row = summed([*((1, deficit) for deficit in deficits), (-1, worst)])
        draft.at_least("queue_deficit_max[total]", row, 0)
        return worst

    return Measure(0, draft.once(("worst",), make) if deficits else {})


def _deficits(draft: Draft) -> list[Terms]:
    """⌈10⁶ · (want − held) / want⌉ at its largest over resources: times want, no less than what is missing."""
    snapshot, found = draft.snapshot, []
    queues = [
        name
        for name, share in snapshot.shares.items()
        if share.is_leaf and any(job.queue == name for job in snapshot.jobs.values())
    ]
    for number, name in enumerate(queues):

        def make(number: int = number, name: str = name) -> Terms:
            share = snapshot.shares[name]
            deficit = draft.variable(f"deficit[{name}]", 0, MILLIONTHS, lambda c: queue_deficits(c.decision)[number])
            for resource, request in sorted(share.request.items()):
                want = Fraction(min(share.deserved.get(resource, 0), request))
                if resource == "pods" or want <= 0:
                    continue
                unit = draft.counted.unit.get(resource, 1)
                missing = want - Fraction(share.allocated.get(resource, 0))
                whole = lcm(want.denominator, missing.denominator)
                row = [(int(want * whole), deficit), (MILLIONTHS * unit * whole, change(draft, name, resource))]
                draft.at_least(f"queue_deficit[{name},{resource}]", summed(row), int(MILLIONTHS * missing * whole))
            return deficit

        found.append(draft.once(("deficit", name), make))
    return found


def nodes_used(draft: Draft, _: int | None) -> Measure:
    """Nodes that host a task that cannot be evicted, and of the others those counted by a variable.

    Where victims go only for a task beside them, a node that hosts anything is never emptied.
    """
    counted, by_node = draft.counted, draft.snapshot.instance.tasks_by_node
    fixed, flags = 0, []
    for number, place in enumerate(counted.places):
        groups = counted.victims_at(number)
        there = len(by_node[place.nodes[0]])
        going = sum(len(counted.victims[group].tasks) for group in groups) // len(place.nodes)
        if there and (not counted.everywhere or going < there):
            fixed += len(place.nodes)
        elif there or place.kinds:
            flags.append(draft.once(("used", number), partial(_used, draft, number, there)))
    return Measure(fixed, summed((1, flag) for flag in flags))


def _used(draft: Draft, number: int, there: int) -> Terms:
    counted, place = draft.counted, draft.counted.places[number]
    many, by_node = len(place.nodes), draft.snapshot.instance.tasks_by_node

    def value(c: Counts) -> int:
        gone, placed_on = c.decision.evicted, c.decision.placed_by_node
        stays = {node for node in place.nodes if any(task.key not in gone for task in by_node[node])}
        return len(stays.union(node for node in place.nodes if placed_on.get(node)))

    used = draft.variable(f"used[{place.name}]", 0, many, value, number)
    for kind in place.kinds:
        one = placed(draft, kind, number)
        row = summed([(draft.highest(one), used), (-1, one)])
        draft.at_least(f"nodes_used[{place.name} by {counted.kinds[kind].name}]", row, 0)
    if there:
        gone = summed((1, evicted(draft, group)) for group in counted.victims_at(number))
        draft.at_least(f"nodes_used[{place.name}]", summed([(1, gone), (there, used)]), there * many)
        return used
    names = {name for kind in place.kinds for name, amount in counted.kinds[kind].task.requests.items() if amount}
    for name in sorted(names):
        asked = summed((-counted.amount(counted.kinds[k].task, name), placed(draft, k, number)) for k in place.kinds)
        row = summed([(1, asked), (max(0, place.future.get(name, 0)), used)])
        draft.at_least(f"nodes_used[{place.name},{name}]", row, 0)
    return used


MEASURES: dict[str, Callable[[Draft, int | None], Measure]] = {
    "jobs_admitted": jobs_admitted,
    "queue_deficit_max": queue_deficit_max,
    "queue_deficit_total": queue_deficit_total,
    "pdb_violations": pdb_violations,
    "victim_priority_sum": victim_priority_sum,
    "victim_count": victim_count,
    "gangs_broken": gangs_broken,
    "tasks_bound": tasks_bound,
    "tasks_placed": tasks_placed,
    "resources_placed": resources_placed,
    "nodes_used": nodes_used,
}
"""Levels that are a sum; the others are given by which victims there are."""


def _is_stated(draft: Draft, level: LevelRef) -> bool:
    """Whether the level is one of numbers and victims: not where tasks are, nor what roles or sub-groups a gang has."""
    if level.name == "gangs_broken":
        losers = [draft.snapshot.jobs[key] for key in draft.counted.victims_of]
        return not any(job.min_by_role or job.sub_groups is not None for job in losers)
    return level.name not in ABOUT_NEARNESS


def give(draft: Draft, level: LevelRef, value: Value, top: Value) -> None:
    """State that a decision has the value on the level; `top` is the highest priority among victims, if settled."""
    label = f"given[{level.label}]"
    if not _is_stated(draft, level):
        return
    if level.name == "tasks_bound" and not draft.starts:
        draft.at_least(label, tasks_placed(draft, None).terms, value or 0)
        return
    if level.name == "victim_priority_sum" and (split := _split_sum(draft, level.priority, value or 0)):
        for name, (terms, amount) in split.items():
            draft.equal(f"{label} {name}", terms, amount)
        return
    if level.name in MEASURES:
        measure = MEASURES[level.name](draft, level.priority)
        draft.equal(label, measure.terms, (value or 0) - measure.constant)
        return
    victims = draft.counted.victims
    if level.name == "victim_max_priority":
        groups = counted_by(draft, level.priority)
        above = [n for n in groups if value is None or victims[n].task.pod_priority > value]
        some = [n for n in groups if victims[n].task.pod_priority == value]
    elif value is not None and top is not None:
        first = [
            (n, [started(draft.snapshot, t) for t in g.tasks])
            for n, g in enumerate(victims)
            if g.task.pod_priority == top
        ]
        above = [n for n, starts in first if max(starts) < value]
        some = [n for n, starts in first if min(starts) <= value <= max(starts)]
    else:
        return
    for number in above:
        draft.at_most(f"{label} {victims[number].name}", evicted(draft, number), 0)
    if value is not None:
        draft.at_least(label, summed((1, evicted(draft, number)) for number in some), 1)


def _split_sum(draft: Draft, priority: int | None, value: int) -> dict[str, tuple[Terms, int]]:
    """How many victims, and the sum of their priorities: both are given by the level if that sum is below 2^30."""
    victims = draft.counted.victims
    groups = counted_by(draft, priority)
    plain = summed((victims[n].task.pod_priority, evicted(draft, n)) for n in groups)
    if max(draft.highest(plain), -draft.lowest(plain)) >= PRIORITY_OFFSET // 2:
        return {}
    count = (value + PRIORITY_OFFSET // 2) // PRIORITY_OFFSET
    some = summed((1, evicted(draft, n)) for n in groups)
    return {"victims": (some, count), "priorities": (plain, value - count * PRIORITY_OFFSET)}


def claim(draft: Draft, level: LevelRef, bound: Value, top: Value) -> ProofRow:
    """That no decision is better on the level than the bound."""
    if not _is_stated(draft, level):
        raise UnstatedError(f"{level.label}, which asks for more than numbers")
    if level.name == "tasks_bound" and not draft.starts:
        raise UnstatedError(f"{level.label}, where starts are not distinguished")
    if level.name in MEASURES:
        measure = MEASURES[level.name](draft, level.priority)
        if bound is None:
            return ProofRow({}, 0)
        sign = -1 if level.is_better_more else 1
        terms = {name: sign * coefficient for name, coefficient in measure.terms.items()}
        return rounded(terms, sign * (bound - measure.constant))
    if bound is None:
        return ProofRow({}, 0)
    victims = draft.counted.victims
    if level.name == "victim_max_priority":
        some = [n for n in counted_by(draft, level.priority) if victims[n].task.pod_priority >= bound]
    elif top is not None:
        some = [
            n
            for n, group in enumerate(victims)
            if group.task.pod_priority == top and any(started(draft.snapshot, task) <= bound for task in group.tasks)
        ]
    else:
        raise UnstatedError(f"{level.label} before victim_max_priority")
    return rounded(summed((1, evicted(draft, number)) for number in some), 1)
