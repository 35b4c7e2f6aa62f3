"""Dry runs where room alone decides: sums instead of filters, the same work never done twice, with the same answers."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from cpsched.filters import NodeState, first_failure
from cpsched.filters.node_resources_fit import ResourcesFitState
from cpsched.filters.status import Status
from cpsched.greedy.kube.filtering import FIT, CachedVerdicts, apply
from cpsched.greedy.kube.victims import Victims, by_importance, single, tasks_of
from cpsched.instance import Task

if TYPE_CHECKING:
    from cpsched.greedy.kube.dry_run import DryRun

CLASSED = frozenset({"NodeName", "NodeUnschedulable", "TaintToleration", "NodeAffinity", FIT})
"""Filters whose verdict depends on nothing of the preemptor but what `class_of` names."""


@dataclass(frozen=True)
class Ranked:
    """A node's tasks, most important first, with their requests; `falling` are their priorities, negated."""

    tasks: tuple[Task, ...]
    falling: tuple[int, ...]
    requests: tuple[dict[str, int], ...]
    is_covered: bool
    sums: dict[int, dict[str, int]] = field(default_factory=dict)

    def from_place(self, first: int) -> dict[str, int]:
        """What the tasks from a place on request together."""
        found = self.sums.get(first)
        if found is None:
            found = self.sums[first] = {}
            for requests in self.requests[first:]:
                for name, amount in requests.items():
                    found[name] = found.get(name, 0) + amount
        return found


def class_of(dry: DryRun) -> Hashable:
    """What preemptors have in common that get the same answer from the same node; None if that is not known."""
    names = {one.name for one in dry.framework.filters if one.name not in dry.pre.skipped}
    if not names <= CLASSED or dry.world.nominator.node_of(dry.task.key):
        return None
    facts, state = dry.world.snapshot.cluster.facts(dry.task), dry.pre.states[FIT]
    profile = dry.framework.profile.scheduler_name
    return profile, dry.task.pod_priority, dry.task.node, state, facts.tolerations, facts.node_affinity


def select_by_room(dry: DryRun, node: NodeState) -> Victims | Status | None:
    """The victims on a node, or why there are none; None stands for no pod to evict."""
    ranked = _ranked(dry, node)
    first = bisect_right(ranked.falling, -dry.task.pod_priority)
    if first == len(ranked.tasks):
        return None
    used, pods = _without(dry, node, ranked, first)
    state: ResourcesFitState = dry.pre.states[FIT]
    room = {
        name: node.allocatable.get(name, 0) - amount - used.get(name, 0)
        for name, amount in state.requests
        if not (name in state.delegated and node.allocatable.get(name, 0) == 0)
    }
    if dry.passes_otherwise[node.index] and pods < node.allowed_pods and min(room.values(), default=0) >= 0:
        return _reprieve(dry, ranked, first, room, node.allowed_pods - pods - 1)
    emptied = copy(node)
    emptied.requested, emptied.tasks = used, [dry.task] * pods
    return first_failure(dry.task, emptied, dry.world.snapshot.cluster, dry.pre, dry.framework.filters)


def passes_otherwise(dry: DryRun) -> list[bool]:
    """Per node whether all filters but the one about room let the preemptor in; no other pod has a say in that."""
    verdicts = CachedVerdicts(np.zeros(len(dry.world.snapshot.nodes), dtype=np.int64))
    for one in dry.framework.filters:
        if one.name != FIT and one.name not in dry.pre.skipped:
            apply(one, dry.pre.states.get(one.name), dry.task, dry.world.snapshot.cluster, verdicts)
    return [code == 0 for code in verdicts.codes.tolist()]


def _reprieve(dry: DryRun, ranked: Ranked, first: int, room: dict[str, int], pods: int) -> Victims:
    """Bring back as many as the room beside the preemptor allows, those whose budget would break first."""
    places = range(first, len(ranked.tasks))
    violating: dict[int, int] = {}
    if ranked.is_covered:
        counts = dry.budgets.violations(((ranked.tasks[place],) for place in places), dry.world.version)
        violating = {place: count for place, count in zip(places, counts, strict=True) if count}
    victims, broken = [], 0
    for place in (*violating, *(place for place in places if place not in violating)):
        requests = ranked.requests[place]
        if pods > 0 and _fits(requests, room):
            pods -= 1
            for name in room:
                room[name] -= requests.get(name, 0)
        else:
            victims.append(ranked.tasks[place])
            broken += violating.get(place, 0)
    if violating and len(violating) < len(places):
        victims = list(tasks_of(by_importance([single(task) for task in victims], dry.world.version)))
    return Victims(tuple(victims), broken)


def _fits(requests: dict[str, int], room: dict[str, int]) -> bool:
    """A resource that the preemptor does not ask for is not looked at, however short it is."""
    return all(requests.get(name, 0) <= left for name, left in room.items())


def _without(dry: DryRun, node: NodeState, ranked: Ranked, first: int) -> tuple[dict[str, int], int]:
    """What is requested and how many pods remain without the potential victims, nominated pods counted as present."""
    used = dict(node.requested)
    for name, amount in ranked.from_place(first).items():
        used[name] -= amount
    competitors = dry.world.nominator.competitors(dry.task, node.name)
    for other in competitors:
        for name, amount in dry.world.snapshot.cluster.facts(other).requests.items():
            used[name] = used.get(name, 0) + amount
    return used, first + len(competitors)


def _ranked(dry: DryRun, node: NodeState) -> Ranked:
    stamp, cache = dry.world.stamps[node.index], dry.world.ranked
    found = cache.get(node.index)
    if found is None or found[0] != stamp:
        facts = dry.world.snapshot.cluster.facts
        tasks = tasks_of(by_importance([single(task) for task in node.tasks], dry.world.version))
        requests = tuple(facts(task).requests for task in tasks)
        covered = any(dry.budgets.covering(task) for task in tasks)
        found = cache[node.index] = (stamp, Ranked(tasks, tuple(-t.pod_priority for t in tasks), requests, covered))
    return found[1]
