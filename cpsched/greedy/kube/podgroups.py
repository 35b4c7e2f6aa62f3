"""Room for a whole pod group, over all nodes at once; mirrors `preemption/podgrouppreemption.go`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from cpsched.filters.status import Code, Status
from cpsched.greedy.kube.pdb import Budgets
from cpsched.greedy.kube.victims import Unit, Victims, by_importance, tasks_of, terminating_by_preemption
from cpsched.greedy.kube.world import World
from cpsched.instance import Task

NO_VICTIMS = Status(Code.UNRESOLVABLE, ("No preemption victims found for incoming preemptor",))
NEVER = "not eligible due to preemptionPolicy=Never."
ONGOING = "ongoing preemption on nominated nodes"
Placement = tuple[Task, str]


class Domain(Protocol):
    """Where victims come from and the group goes to: the whole cluster, or a stand-in for it."""

    def remove(self, unit: Unit) -> None:
        """A unit goes."""

    def add(self, unit: Unit) -> None:
        """A unit comes back."""

    def place(self) -> Sequence[Placement] | Status:
        """Find nodes for the group; asked once, when all who may go are gone."""

    def holds(self, placements: Sequence[Placement]) -> bool:
        """Whether every member still fits where it was placed, one after another."""


@dataclass(frozen=True)
class GroupVictims:
    """Whom a group evicts, how many groups that disrupts, and where its members are nominated to."""

    victims: Victims
    disrupted_groups: int
    placements: tuple[Placement, ...]


def select_on_domain(domain: Domain, units: Iterable[Unit], priority: int, budgets: Budgets) -> GroupVictims | Status:
    """Remove every unit of lower priority, place the group once, then bring back what its placement leaves room for."""
    potential = [unit for unit in units if unit.priority < priority]
    if not potential:
        return NO_VICTIMS
    for unit in potential:
        domain.remove(unit)
    placements = domain.place()
    if isinstance(placements, Status):
        return placements
    ranked = by_importance(potential, "head")
    violations = budgets.violations([unit.tasks for unit in ranked], "head")
    counted = list(zip(ranked, violations, strict=True))
    victims: list[Unit] = []
    broken = 0
    for unit, count in (*(pair for pair in counted if pair[1]), *(pair for pair in counted if not pair[1])):
        domain.add(unit)
        if not domain.holds(placements):
            domain.remove(unit)
            victims.append(unit)
            broken += count
    victims = by_importance(victims, "head")
    disrupted = sum(unit.kind != "pod" for unit in victims)
    return GroupVictims(Victims(tasks_of(victims), broken), disrupted, tuple(placements))


def preemption_goes_on(world: World, members: Iterable[Task], priority: int) -> bool:
    """Whether a node that a member is nominated to still holds a pod that the scheduler is evicting."""
    assert world.groups is not None
    for name in {world.nominated.get(member.key, "") for member in members}:
        node = world.snapshot.cluster.nodes.get(name)
        for other in node.tasks if node is not None else ():
            if world.groups.priority(other) < priority and terminating_by_preemption(other):
                return True
    return False
