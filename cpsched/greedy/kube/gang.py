"""A pod group's scheduling cycle: all its pods, or none and perhaps a preemption for all (behind its gate)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cpsched.filters import PreFiltered, add_task, remove_task
from cpsched.filters.status import Code, Status
from cpsched.greedy.kube.choice import rank, winner
from cpsched.greedy.kube.cycle import NodeSearch, search
from cpsched.greedy.kube.filtering import filter_node
from cpsched.greedy.kube.framework import Framework
from cpsched.greedy.kube.podgroups import NEVER, ONGOING, GroupVictims, Placement, preemption_goes_on, select_on_domain
from cpsched.greedy.kube.victims import Unit
from cpsched.greedy.kube.world import World
from cpsched.instance import Task

NOT_ENOUGH = Status(Code.UNSCHEDULABLE, ("not enough pods of the group can be scheduled",))


@dataclass(frozen=True)
class Gang:
    """A group's pending pods, of which at least `at_least` must find a node."""

    key: str
    tasks: tuple[Task, ...]
    at_least: int
    priority: int


@dataclass
class PlacedMember:
    """Where a member went, what its filters know, and what its search found."""

    task: Task
    node: str
    pre: PreFiltered
    found: NodeSearch


def place_gang(world: World, framework: Framework, gang: Gang) -> tuple[list[PlacedMember], dict[str, NodeSearch]]:
    """Put the members on nodes one after another; who finds none is left out. The caller takes them off again."""
    placed: list[PlacedMember] = []
    failed: dict[str, NodeSearch] = {}
    for task in gang.tasks:
        found = search(world, framework, task)
        if not found.feasible:
            failed[task.key] = found
            continue
        total = rank(world, framework, task, found).total if len(found.feasible) > 1 else None
        place = found.feasible[0 if total is None else winner(total, world.choices)]
        name = world.snapshot.nodes[place].name
        world.snapshot.add(task, name)
        placed.append(PlacedMember(task, name, found.pre, found))
    return placed, failed


def take_off(world: World, placed: Sequence[PlacedMember]) -> None:
    """Undo placements."""
    for one in reversed(placed):
        world.snapshot.remove(one.task)


def preempt_for_gang(world: World, framework: Framework, gang: Gang) -> GroupVictims | Status:
    """Victims for the whole group; the snapshot is as before afterwards."""
    assert world.groups is not None
    if any(task.never_preempts for task in gang.tasks):
        return Status(Code.UNSCHEDULABLE, (NEVER,))
    if preemption_goes_on(world, gang.tasks, gang.priority):
        return Status(Code.SUCCESS, (ONGOING,))
    nodes = world.snapshot.nodes
    before = {node.name: list(node.tasks) for node in nodes}
    units = world.groups.units((task for node in nodes for task in node.tasks), nodes)
    answer = select_on_domain(_Cluster(world, framework, gang), units, gang.priority, world.budgets)
    _restore(world, before)
    return answer


def _restore(world: World, before: dict[str, list[Task]]) -> None:
    """Bring back who was taken off, in the order of each node's list."""
    for node in world.snapshot.nodes:
        here = {task.key for task in node.tasks}
        for task in before[node.name]:
            if task.key not in here:
                world.snapshot.add(task, node.name)
        node.tasks[:] = before[node.name]


class _Cluster:
    """The snapshot itself as the domain; every member's filters follow who comes and goes."""

    def __init__(self, world: World, framework: Framework, gang: Gang):
        self._world, self._framework, self._gang = world, framework, gang
        self._places = dict(world.snapshot.cluster.node_by_task)
        self._placed: list[PlacedMember] = []

    def remove(self, unit: Unit) -> None:
        for task in unit.tasks:
            self._world.snapshot.remove(task)
            node = self._world.snapshot.cluster.nodes[self._places[task.key]]
            for one in self._placed:
                remove_task(one.pre, self._framework.hooked, one.task, task, node)

    def add(self, unit: Unit) -> None:
        for task in unit.tasks:
            name = self._places[task.key]
            self._world.snapshot.add(task, name)
            for one in self._placed:
                node = self._world.snapshot.cluster.nodes[name]
                add_task(one.pre, self._framework.hooked, one.task, task, node)

    def place(self) -> Sequence[Placement] | Status:
        placed, _ = place_gang(self._world, self._framework, self._gang)
        take_off(self._world, placed)
        if len(placed) < self._gang.at_least:
            return NOT_ENOUGH
        self._placed = placed
        return [(one.task, one.node) for one in placed]

    def holds(self, placements: Sequence[Placement]) -> bool:
        done: list[PlacedMember] = []
        try:
            for one in self._placed:
                node = self._world.snapshot.cluster.nodes[one.node]
                if not filter_node(self._world, self._framework, one.task, one.pre, node).is_success:
                    return False
                self._world.snapshot.add(one.task, one.node)
                done.append(one)
            return True
        finally:
            take_off(self._world, done)
