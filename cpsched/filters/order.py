"""Search for an order in which tasks can be placed on given nodes, each passing its filters when its turn comes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from cpsched.filters import dynamic_resources, node_volume_limits, pod_topology_spread, volume_binding
from cpsched.filters.args import Args
from cpsched.filters.feasible import PreFiltered, first_failure, prefilter
from cpsched.filters.harmless import Harmless, LabelledPlace
from cpsched.filters.registry import chosen
from cpsched.filters.state import ClusterState
from cpsched.filters.status import Status
from cpsched.filters.storage import claim_name
from cpsched.instance import Task

WORK = 300_000
"""How many times a task is looked at before the search gives up, besides one straight way through."""


CONSUMING = (volume_binding.NAME, node_volume_limits.NAME, dynamic_resources.NAME)
"""Filters under which a task takes things that no other can have then."""


@dataclass(frozen=True)
class Order:
    """A legal order, or None; then `stuck` names who could not be placed where the search got furthest.

    `exhausted`: the search gave up, so that None proves nothing.
    """

    order: tuple[Task, ...] | None
    stuck: tuple[tuple[Task, str, Status], ...] = ()
    exhausted: bool = False


@dataclass
class OrderKind:
    """Tasks alike in everything a filter reads, for one node: any of them may go first."""

    template: int
    node: str
    waiting: list[Task] = field(default_factory=list)


Tested = tuple[int, PreFiltered, Status]


class _Step(NamedTuple):
    """A task that was placed: its kind, what takes its bookings back, and what they are."""

    kind: int
    task: Task
    undo: list[Callable[[], None]]
    booked: tuple[Hashable, ...]


class OrderSearch:
    """Depth first with memory: what has been placed, and what was booked for it, decides what can follow.

    A task that passes and that no task that waits can mind goes at once, and nothing else is tried instead. Of the
    others, those in the emptiest domains go first, which is always right for a single kind. A task that is refused for
    want of volumes or devices, and shares none with another, is refused for good: the search turns back.
    """

    def __init__(self, cluster: ClusterState, placements: list[tuple[Task, str]], names: list[str], args: Args):
        self._cluster, self._names, self._args = cluster, names, args
        self._filters = chosen(names)
        self._kinds = kinds_of(placements, args)
        self._work = WORK + len(placements) * len(self._kinds)
        self._consumes = any(one.name in CONSUMING for one in self._filters)
        self._placed: list[_Step] = []
        self._dead: set[Hashable] = set()
        self._shared = _shared_claims([task for task, _ in placements])
        self._harmless = Harmless([self._at(number, found) for number, found in self._waiting().items()], CONSUMING)
        self._stuck: tuple[int, tuple[tuple[Task, str, Status], ...]] = (-1, ())

    def run(self) -> Order:
        """Search; the cluster is the same afterwards."""
        total = sum(len(kind.waiting) for kind in self._kinds)
        path = [self._options()]
        while path and len(self._placed) < total and self._work > 0:
            kind = next(path[-1], None)
            if kind is None:
                path.pop()
                self._dead.add(self._progress())
                if path:
                    self._take_back()
                continue
            self._place(*kind)
            if self._progress() in self._dead:
                self._take_back()
                continue
            path.append(self._options())
        order = tuple(step.task for step in self._placed) if len(self._placed) == total else None
        while self._placed:
            self._take_back()
        return Order(order) if order is not None else Order(None, self._stuck[1], exhausted=bool(path))

    def _progress(self) -> Hashable:
        booked = frozenset([step.booked for step in self._placed if step.booked])
        return tuple([len(kind.waiting) for kind in self._kinds]), booked

    def _options(self) -> Iterator[tuple[int, PreFiltered]]:
        """Kinds whose next task passes now, those in the emptiest domains first."""
        waiting = self._waiting()
        self._work -= len(waiting)
        crowding = {n: _crowding(found, self._kinds[n].node, self._cluster) for n, found in waiting.items()}
        ordered = sorted(waiting, key=lambda number: (crowding[number], number))
        at_once = (number for number in ordered if self._harmless(number, waiting))
        best = next((n for n in at_once if self._status(self._kinds[n], waiting[n]).is_success), None)
        if best is not None:
            yield best, waiting[best]
            return
        tested: Iterable[Tested] = ((n, waiting[n], self._status(self._kinds[n], waiting[n])) for n in ordered)
        turns_back = False
        if self._consumes:
            tested = list(tested)
            turns_back = any(self._is_for_good(self._kinds[number], status) for number, _, status in tested)
        failing = []
        for number, prefiltered, status in tested:
            kind = self._kinds[number]
            if not status.is_success:
                failing.append((kind.waiting[-1], kind.node, status))
            elif not turns_back:
                yield number, prefiltered
        if len(self._placed) > self._stuck[0]:
            self._stuck = (len(self._placed), tuple(failing))

    def _waiting(self) -> dict[int, PreFiltered]:
        """Kinds with tasks left, by number, and what their filters read now."""
        by_template: dict[int, PreFiltered] = {}
        for kind in self._kinds:
            if kind.waiting and kind.template not in by_template:
                by_template[kind.template] = prefilter(kind.waiting[-1], self._cluster, self._names, self._args)
        return {number: by_template[kind.template] for number, kind in enumerate(self._kinds) if kind.waiting}

    def _at(self, number: int, prefiltered: PreFiltered) -> LabelledPlace:
        kind = self._kinds[number]
        return LabelledPlace(kind.waiting[-1], kind.template, prefiltered, self._cluster.nodes[kind.node].labels)

    def _is_for_good(self, kind: OrderKind, status: Status) -> bool:
        """Whether the tasks that come next can only make it worse: what is booked is not given back."""
        if status.plugin not in CONSUMING or not status.is_rejected:
            return False
        claims, others = _claims(kind.waiting[-1])
        return not others and not claims & self._shared

    def _status(self, kind: OrderKind, prefiltered: PreFiltered) -> Status:
        if not prefiltered.status.is_success:
            return prefiltered.status
        node = self._cluster.nodes[kind.node]
        return first_failure(kind.waiting[-1], node, self._cluster, prefiltered, self._filters)

    def _place(self, number: int, prefiltered: PreFiltered) -> None:
        kind = self._kinds[number]
        task = kind.waiting.pop()
        node = self._cluster.nodes[kind.node]
        undo = [
            one.reserve(prefiltered.states[one.name], task, node, self._cluster)
            for one in self._filters
            if one.reserve is not None and one.name in prefiltered.states
        ]
        booked = [
            (one.name, one.booked(prefiltered.states[one.name], kind.node))
            for one in self._filters
            if one.booked is not None and one.name in prefiltered.states
        ]
        self._cluster.add(task, kind.node)
        self._placed.append(_Step(number, task, undo, tuple(booked)))

    def _take_back(self) -> None:
        step = self._placed.pop()
        self._cluster.remove(step.task)
        for one in reversed(step.undo):
            one()
        self._kinds[step.kind].waiting.append(step.task)


def _claims(task: Task) -> tuple[set[Hashable], bool]:
    """The claims that a task names, and whether it has volumes that are not behind a claim."""
    spec = task.pod.spec
    named = {(task.namespace, claim_name(task.pod, volume)) for volume in spec.volumes}
    devices = {(task.namespace, "devices", one.resource_claim_name or task.key) for one in spec.resource_claims}
    return named | devices, any(claim_name(task.pod, volume) is None for volume in spec.volumes)


def _shared_claims(tasks: list[Task]) -> set[Hashable]:
    """Claims of several tasks: who comes after another may find them bound."""
    users = Counter(claim for task in tasks for claim in _claims(task)[0])
    return {claim for claim, count in users.items() if count > 1}


def _crowding(prefiltered: PreFiltered, node: str, cluster: ClusterState) -> int:
    """How full the node's fullest domain is; tasks without spread come last."""
    state: pod_topology_spread.TopologySpreadState | None = prefiltered.states.get(pod_topology_spread.NAME)
    if state is None:
        return 2**31
    labels = cluster.nodes[node].labels
    counts = zip(state.constraints, state.counts, strict=True)
    return max(count.get(labels.get(constraint.topology_key, ""), 0) for constraint, count in counts)


def kinds_of(placements: list[tuple[Task, str]], args: Args) -> list[OrderKind]:
    """The tasks sorted into kinds; a task with claims made for itself is a kind of its own.

    Where the scheduler spreads pods without constraints of their own, it does so by their owner.
    """
    templates: dict[str, int] = {}
    kinds: dict[tuple[int, str], OrderKind] = {}
    for task, node in reversed(placements):
        pod = task.pod
        owners = pod.metadata.owner_references if args.default_constraints else ()
        content = f"{task.namespace} {sorted(task.labels.items())} {owners} {pod.spec.model_dump_json()}"
        has_identity = bool(pod.spec.resource_claims) or any(volume.ephemeral for volume in pod.spec.volumes)
        template = templates.setdefault(f"{task.key} {content}" if has_identity else content, len(templates))
        kinds.setdefault((template, node), OrderKind(template, node)).waiting.append(task)
    return list(kinds.values())
