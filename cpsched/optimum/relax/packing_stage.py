"""One packing problem of a session: the pods of some tiers, the victims that are counted, and back to decisions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import gcd

import numpy as np

from cpsched.instance import Task
from cpsched.optimum.model.classes import VictimClass
from cpsched.optimum.model.session_model import SessionModel
from cpsched.optimum.packing.problem import Counts, NodeClass, Problem, RequestRow
from cpsched.rules import Decision
from cpsched.solution import Eviction

Amounts = tuple[int, ...]


@dataclass(frozen=True)
class Objective:
    """What is maximised: the pods of a tier that are placed, or the victims that stay, each worth 1 or its priority.

    `lost` is its value once it is closed: pods left out, or victims (or the sum of their priorities) that go.
    """

    tier: int | None = None
    victims: frozenset[int] = frozenset()
    """The victim classes that are counted."""
    by_priority: bool = False
    lowest: int = 0
    """With `by_priority` the priority that counts as nothing: among as many victims that changes no order."""
    starts: bool = False
    """Whether it is the pods of all tiers that start at once."""
    lost: int = 0


@dataclass(frozen=True)
class PodRow:
    """Pending tasks of one tier that ask for the same on the same nodes."""

    size: Amounts
    tier: int
    nodes: frozenset[str]
    tasks: tuple[Task, ...]
    waits: bool | None = None
    """Whether they are reserved (or started), where the problem distinguishes that."""


@dataclass(frozen=True)
class VictimRow:
    """Victims of one size and priority that count for the same goals; per node their classes, and how many may go."""

    size: Amounts
    priority: int
    groups: dict[str, list[tuple[VictimClass, int]]]

    def on(self, node: str) -> int:
        """How many of them a node has."""
        return sum(limit for _, limit in self.groups.get(node, ()))

    @property
    def total(self) -> int:
        """How many there are."""
        return sum(map(self.on, self.groups))


@dataclass(frozen=True)
class PackingStage:
    """A problem, and which tasks, victims and nodes its rows and nodes are."""

    session: SessionModel
    problem: Problem
    pods: tuple[PodRow, ...]
    victims: tuple[VictimRow, ...]
    """The rows of the problem: first those of pods, then those of victims."""
    nodes: tuple[str, ...]
    limits: tuple[int, ...]
    """Per victim class how many may go."""

    def known(self, goals: tuple[Objective, ...]) -> list[int]:
        """The values of the goals that are closed."""
        return [self.problem.most_of(index) - goal.lost for index, goal in enumerate(goals)]

    def placement_of(self, decision: Decision) -> Counts:
        """The counts of a decision; those of a victim class that lets go more than it may are negative."""
        counts = np.zeros((len(self.nodes), len(self.pods) + len(self.victims)), dtype=np.int64)
        place = {name: index for index, name in enumerate(self.nodes)}
        for waits, places in ((False, decision.binds), (True, decision.reserves)):
            rows = ((index, row) for index, row in enumerate(self.pods) if row.waits in (None, waits))
            row_of = {task.key: index for index, row in rows for task in row.tasks}
            for key, node in places.items():
                if key in row_of and node in place:
                    counts[place[node], row_of[key]] += 1
        for index, row in enumerate(self.victims, len(self.pods)):
            for node, groups in row.groups.items():
                gone = sum(task.key in decision.evicted for group, _ in groups for task in group.tasks)
                if node in place:
                    counts[place[node], index] = row.on(node) - gone
        return counts

    def decision(self, counts: Counts) -> Decision:
        """Pods by name, each node's victims as few and as unimportant as the placement allows.

        Tasks are started where that is possible and reserved where capacity is still to be freed.
        """
        snapshot = self.session.snapshot
        placed: dict[str, list[Task]] = {}
        waiting = {task.key: list(row.tasks) for row in self.pods for task in row.tasks[:1]}
        for index, row in enumerate(self.pods):
            places = [
                name
                for name, count in sorted(zip(self.nodes, counts[:, index].tolist(), strict=True))
                for _ in range(count)
            ]
            left = waiting[row.tasks[0].key]
            for node in places:
                placed.setdefault(node, []).append(left.pop(0))
        binds: dict[str, str] = {}
        reserves: dict[str, str] = {}
        evictions: list[Eviction] = []
        for node, tasks in sorted(placed.items()):
            for task, starts in self._started(node, tasks):
                (binds if starts else reserves)[task.key] = node
            first = max(tasks, key=lambda task: (task.pod_priority, task.key))
            for victim in self._leaving(node, tasks):
                job = snapshot.job_key(first)
                evictions.append(Eviction(task=victim.key, node=node, action="preempt", for_job=job))
        evictions.sort(key=lambda one: one.task)
        return Decision(snapshot, binds, reserves, tuple(evictions))

    def _started(self, node: str, tasks: list[Task]) -> Iterator[tuple[Task, bool]]:
        """Which of the tasks start now: all if they fit, else small ones first."""
        classes, left = self.session.classes, dict(self.session.capacity.idle[node])
        total = {name: max(1, amount) for name, amount in self.session.capacity.future_idle[node].items()}
        sizes = [(task, {name: classes.amount(task, name) for name in task.requests}) for task in tasks]
        sizes.sort(key=lambda one: (max((a / total.get(n, 1) for n, a in one[1].items()), default=0.0), one[0].key))
        for task, size in sizes:
            fits = all(amount <= left.get(name, 0) for name, amount in size.items() if amount)
            if fits:
                for name, amount in size.items():
                    left[name] = left.get(name, 0) - amount
            yield task, fits

    def _leaving(self, node: str, tasks: list[Task]) -> list[Task]:
        """All victims of the node that may go, less those that can stay; the most important ones are asked first."""
        classes, capacity = self.session.classes, self.session.capacity
        free = dict(capacity.future_idle[node])
        for task in tasks:
            for name, amount in task.requests.items():
                if amount:
                    free[name] = free.get(name, 0) - classes.amount(task, name)
        asked = {name for task in tasks for name, amount in task.requests.items() if amount}
        on_node = [(group, self.limits[group.index]) for group in self._groups_on.get(node, ())]
        going: list[tuple[VictimClass, int]] = []
        for group, limit in on_node:
            for name in group.representative.requests:
                free[name] = free.get(name, 0) + limit * classes.requested_by_shape(name)[group.shape]
        for group, limit in sorted(on_node, key=lambda one: (-one[0].representative.pod_priority, one[0].index)):
            size = {name: classes.requested_by_shape(name)[group.shape] for name in asked}
            stay = min([limit, *(max(0, free.get(name, 0)) // amount for name, amount in size.items() if amount)])
            for name, amount in size.items():
                free[name] = free.get(name, 0) - stay * amount
            going.append((group, limit - stay))
        return [task for group, count in going for task in group.tasks[:count]]

    @cached_property
    def _groups_on(self) -> dict[str, list[VictimClass]]:
        """Per node the victim classes that may lose a task."""
        found: dict[str, list[VictimClass]] = {}
        for group, limit in zip(self.session.classes.victims, self.limits, strict=True):
            if limit:
                found.setdefault(group.node, []).append(group)
        return found


def stage_problem(
    session: SessionModel,
    names: tuple[str, ...],
    pods: tuple[PodRow, ...],
    victims: tuple[VictimRow, ...],
    room: dict[str, list[int]],
    limits: tuple[int, ...],
    goals: tuple[Objective, ...],
) -> PackingStage:
    """Amounts in units of what divides all requests; nodes alike are one class; no resource that another implies."""
    rows = [row.size for row in pods] + [row.size for row in victims]
    units = [gcd(*(size[index] for size in rows)) or 1 for index in range(len(names))]
    sizes = [tuple(amount // unit for amount, unit in zip(size, units, strict=True)) for size in rows]
    kinds: dict[tuple[Amounts, Amounts], list[str]] = {}
    for node in sorted(room):
        amounts = tuple(max(0, amount) // unit for amount, unit in zip(room[node], units, strict=True))
        allowed = [len(row.tasks) if node in row.nodes else 0 for row in pods] + [row.on(node) for row in victims]
        most = tuple(
            min([count, *(have // asked for have, asked in zip(amounts, size, strict=True) if asked)])
            for count, size in zip(allowed, sizes, strict=True)
        )
        if any(most):
            kinds.setdefault((amounts, most), []).append(node)
    keep = _binding([amounts for amounts, _ in kinds], sizes)
    tiers = [row.tier for row in pods] + [len(goals)] * len(victims)
    demands = [len(row.tasks) for row in pods] + [row.total for row in victims]
    first_of = {row.tasks[0].key: index for index, row in enumerate(pods) if not row.waits}
    pairs = tuple((first_of[row.tasks[0].key], index) for index, row in enumerate(pods) if row.waits)
    problem = Problem(
        tuple(
            RequestRow(tuple(size[index] for index in keep), tier, demand)
            for size, tier, demand in zip(sizes, tiers, demands, strict=True)
        ),
        tuple(
            NodeClass(tuple(amounts[index] for index in keep), len(nodes), most)
            for (amounts, most), nodes in kinds.items()
        ),
        tuple(_worth(goal, pods, victims) for goal in goals),
        pairs,
    )
    return PackingStage(
        session, problem, pods, victims, tuple(node for nodes in kinds.values() for node in nodes), limits
    )


def _worth(goal: Objective, pods: tuple[PodRow, ...], victims: tuple[VictimRow, ...]) -> tuple[int, ...]:
    """What each row is worth."""
    counted = [any(one.index in goal.victims for here in row.groups.values() for one, _ in here) for row in victims]
    kept = [
        (row.priority - goal.lowest if goal.by_priority else 1) if counts else 0
        for row, counts in zip(victims, counted, strict=True)
    ]
    return (*(int(not row.waits if goal.starts else row.tier == goal.tier) for row in pods), *kept)


def _binding(capacities: list[Amounts], sizes: list[Amounts]) -> list[int]:
    """The resources that can run out first: those that are implied by another one on every node are left out.

    Resource d is implied by e if a node full in e is never beyond its capacity in d: for every row, its size in d is at
    most its size in e times the least ratio of the two capacities.
    """
    kept = [index for index in range(len(sizes[0])) if any(size[index] for size in sizes)]
    for d in list(kept):
        for e in kept:
            if e != d and all(size[d] * have[e] <= size[e] * have[d] for have in capacities for size in sizes):
                kept.remove(d)
                break
    return kept
