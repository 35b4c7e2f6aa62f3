"""What would have to go from one node; mirrors `plugins/defaultpreemption` (SelectVictimsOnNode)."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cached_property

from cpsched.filters import NodeState, PreFiltered, add_task, remove_task
from cpsched.filters.status import Code, Status
from cpsched.greedy.kube.filtering import FIT, filter_node
from cpsched.greedy.kube.framework import Framework
from cpsched.greedy.kube.groups import units_on
from cpsched.greedy.kube.pdb import Budgets
from cpsched.greedy.kube.roomy import class_of, passes_otherwise, select_by_room
from cpsched.greedy.kube.victims import Unit, Victims, by_importance, tasks_of
from cpsched.greedy.kube.world import World
from cpsched.instance import Task

NO_VICTIMS = Status(Code.UNRESOLVABLE, ("No preemption victims found for incoming pod",))
Order = Callable[[list[Unit]], list[Unit]]


def _any_unit(node: NodeState, unit: Unit, preemptor: Task) -> bool:
    return True


@dataclass
class DryRun:
    """A preemptor and the state its filters are in; `eligible`, `order` and `select` are what others may replace."""

    world: World
    framework: Framework
    task: Task
    pre: PreFiltered
    budgets: Budgets
    eligible: Callable[[NodeState, Unit, Task], bool] = _any_unit
    order: Order | None = None
    select: Callable[[DryRun, NodeState], Victims | Status] | None = None
    room_only: bool = field(init=False)
    """Whether room alone decides, so that sums can stand in for filters."""
    klass: Hashable = field(init=False)

    def __post_init__(self) -> None:
        """See what the filters depend on."""
        moving = self.framework.moving(self.pre)
        options = self.world.options
        simple = self.world.groups is None and not options.plain and not options.resize_preemption
        default = self.eligible is _any_unit and self.order is None
        self.room_only = simple and default and [one.name for one in moving] == [FIT]
        self.klass = class_of(self) if self.room_only else None

    @cached_property
    def passes_otherwise(self) -> list[bool]:
        """Per node whether everything but room is right."""
        return passes_otherwise(self)

    def sorted(self, units: list[Unit]) -> list[Unit]:
        """Most important first."""
        return self.order(units) if self.order else by_importance(units, self.world.version)

    def potential(self, node: NodeState) -> list[Unit]:
        """Units of lower priority that may be evicted from every node they are on."""
        nodes = self.world.snapshot.nodes
        return [unit for unit in units_on(node, self.world.groups, nodes) if self._allowed(unit, node)]

    def _allowed(self, unit: Unit, node: NodeState) -> bool:
        if unit.priority >= self.task.pod_priority:
            return False
        cluster = self.world.snapshot.cluster
        names = dict.fromkeys(cluster.node_by_task.get(task.key, node.name) for task in unit.tasks)
        return all(self.eligible(cluster.nodes[name], unit, self.task) for name in names)


def select_victims(dry: DryRun, node: NodeState) -> Victims | Status:
    """Remove all who may go, then bring back as many as fit, those whose budget would break first."""
    if dry.room_only:
        return _remembered(dry, node)
    units = dry.potential(node)
    if not units:
        return NO_VICTIMS
    trial = _Trial(dry, node)
    for unit in units:
        trial.remove(unit)
    status = trial.status()
    if not status.is_success:
        return status
    units = dry.sorted(units)
    violations = dry.budgets.violations([unit.tasks for unit in units], dry.world.version)
    ranked = list(zip(units, violations, strict=True))
    violating = [(unit, count) for unit, count in ranked if count]
    victims: list[Unit] = []
    broken = 0
    for unit, count in (*violating, *((unit, 0) for unit, count in ranked if not count)):
        trial.add(unit)
        if not trial.status().is_success:
            trial.remove(unit)
            victims.append(unit)
            broken += count
    if violating and len(violating) < len(ranked):
        victims = dry.sorted(victims)
    return Victims(tasks_of(victims), broken)


def _remembered(dry: DryRun, node: NodeState) -> Victims | Status:
    """The answer that a preemptor of the same class got from the node, if nothing has changed there since."""
    key, stamp = (dry.klass, node.index), dry.world.stamps[node.index]
    found = dry.world.answers.get(key) if dry.klass is not None else None
    if found is not None and found[0] == stamp:
        return found[1]
    answer = select_by_room(dry, node) or NO_VICTIMS
    if dry.klass is not None:
        dry.world.answers[key] = (stamp, answer)
    return answer


class _Trial:
    """A copy of the node and of the filters' states to try evictions on.

    Of a unit that reaches over several nodes only the part on this node leaves it; the filters are given the rest.
    """

    def __init__(self, dry: DryRun, node: NodeState):
        self._dry, self._node = dry, node.clone()
        self._pre = dry.pre.clone(dry.framework.hooked)
        if dry.world.options.resize_preemption:
            for own in [task for task in self._node.tasks if task.key == dry.task.key]:
                self._node.remove(own)

    def remove(self, unit: Unit) -> None:
        """The unit goes."""
        dry = self._dry
        for task in unit.tasks:
            node = self._place(task)
            if node is self._node:
                node.remove(task)
            remove_task(self._pre, dry.framework.hooked, dry.task, task, node)

    def add(self, unit: Unit) -> None:
        """The unit comes back."""
        dry = self._dry
        for task in unit.tasks:
            node = self._place(task)
            if node is self._node:
                node.add(task)
            add_task(self._pre, dry.framework.hooked, dry.task, task, node)

    def status(self) -> Status:
        """Whether the preemptor fits now."""
        return filter_node(self._dry.world, self._dry.framework, self._dry.task, self._pre, self._node)

    def _place(self, task: Task) -> NodeState:
        cluster = self._dry.world.snapshot.cluster
        name = cluster.node_by_task[task.key]
        return self._node if name == self._node.name else cluster.nodes[name]
