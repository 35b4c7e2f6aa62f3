"""The oracle: tries every decision of a tiny instance, checked by the checker and the objectives alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations, product

from cpsched.instance import HOLDS_ROOM, ID_ANNOTATION, Task
from cpsched.objectives import comparable, level_plan, value_of
from cpsched.resources import add, total_of
from cpsched.rules import RULES, Decision
from cpsched.rules.placement import exceeded
from cpsched.snapshot import Snapshot
from cpsched.snapshot.rights import actions_against
from cpsched.solution import Eviction

LIMIT = 2_000_000
_WHATEVER_THE_ACTION = ("capacity", "queue")
_CHEAP = ("protect.gang",)
_COSTLY = ("charge", "filters")
_OTHERS = (*(key for key in RULES if key not in (*_WHATEVER_THE_ACTION, *_CHEAP, *_COSTLY)), *_COSTLY)
_WITHOUT_VICTIMS = ("assignment", "gang", "enqueue", "actions")
"""Rules that more victims can only break, never fix."""

Places = dict[str, str]
Key = tuple[tuple[int, int], ...]


class TooLargeError(Exception):
    """More decisions than an exhaustive search should try."""


@dataclass
class Optimum:
    """The best vector and every decision that reaches it."""

    labels: list[str]
    values: list[int | None]
    decisions: list[Decision] = field(default_factory=list)
    tried: int = 0

    @property
    def victim_sets(self) -> list[tuple[str, ...]]:
        """All optimal victim sets, sorted."""
        return sorted({tuple(sorted(decision.evicted)) for decision in self.decisions})


def optimum(snapshot: Snapshot, limit: int = LIMIT) -> Optimum:
    """Exhaustive search over placements, victims and the jobs that enter."""
    plan = level_plan(snapshot)
    best: Key | None = None
    found: list[Decision] = []
    tried = 0
    for decision in decisions(snapshot):
        tried += 1
        if tried > limit:
            raise TooLargeError
        if (best and _part(decision, plan[0]) > best[0]) or _breaks(decision, _CHEAP):
            continue
        key = _key_unless_worse(decision, plan, best)
        if key is None or _breaks(decision, _OTHERS):
            continue
        if key != best:
            best, found = key, []
        found.append(decision)
    assert found, "the empty decision is always feasible"
    labels = [name if priority is None else f"{name}[{priority}]" for name, priority in plan]
    return Optimum(labels, [value_of(found[0], *level) for level in plan], found, tried)


def _key_unless_worse(decision: Decision, plan: list[tuple[str, int | None]], best: Key | None) -> Key | None:
    """The decision's sorting key; None as soon as one level is worse than the best so far and none before it better."""
    key: list[tuple[int, int]] = []
    tied = best is not None
    for position, level in enumerate(plan):
        part = _part(decision, level)
        if tied and best is not None and part != best[position]:
            if part > best[position]:
                return None
            tied = False
        key.append(part)
    return tuple(key)


def _part(decision: Decision, level: tuple[str, int | None]) -> tuple[int, int]:
    return comparable([level], [value_of(decision, *level)])[0]


def _breaks(decision: Decision, rules: Iterable[str]) -> bool:
    return any(True for rule in rules for _ in RULES[rule](decision))


def decisions(snapshot: Snapshot) -> Iterator[Decision]:
    """Every decision worth checking; tasks that differ in nothing but their name are placed in one order only."""
    search = _Search(snapshot)
    for binds, reserves in search.placements(0, {}, {}):
        yield from search.with_victims(binds, reserves)


