"""How far apart the units of admitted jobs lie at least: every unit alone, with all the room there could be for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import accumulate

import numpy as np

from cpsched.certificate.case import Case
from cpsched.certificate.room import Numbers, could_be_served
from cpsched.certificate.waiting import Waiting
from cpsched.instance import HOLDS_ROOM
from cpsched.policy.levels import Value
from cpsched.snapshot.near import TopologyUnit


def topology_tier_max(case: Case, _: int | None) -> Value:
    """Of so many admitted jobs the one that needs the highest tier needs at least what the last in order needs."""
    found: list[int] = []
    for jobs, count in _counted(case, _tier):
        needs = sorted((max(needed) if needed else None for needed in jobs), key=lambda tier: (tier is not None, tier))
        found += [tier for tier in needs[:count] if tier is not None]
    return max(found, default=None)


def topology_tier_sum(case: Case, _: int | None) -> int:
    """All units of as many jobs, those that need least."""
    return _least_sum(case, _tier)


def hypernodes_used(case: Case, _: int | None) -> int:
    """The same of the HyperNodes of the lowest tier that each unit needs for what it is given."""
    return _least_sum(case, _leaves)


def _least_sum(case: Case, need: Callable[[_Need], int]) -> int:
    return sum(sum(sorted(map(sum, jobs))[:count]) for jobs, count in _counted(case, need))


def _counted(case: Case, need: Callable[[_Need], int]) -> Iterator[tuple[list[list[int]], int]]:
    """Per priority what the units of each job that could be served need, and how many of these jobs are admitted."""
    if not case.snapshot.nearness.units:
        return
    for priority, count in case.admitted.items():
        able = [one for one in case.session.tiers.get(priority, []) if could_be_served(case.room, one)]
        if count:
            yield [list(_of_job(case, one, need)) for one in able], count


def _of_job(case: Case, one: Waiting, need: Callable[[_Need], int]) -> Iterator[int]:
    """What each unit needs that receives something if the job is admitted: the job's own, and of each policy those
    sub-groups that are still to be completed, as many as that takes and the easiest ones.
    """
    groups = one.job.sub_groups
    by_policy: dict[str, list[int]] = {}
    missing: Counter[str] = Counter()
    if groups is not None and one.whole:
        have = {group.key for group in groups.complete(one.job.at_work((), ()))}
        missing.update(groups.minima)
        missing.subtract([group.group for group in groups.groups if group.key in have])
    for unit in case.snapshot.nearness.units.get(one.job.key, ()):
        if not unit.is_sub_group:
            yield need(_Need(case, one, unit, one.need if one.whole else 0))
            continue
        group = next(g for key, g in groups.by_task.items() if key in unit.tasks) if groups is not None else None
        if group is not None and groups is not None and missing[group.group] > 0:
            there = sum(task.key in unit.tasks for task in one.job.at_work((), ()))
            if there < group.min_available:
                own = need(_Need(case, one, unit, group.min_available - there))
                by_policy.setdefault(group.group, []).append(own)
    for policy, needs in by_policy.items():
        yield from sorted(needs)[: missing[policy]]


class _Need:
    """A unit, and how many of its tasks are placed at least."""

    def __init__(self, case: Case, one: Waiting, unit: TopologyUnit, least: int):
        self.case, self.unit, self.least = case, unit, max(1, least)
        kinds = [kind for kind in one.kinds if kind.sample.key in unit.tasks]
        asking = [kind for kind in kinds if not kind.sample.best_effort] if least > 0 else kinds
        self.slots: Numbers = case.room.slots(asking)
        tasks = case.snapshot.instance.tasks
        going = {victim.key for victim in case.victims.all}
        staying = (tasks[key] for key in unit.tasks - going)
        self.fixed = {task.node for task in staying if task.status in HOLDS_ROOM}

    def held_by(self, nodes: frozenset[str]) -> Numbers:
        """What the nodes take, one by one."""
        found: Numbers = self.slots[np.array([node in nodes for node in self.case.room.nodes], dtype=bool)]
        return found


def _tier(need: _Need) -> int:
    """The lowest tier of a HyperNode that holds all that stays and has room; any will do if none has."""
    nearness = need.case.snapshot.nearness
    tree, limit = nearness.tree, nearness.limit_of(need.unit)
    known = {(tree.tier(name), nodes) for name, nodes in tree.node_sets.items()}
    for tier, nodes in sorted(known, key=lambda pair: pair[0]):
        if limit is not None and tier > limit:
            break
        if need.fixed <= nodes and int(need.held_by(nodes).sum()) >= need.least:
            return tier
    return tree.top_tier if limit is None else min(limit, tree.top_tier)


def _leaves(need: _Need) -> int:
    """The fewest HyperNodes of the lowest tier, and nodes in none of them, that together take so many."""
    leaf = need.case.snapshot.nearness.tree.leaf
    by_leaf: Counter[str] = Counter()
    for node, slots in zip(need.case.room.nodes, need.slots, strict=True):
        by_leaf[leaf(node) or f"node {node}"] += int(slots)
    taken = accumulate(sorted(by_leaf.values(), reverse=True))
    return next((number for number, total in enumerate(taken, start=1) if total >= need.least), 1)


TIERS: dict[str, Callable[[Case, int | None], Value]] = {
    "topology_tier_max": topology_tier_max,
    "topology_tier_sum": topology_tier_sum,
    "hypernodes_used": hypernodes_used,
}
