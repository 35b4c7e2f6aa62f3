"""Which placed tasks look at each other, so that the order of placing them can matter."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from cpsched.filters import (
    dynamic_resources,
    inter_pod_affinity,
    node_volume_limits,
    pod_topology_spread,
    volume_binding,
)
from cpsched.filters.args import Args
from cpsched.filters.feasible import prefilter
from cpsched.filters.state import ClusterState
from cpsched.instance import Task


@dataclass(frozen=True)
class Placed:
    """A placed task, the filters by which its turn matters, and what they know about it."""

    task: Task
    node: str
    coupled_by: frozenset[str]
    states: dict[str, Any]


def placed_task(task: Task, node: str, cluster: ClusterState, names: Iterable[str], args: Args) -> Placed:
    """Find out by which filters the task's turn matters."""
    asked = [name for name in names if name in _COUPLES]
    prefiltered = prefilter(task, cluster, asked, args)
    coupled = frozenset(n for n in asked if n in prefiltered.states and _COUPLES[n](prefiltered.states[n]))
    return Placed(task, node, coupled, prefiltered.states)


def components(placed: list[Placed]) -> Iterator[list[Placed]]:
    """Groups of tasks that may look at each other; tasks that nobody looks at and that look at nobody are left out."""
    linked: dict[Hashable, set[Hashable]] = {}

    def link(number: int, things: Iterable[Hashable]) -> None:
        for thing in things:
            linked.setdefault(number, set()).add(thing)
            linked.setdefault(thing, set()).add(number)

    looks = [_look(item.task) for item in placed]
    task_by_look = {look: item.task for look, item in zip(looks, placed, strict=True)}
    seen_by_wishes: dict[Hashable, list[Hashable]] = {}
    for number, item in enumerate(placed):
        if not item.coupled_by:
            continue
        link(number, ((name, thing) for name in item.coupled_by for thing in _competed_for(name, item)))
        wishes = _wishes(item)
        if wishes not in seen_by_wishes:
            seen_by_wishes[wishes] = [look for look, task in task_by_look.items() if _sees(item, task)]
        link(number, [("self", number), *seen_by_wishes[wishes]])
    seen = {look for looked_at in seen_by_wishes.values() for look in looked_at}
    for number, look in enumerate(looks):
        link(number, (look,) if look in seen else ())
    for number in range(len(placed)):
        if number in linked:
            group = _reached(number, linked)
            yield [placed[member] for member in sorted(m for m in group if isinstance(m, int))]


def _look(task: Task) -> Hashable:
    """What others see of a task."""
    return (task.namespace, tuple(sorted(task.labels.items())))


def _wishes(item: Placed) -> Hashable:
    """What decides whom a task looks at."""
    affinity: inter_pod_affinity.State | None = item.states.get(inter_pod_affinity.NAME)
    spread: pod_topology_spread.State | None = item.states.get(pod_topology_spread.NAME)
    return (
        () if affinity is None else affinity.affinity_terms,
        () if spread is None else spread.constraints,
        item.task.namespace,
    )


def _reached(start: Hashable, linked: dict[Hashable, set[Hashable]]) -> set[Hashable]:
    """Everything connected with the start; it is taken out of the links."""
    reached, waiting = set(), [start]
    while waiting:
        thing = waiting.pop()
        if thing in linked:
            reached.add(thing)
            waiting.extend(linked.pop(thing))
    return reached


def _sees(item: Placed, other: Task) -> bool:
    """Whether the other task counts in the task's affinity or spread."""
    affinity = item.states.get(inter_pod_affinity.NAME)
    wanted = () if affinity is None else affinity.affinity_terms
    if inter_pod_affinity.matches_all(wanted, other.namespace, other.labels):
        return True
    spread = item.states.get(pod_topology_spread.NAME)
    if spread is None or other.namespace != item.task.namespace:
        return False
    return any(constraint.selector.matches(other.labels) for constraint in spread.constraints)


def _competed_for(name: str, item: Placed) -> list[str]:
    """What tasks coupled by a filter compete for."""
    if name == node_volume_limits.NAME:
        return [item.node]
    if name == volume_binding.NAME:
        state: volume_binding.State = item.states[name]
        return list(state.volumes_by_class)
    return ["devices"] if name == dynamic_resources.NAME else []


_COUPLES: dict[str, Callable[[Any], bool]] = {
    node_volume_limits.NAME: lambda state: True,
    volume_binding.NAME: lambda state: bool(state.delayed),
    pod_topology_spread.NAME: lambda state: True,
    inter_pod_affinity.NAME: lambda state: bool(state.affinity_terms),
    dynamic_resources.NAME: lambda state: bool(state.to_allocate or state.extended),
}
"""Filter → whether a task it does not skip is one whose turn matters."""
