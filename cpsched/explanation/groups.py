"""Nodes by what speaks against them: one reason for all nodes that are alike in the job's eyes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from cpsched.amounts import shown
from cpsched.filters import FILTERS, feasible
from cpsched.filters.facts import host_ports
from cpsched.hardware import HARDWARE_ANNOTATIONS
from cpsched.instance import Task
from cpsched.objects.volumes import PodVolume
from cpsched.rules.cards import without_cards
from cpsched.snapshot import Room, SessionJob, Snapshot
from cpsched.snapshot.rights import actions_against

FREE, LATER, AFTER, HELD, SMALL = "free", "later", "after evictions", "held", "too small"
"""How a resource stands: enough now; once pods that are going have gone; if all go that may be evicted; not even then;
not even on the empty node."""
NO_CARD = "no card has enough left now"


@dataclass(frozen=True)
class Shortage:
    """One resource of which a group of nodes has too little now; the amounts are the largest among its nodes."""

    resource: str
    state: str
    needs: float
    free: float
    at_most: float
    size: float

    @property
    def text(self) -> str:
        """The shortage in words."""
        needs, most = shown(self.resource, self.needs), shown(self.resource, self.at_most)
        head = f"Insufficient {self.resource} (needs {needs}, "
        if self.state == SMALL:
            return f"{head}no node has more than {shown(self.resource, self.size)})"
        if self.state == HELD:
            return f"{head}at most {most} free even after every permitted eviction)"
        if self.state == AFTER:
            return f"{head}{shown(self.resource, self.free)} free, {most} after every permitted eviction)"
        return f"{head}{shown(self.resource, self.free)} free now, {most} once pods that are going have gone)"


@dataclass(frozen=True)
class NodeGroup:
    """Nodes that refuse the task for the same reasons."""

    task: str
    nodes: tuple[str, ...]
    refusals: tuple[tuple[str, tuple[str, ...]], ...]
    """Filters that refuse whatever else happens, with their words."""
    objections: tuple[tuple[str, tuple[str, ...]], ...]
    """Filters that refuse as other pods lie now."""
    shortages: tuple[Shortage, ...]
    barred: tuple[tuple[str, str], ...] = ()
    """Plugins' rules about nodes that refuse, with the reason: whatever else happens, or as cards are held now."""

    def shortage(self, resource: str) -> str:
        """The text about one resource, or nothing."""
        return next((one.text for one in self.shortages if one.resource == resource), "")

    @property
    def fits_now(self) -> bool:
        """Nothing about the nodes speaks against the task."""
        return not (self.refusals or self.barred or self.objections or self.shortages)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Everything that speaks against the nodes."""
        words = [f"{name}: {', '.join(reasons)}" for name, reasons in (*self.refusals, *self.objections)]
        words += [f"{key}: {reason}" for key, reason in self.barred]
        return (*words, *(one.text for one in self.shortages))


def node_groups(snapshot: Snapshot, job: SessionJob) -> list[NodeGroup]:
    """Per kind of pending task of the job its groups of nodes; kinds that all nodes answer alike are one."""
    found: dict[Hashable, list[NodeGroup]] = {}
    for task in kinds_of(job):
        groups = groups_of(snapshot, task)
        found.setdefault(tuple(replace(group, task="") for group in groups), groups)
    return [group for groups in found.values() for group in groups]


def groups_of(snapshot: Snapshot, task: Task) -> list[NodeGroup]:
    """All nodes, grouped by what speaks against the task there, the largest group first."""
    look = _Look(snapshot, task)
    by_verdict: dict[Hashable, list[str]] = {}
    for node in snapshot.instance.nodes:
        by_verdict.setdefault(look.verdict(node), []).append(node)
    groups = [look.group(nodes) for nodes in by_verdict.values()]
    return sorted(groups, key=lambda group: (group.fits_now, -len(group.nodes)))


def partition(groups: Sequence[NodeGroup]) -> list[NodeGroup]:
    """Groups that do not overlap, for jobs with several kinds of tasks: nodes alike for every kind."""
    kinds = dict.fromkeys(group.task for group in groups)
    if len(kinds) <= 1:
        return list(groups)
    by_node: dict[str, list[NodeGroup]] = {}
    for group in groups:
        for node in group.nodes:
            by_node.setdefault(node, []).append(group)
    together: dict[tuple[int, ...], list[str]] = {}
    for node, mine in by_node.items():
        together.setdefault(tuple(id(group) for group in mine), []).append(node)
    return [_joined(by_node[nodes[0]], tuple(nodes)) for nodes in together.values()]


def _joined(groups: Sequence[NodeGroup], nodes: tuple[str, ...]) -> NodeGroup:
    return NodeGroup(
        groups[0].task,
        nodes,
        tuple({name: (name, words) for group in groups for name, words in group.refusals}.values()),
        tuple({name: (name, words) for group in groups for name, words in group.objections}.values()),
        tuple({one.resource: one for group in groups for one in group.shortages}.values()),
        tuple({key: (key, reason) for group in groups for key, reason in group.barred}.values()),
    )


def kinds_of(job: SessionJob) -> list[Task]:
    """One pending task of every kind."""
    found: dict[Hashable, Task] = {}
    for task in job.pending:
        found.setdefault(kind_of(task), task)
    return list(found.values())


def kind_of(task: Task) -> Hashable:
    """What a task asks for and wishes; tasks with the same see the same reasons on every node.

    Of volumes those count that a filter reads: most pods have a projected one, with a name of its own.
    """
    spec = task.pod.spec
    wishes = spec.model_dump_json(include={"node_selector", "affinity", "tolerations", "topology_spread_constraints"})
    has_own = spec.resource_claims or any(volume != PodVolume(name=volume.name) for volume in spec.volumes)
    own = task.key if has_own else None
    stated = task.pod.metadata.annotations
    resources = [one.resources for one in spec.containers]
    sizes = tuple([(tuple(sorted(one.requests.items())), tuple(sorted(one.limits.items()))) for one in resources])
    hardware = (sizes, tuple([(key, stated[key]) for key in HARDWARE_ANNOTATIONS if key in stated]))
    requests, labels = (tuple(sorted(of.items())) for of in (task.requests, task.labels))
    return (requests, wishes, host_ports(task.pod), own, labels, hardware)


class _Look:
    """One task's view of all nodes."""

    def __init__(self, snapshot: Snapshot, task: Task):
        from cpsched.explanation.lifting import static_refusals

        self.snapshot, self.task = snapshot, task
        self.asked = {name: amount for name, amount in sorted(task.requests.items()) if amount > 0}
        self.static = static_refusals(snapshot.predicates, task)
        self.dynamic = self._dynamic() if snapshot.predicates.any_dynamic else {}
        self.full = frozenset(without_cards(snapshot, task))

    def _dynamic(self) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
        predicates, found = self.snapshot.predicates, {}
        for name in predicates.names(self.task):
            if not FILTERS[name].is_static:
                verdicts = feasible(self.task, predicates.cluster, [name], predicates.args(self.task)).by_node()
                found[name] = {node: status.reasons for node, status in verdicts.items() if not status.is_success}
        return found

    @cached_property
    def evictable(self) -> dict[str, Room]:
        """Per node what those hold whom the task has a right to evict, whatever protects them."""
        found: dict[str, Room] = {}
        for node, tasks in self.snapshot.instance.tasks_by_node.items():
            room: Room = {}
            for victim in tasks:
                if any(True for _ in actions_against(self.snapshot, self.task, victim)):
                    for name in self.asked:
                        room[name] = room.get(name, 0) + victim.requests.get(name, 0)
            found[node] = room
        return found

    def state(self, node: str, resource: str) -> str:
        """How the resource stands on the node."""
        needs = self.asked[resource]
        if needs > self.snapshot.instance.nodes[node].allocatable.get(resource, 0):
            return SMALL
        if needs <= self.snapshot.idle[node].get(resource, 0):
            return FREE
        later = self.snapshot.future_idle[node].get(resource, 0)
        if needs <= later:
            return LATER
        return AFTER if needs <= later + self.evictable[node].get(resource, 0) else HELD

    def verdict(self, node: str) -> Hashable:
        """What speaks against the node, without numbers."""
        return (self._words(self.static, node), self._barred(node), self._words(self.dynamic, node), self._states(node))

    def _barred(self, node: str) -> tuple[tuple[str, str], ...]:
        rules = ((key, rule.refused(self.task).get(node)) for key, rule in self.snapshot.node_rules.items())
        found = tuple((key, reason) for key, reason in rules if reason is not None)
        return (*found, ("cards", NO_CARD)) if node in self.full else found

    def _words(self, by_filter: Mapping[str, Mapping[str, object]], node: str) -> tuple[object, ...]:
        return tuple((name, _reasons(nodes[node])) for name, nodes in by_filter.items() if node in nodes)

    def _states(self, node: str) -> tuple[tuple[str, str], ...]:
        return tuple((name, self.state(node, name)) for name in self.asked)

    def group(self, nodes: list[str]) -> NodeGroup:
        """The nodes with one verdict."""
        first = nodes[0]
        shortages = []
        for name, state in self._states(first):
            if state != FREE:
                free = max(self.snapshot.idle[node].get(name, 0) for node in nodes)
                later = (self.snapshot.future_idle[n].get(name, 0) + self.evictable[n].get(name, 0) for n in nodes)
                size = max(self.snapshot.instance.nodes[node].allocatable.get(name, 0) for node in nodes)
                shortages.append(Shortage(name, state, self.asked[name], max(free, 0), max(0, *later, 0), size))
        static = tuple((name, _reasons(by_node[first])) for name, by_node in self.static.items() if first in by_node)
        dynamic = tuple((name, by_node[first]) for name, by_node in self.dynamic.items() if first in by_node)
        return NodeGroup(self.task.key, tuple(nodes), static, dynamic, tuple(shortages), self._barred(first))


def _reasons(answer: object) -> tuple[str, ...]:
    return answer if isinstance(answer, tuple) else getattr(answer, "reasons", ())
