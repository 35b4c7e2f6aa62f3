"""Nodes as they stand before and after every decision: who is on them, who leaves, who comes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from cpsched.instance import Task
from cpsched.report.scene import Fate, Scene, fate_before

LEAVING = frozenset({Fate.ENDS, Fate.VICTIM})
COMING = frozenset({Fate.STARTS, Fate.WAITS, Fate.HOLDS})


@dataclass(frozen=True)
class Occupant:
    """A task on a node, and what becomes of it there."""

    task: Task
    fate: Fate


@dataclass(frozen=True)
class DrawnNode:
    """One node at one time."""

    occupants: tuple[Occupant, ...]
    is_after: bool

    @property
    def leaving(self) -> tuple[Occupant, ...]:
        """Who goes; before the decision what is ending still has its room."""
        return tuple(one for one in self.occupants if one.fate in LEAVING) if self.is_after else ()

    @property
    def present(self) -> tuple[Occupant, ...]:
        """Who has room: those who stay, then those who come."""
        return tuple(one for one in self.occupants if not (self.is_after and one.fate in LEAVING))

    def used(self, resource: str) -> float:
        """How much of the resource is taken."""
        return sum(one.task.requests.get(resource, 0) for one in self.present)

    def ending(self, resource: str) -> float:
        """How much of it tasks hold that are being deleted."""
        return sum(one.task.requests.get(resource, 0) for one in self.present if one.fate is Fate.ENDS)

    @cached_property
    def content(self) -> tuple[tuple[object, ...], ...]:
        """What a picture shows of it, without the names."""
        kinds = Counter(
            (one.fate.value, one.task.pod_priority, tuple(sorted(one.task.requests.items()))) for one in self.occupants
        )
        return tuple(sorted(kinds.items()))


@dataclass(frozen=True)
class DrawnNodes:
    """Nodes that look alike in every state; the first one stands for all."""

    names: tuple[str, ...]
    allocatable: dict[str, int]
    states: tuple[DrawnNode, ...]

    @property
    def is_touched(self) -> bool:
        """Some decision changes it."""
        return self.has_victims or any(one.fate in COMING for state in self.states for one in state.occupants)

    @property
    def has_victims(self) -> bool:
        """Some decision evicts a task here."""
        return any(one.fate is Fate.VICTIM for state in self.states for one in state.occupants)

    @property
    def is_disputed(self) -> bool:
        """The decisions differ here in more than names."""
        return len({state.content for state in self.states[1:]}) > 1

    def size(self, resource: str) -> float:
        """What the bar must be able to hold: the node's size, or what is taken of it if that is more."""
        return max([self.allocatable.get(resource, 0), *(state.used(resource) for state in self.states)])


def node_groups(scene: Scene) -> list[DrawnNodes]:
    """All nodes in order of arrival, those that look alike taken together."""
    seen = states_by_node(scene)
    groups: dict[tuple[object, ...], list[str]] = {}
    for name, states in seen.items():
        size = tuple(sorted(scene.instance.nodes[name].allocatable.items()))
        groups.setdefault((size, *(state.content for state in states)), []).append(name)
    return [
        DrawnNodes(tuple(names), scene.instance.nodes[names[0]].allocatable, seen[names[0]])
        for names in groups.values()
    ]


def by_interest(groups: Iterable[DrawnNodes]) -> list[DrawnNodes]:
    """Where decisions differ first, then where anything changes, then the rest; victims before others."""
    return sorted(groups, key=lambda group: (not group.is_disputed, not group.has_victims, not group.is_touched))


def pictured_resources(scene: Scene, most: int = 4) -> list[str]:
    """cpu, memory and whatever else nodes have and tasks ask for; pods are counted, not drawn."""
    offered = {name for node in scene.instance.nodes.values() for name, size in node.allocatable.items() if size > 0}
    wanted = Counter(name for task in scene.instance.tasks.values() for name, n in task.requests.items() if n > 0)
    others = sorted(offered & wanted.keys() - {"cpu", "memory", "pods"}, key=lambda name: (-wanted[name], name))
    basic = [name for name in ("cpu", "memory") if name in offered and name in wanted]
    return [*basic, *others][:most] or (["pods"] if "pods" in offered else [])


def states_by_node(scene: Scene) -> dict[str, tuple[DrawnNode, ...]]:
    """Every node before, and after every decision."""
    columns: list[dict[str, list[Occupant]]] = []
    leaving = {key for view in scene.views for key in view.evictions}
    for view in (None, *scene.views):
        here: dict[str, list[Occupant]] = {name: [] for name in scene.instance.nodes}
        for task in scene.instance.tasks.values():
            fate, node = fate_before(task) if view is None else view.fate(task)
            if node in here:
                here[node].append(Occupant(task, fate))
        for occupants in here.values():
            occupants.sort(key=lambda one: _place(one, leaving))
        columns.append(here)
    return {
        name: tuple(DrawnNode(tuple(column[name]), number > 0) for number, column in enumerate(columns))
        for name in scene.instance.nodes
    }


def _place(one: Occupant, leaving: set[str]) -> tuple[bool, bool, bool, str]:
    """Those whom no decision touches stand at the left in every state, so that the bars can be compared."""
    return (one.fate in COMING, one.fate is Fate.ENDS, one.task.key in leaving, one.task.key)