class _Search:
    """Walks through placements depth first: each task on every node, bound or reserved, or nowhere."""

    def __init__(self, snapshot: Snapshot):
        self.snapshot, self.tasks = snapshot, snapshot.instance.tasks
        self.nodes = list(snapshot.instance.nodes)
        jobs = [job for job in snapshot.jobs.values() if snapshot.takes_part(job)]
        self.queue = _grouped([task for job in jobs for task in job.pending], snapshot)
        self.actions: dict[tuple[str, str], tuple[str, ...]] = {}

    def placements(self, position: int, binds: Places, reserves: Places) -> Iterator[tuple[Places, Places]]:
        """All ways to place the tasks from `position` on, given where the ones before went."""
        if position == len(self.queue):
            yield dict(binds), dict(reserves)
            return
        task, alike_before = self.queue[position]
        for kind, places in enumerate((binds, reserves)):
            for number, node in enumerate(self.nodes):
                if alike_before and (number, kind) < self._place(alike_before, binds, reserves):
                    continue
                places[task.key] = node
                if self._could_fit(node, binds, reserves):
                    yield from self.placements(position + 1, binds, reserves)
                del places[task.key]
        yield from self.placements(self._next_kind(position), binds, reserves)

    def _place(self, key: str, binds: Places, reserves: Places) -> tuple[int, int]:
        return (self.nodes.index(binds[key]), 0) if key in binds else (self.nodes.index(reserves[key]), 1)

    def _next_kind(self, position: int) -> int:
        """Where the tasks alike to this one end: if it goes nowhere, they do not either."""
        position += 1
        while position < len(self.queue) and self.queue[position][1]:
            position += 1
        return position

    def _could_fit(self, node: str, binds: Places, reserves: Places) -> bool:
        bound = [self.tasks[key].requests for key, place in binds.items() if place == node]
        placed = bound + [self.tasks[key].requests for key, place in reserves.items() if place == node]
        removable = [task.requests for task in self.snapshot.instance.tasks_by_node[node] if task.status in HOLDS_ROOM]
        room = add(self.snapshot.future_idle[node], total_of(removable))
        return not exceeded(total_of(bound), self.snapshot.idle[node]) and not exceeded(total_of(placed), room)

    def with_victims(self, binds: Places, reserves: Places) -> Iterator[Decision]:
        """The placement with every set of victims that a task placed beside them may evict."""
        placed = {**binds, **reserves}
        owners = (self.snapshot.job_of(self.tasks[key]) for key in placed)
        entered = frozenset(job.key for job in owners if job is not None and job.is_pending)
        empty = Decision(self.snapshot, binds, reserves, (), entered)
        if _breaks(empty, _WITHOUT_VICTIMS):
            return
        candidates = self._candidates(placed)
        for size in range(len(candidates) + 1):
            for victims in combinations(candidates, size):
                rough = Decision(self.snapshot, binds, reserves, tuple(ways[0] for ways in victims), entered)
                if _breaks(rough, _WHATEVER_THE_ACTION):
                    continue
                for evictions in product(*victims):
                    yield Decision(self.snapshot, binds, reserves, evictions, entered)

    def _candidates(self, placed: Places) -> list[tuple[Eviction, ...]]:
        """Per task that a task may evict, its eviction by each action that may.

        Every eviction names its action. One that does not is checked more mildly: it may be charged as reclaim and yet
        be protected only as far as preempt is.
        """
        everywhere = self.snapshot.policy.rules.eviction_scope == "cluster"
        found = []
        for node in self.nodes:
            beside = [key for key, place in placed.items() if everywhere or place == node]
            for victim in self.snapshot.instance.tasks_by_node[node]:
                actions: dict[str, None] = {action: None for key in beside for action in self._actions(key, victim)}
                # A gang action may evict on any node: where, is the checker's business.
                for key in placed:
                    actions |= dict.fromkeys(self.snapshot.gang_rights.actions(self.tasks[key], victim))
                if actions:
                    found.append(tuple(Eviction(task=victim.key, node=node, action=action) for action in actions))
        return found

    def _actions(self, key: str, victim: Task) -> tuple[str, ...]:
        pair = (key, victim.key)
        if pair not in self.actions:
            self.actions[pair] = tuple(actions_against(self.snapshot, self.tasks[key], victim))
        return self.actions[pair]


def _grouped(tasks: list[Task], snapshot: Snapshot) -> list[tuple[Task, str]]:
    """Each task with the key of the one alike just before it, or nothing; alike ones stand next to each other."""
    classes: list[tuple[tuple[object, ...], list[Task]]] = []
    for task in tasks:
        spec = task.pod.spec.model_copy(update={"node_name": ""})
        annotations = {key: text for key, text in task.pod.metadata.annotations.items() if key != ID_ANNOTATION}
        content = (snapshot.job_key(task), task.role, task.priority, task.labels, annotations, spec)
        for known, members in classes:
            if known == content:
                members.append(task)
                break
        else:
            classes.append((content, [task]))
    return [
        (task, members[number - 1].key if number else "")
        for _, members in classes
        for number, task in enumerate(members)
    ]
