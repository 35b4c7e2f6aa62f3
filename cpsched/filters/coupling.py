"""Which placed tasks look at each other, so that the order of placing them can matter."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass

from cpsched.components import components
from cpsched.filters import (
    dynamic_resources,
    inter_pod_affinity,
    node_volume_limits,
    pod_topology_spread,
    volume_binding,
)
from cpsched.filters.args import Args
from cpsched.filters.contract import PreFilterResult
from cpsched.filters.registry import FILTERS
from cpsched.filters.state import ClusterState
from cpsched.instance import Task
from cpsched.selectors import AffinityTerm, SelectorError


@dataclass(frozen=True)
class PlacedTask:
    """A placed task with the filters by which its turn matters, what it looks at and what it competes for."""

    task: Task
    node: str
    coupled_by: frozenset[str]
    affinity: tuple[AffinityTerm, ...]
    spread: pod_topology_spread.TopologySpreadState | None
    competes_for: tuple[Hashable, ...]

    @property
    def look(self) -> Hashable:
        """What others see of the task."""
        return (self.task.namespace, tuple(sorted(self.task.labels.items())))

    @property
    def wishes(self) -> Hashable:
        """What decides whom the task looks at."""
        return (self.affinity, self.spread.constraints if self.spread else (), self.task.namespace)

    def sees(self, other: Task) -> bool:
        """Whether the other task counts in this one's affinity or spread."""
        if inter_pod_affinity.matches_all(self.affinity, other.namespace, other.labels):
            return True
        if self.spread is None or other.namespace != self.task.namespace:
            return False
        return any(constraint.selector.matches(other.labels) for constraint in self.spread.constraints)


def placed_task(task: Task, node: str, cluster: ClusterState, names: Iterable[str], args: Args) -> PlacedTask:
    """Find out by which of the filters the task's turn matters."""
    coupled, competes_for = set(), []
    affinity: tuple[AffinityTerm, ...] = ()
    spread = None
    for name in names:
        if name == inter_pod_affinity.NAME:
            again = args.features.asks_selectors_again
            affinity = tuple(t.expanded(cluster.namespaces, asks_again=again) for t in cluster.facts(task).affinity)
            is_coupled = bool(affinity)
        elif name == pod_topology_spread.NAME:
            spread = _spread(task, cluster, args)
            is_coupled = spread is not None
        elif name in _COMPETING:
            wanted = _wanted(name, node, FILTERS[name].prefilter(task, cluster, args))
            competes_for += [(name, thing) for thing in wanted]
            is_coupled = bool(wanted)
        else:
            is_coupled = False
        if is_coupled:
            coupled.add(name)
    return PlacedTask(task, node, frozenset(coupled), affinity, spread, tuple(competes_for))


_COMPETING = (node_volume_limits.NAME, volume_binding.NAME, dynamic_resources.NAME)


def _spread(task: Task, cluster: ClusterState, args: Args) -> pod_topology_spread.TopologySpreadState | None:
    try:
        state = pod_topology_spread.uncounted(task, cluster, args)
    except SelectorError:
        return None
    return state if state.constraints else None


def _wanted(name: str, node: str, prefiltered: PreFilterResult) -> list[str]:
    """What a task competes for under a filter; nothing if its turn does not matter."""
    if not prefiltered.status.is_success:
        return []
    if name == node_volume_limits.NAME:
        return [node]
    if name == volume_binding.NAME:
        return list(prefiltered.state.volumes_by_class)
    return ["devices"] if prefiltered.state.to_allocate or prefiltered.state.extended else []


def coupled(placed: list[PlacedTask]) -> Iterator[list[PlacedTask]]:
    """Groups of tasks that may look at each other; tasks that neither look at others nor are looked at are left out."""
    links: list[tuple[int, Iterable[Hashable]]] = []
    task_by_look = {item.look: item.task for item in placed}
    looks_by_wishes: dict[Hashable, list[Hashable]] = {}
    for number, item in enumerate(placed):
        if item.coupled_by:
            if item.wishes not in looks_by_wishes:
                looks_by_wishes[item.wishes] = [look for look, task in task_by_look.items() if item.sees(task)]
            links.append((number, [("task", number), *item.competes_for, *looks_by_wishes[item.wishes]]))
    seen = {look for looks in looks_by_wishes.values() for look in looks}
    links += [(number, [item.look]) for number, item in enumerate(placed) if item.look in seen]
    linked = sorted({number for number, _ in links})
    things = (thing for _, group in links for thing in group)
    for group in components([*linked, *things], ([number, *group] for number, group in links)):
        yield [placed[member] for member in group if isinstance(member, int)]
