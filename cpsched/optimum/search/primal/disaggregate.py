"""Disaggregation: a relaxed solution in the terms of the session: node classes spread over nodes, owners assigned.

The result may break rules about rights and neighbours, which the relaxation does not state.
"""

from __future__ import annotations

from collections import Counter

from cpsched.optimum.model.classes import Classes, TaskClass, VictimClass
from cpsched.optimum.model.counts import ClassCounts, counts_in
from cpsched.optimum.relax.bounding import LexicographicBounds
from cpsched.snapshot.rights import Action

Evictions = Counter[tuple[int, Action]]
"""How many of each victim class are evicted, and by which action."""
Places = Counter[tuple[int, str]]
"""How many of each task class, or request class, are on each node."""


def disaggregate(classes: Classes, bounding: LexicographicBounds, *, only_reserves: bool = False) -> ClassCounts:
    """Counts in the session; with `only_reserves` what starts in the relaxed solution is reserved."""
    relaxed_counts = counts_in(bounding.relaxed.variables, bounding.values or [])
    bind_by_job, reserve_by_job = Counter(relaxed_counts.bind_by_job), Counter(relaxed_counts.reserve_by_job)
    bind, reserve = Counter(relaxed_counts.bind), Counter(relaxed_counts.reserve)
    ready, pipelined = relaxed_counts.ready, relaxed_counts.pipelined
    if only_reserves:
        pipelined, ready = [a + b for a, b in zip(ready, pipelined, strict=True)], [0] * len(ready)
        reserve_by_job, bind_by_job = bind_by_job + reserve_by_job, Counter()
        reserve, bind = bind + reserve, Counter()
    evicted = _evicted(classes, bounding, relaxed_counts)
    spread = _OwnerAssignment(classes, bounding, evicted)
    return ClassCounts(
        spread.named(bind, bind_by_job),
        spread.named(reserve, reserve_by_job),
        evicted,
        bind_by_job,
        reserve_by_job,
        ready,
        pipelined,
    )


def _evicted(classes: Classes, bounding: LexicographicBounds, relaxed_counts: ClassCounts) -> Evictions:
    """Victims of a node class are taken evenly from its nodes."""
    groups = {(group.node, group.shape): group for group in classes.victims}
    evicted: Evictions = Counter()
    for (index, action), count in relaxed_counts.evict.items():
        group = bounding.relaxed.variables.classes.victims[index]
        nodes = bounding.relaxed.nodes_by_class[group.node]
        for node, part in zip(nodes, _evenly(count, len(nodes)), strict=True):
            if part:
                evicted[groups[node, group.shape].index, action] += part
    return evicted


class _OwnerAssignment:
    """Which task classes the tasks of a request class on a node belong to."""

    def __init__(self, classes: Classes, bounding: LexicographicBounds, evicted: Evictions):
        self._relaxed = bounding.relaxed
        self._members: dict[int, list[TaskClass]] = {}
        for one in classes.tasks:
            self._members.setdefault(bounding.relaxed.variables.capacity.request_class_of[one.index], []).append(one)
        self._lost: dict[str, Counter[int]] = {}
        """Per node and task class how many of the victims there it may evict."""
        for (index, action), count in evicted.items():
            group: VictimClass = classes.victims[index]
            lost = self._lost.setdefault(group.node, Counter())
            for one_index in group.rights[action]:
                lost[one_index] += count

    def named(self, there: Places, taken: Counter[tuple[int, int]]) -> Places:
        """Task classes by node: nodes with most victims first, and there the class that may evict most of them.

        A tie goes to the class that comes first, so the result is the same in every run.
        """
        left: Counter[int] = Counter()
        for (_, index), count in taken.items():
            left[index] += count
        slots = [
            (node, request_class, part)
            for (request_class, node_class), count in there.items()
            for nodes in (self._relaxed.nodes_by_class[node_class],)
            for node, part in zip(nodes, _evenly(count, len(nodes)), strict=True)
            if part
        ]
        nothing: Counter[int] = Counter()
        most = {node: max(lost.values(), default=0) for node, lost in self._lost.items()}
        found: Places = Counter()
        for node, request_class, part in sorted(slots, key=lambda slot: -most.get(slot[0], 0)):
            lost = self._lost.get(node, nothing)
            for one in sorted(self._members[request_class], key=lambda one: -lost[one.index]):
                count = min(part, left[one.index])
                if count:
                    found[one.index, node] += count
                    left[one.index] -= count
                    part -= count
        return found


def _evenly(count: int, parts: int) -> list[int]:
    each, rest = divmod(count, parts)
    return [each + (number < rest) for number in range(parts)]
