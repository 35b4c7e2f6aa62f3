"""Capacity: what each node can take of each request class, in whole units.

A place is a node, a request class a class of tasks; in a relaxation a node class, and task classes that request the
same.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from math import floor

from cpsched.optimum.model.classes import Classes, TaskClass
from cpsched.snapshot import Snapshot

Units = dict[str, int]


@dataclass(frozen=True)
class NodeCapacity:
    """Per node what is idle and will be, and how many tasks of a request class can start or be reserved there."""

    request_classes: tuple[TaskClass, ...]
    request_class_of: tuple[int, ...]
    """Per task class its request class."""
    idle: dict[str, Units]
    future_idle: dict[str, Units]
    bind_limit: dict[tuple[int, str], int]
    reserve_limit: dict[tuple[int, str], int]
    identical_nodes: tuple[tuple[str, ...], ...] = ()
    """Nodes of which it makes no difference which one is used; none where filters look at neighbours."""


def node_capacity(snapshot: Snapshot, classes: Classes) -> NodeCapacity:
    """The capacity of every node for every task class; it is negative where a node is overcommitted."""
    return capacity_for(snapshot, classes, classes.tasks, tuple(range(len(classes.tasks))))


def capacity_for(
    snapshot: Snapshot, classes: Classes, request_classes: tuple[TaskClass, ...], request_class_of: tuple[int, ...]
) -> NodeCapacity:
    """The same for request_classes of several classes each."""
    idle, future = _in_units(classes, snapshot.idle), _in_units(classes, snapshot.future_idle)
    most = {node: dict(room) for node, room in future.items()}
    for group in classes.victims:
        room = most[group.node]
        for name in group.representative.requests:
            room[name] = room.get(name, 0) + classes.requested_by_shape(name)[group.shape] * group.most
    now: dict[tuple[int, str], int] = {}
    later: dict[tuple[int, str], int] = {}
    rooms_now, rooms_later = _Rooms(idle), _Rooms(most)
    for one in request_classes:
        asked = [
            (name, classes.amount(one.representative, name))
            for name, amount in one.representative.requests.items()
            if amount > 0
        ]
        for may, counts, rooms in ((one.may_bind, now, rooms_now), (one.may_reserve, later, rooms_later)):
            if may:
                index, fitting, number_of = one.index, rooms.fitting(asked, len(one.tasks)), rooms.number_by_node
                for node in one.nodes:
                    if count := fitting[number_of[node]]:
                        counts[index, node] = count
    return NodeCapacity(request_classes, request_class_of, idle, future, now, later)


def _in_units(classes: Classes, rooms: Mapping[str, Mapping[str, float]]) -> dict[str, Units]:
    """Room in whole units; nodes that have the same share it, so it is not to be changed."""
    known: dict[tuple[tuple[str, float], ...], Units] = {}
    found: dict[str, Units] = {}
    for node, room in rooms.items():
        content = tuple(room.items())
        if content not in known:
            known[content] = {name: floor(amount / classes.unit.get(name, 1)) for name, amount in content}
        found[node] = known[content]
    return found


class _Rooms:
    """The room of all nodes, by what is in it: nodes with equal room are asked about once."""

    def __init__(self, rooms: Mapping[str, Units]):
        numbers: dict[tuple[tuple[str, int], ...], int] = {}
        self.number_by_node = {
            node: numbers.setdefault(tuple(room.items()), len(numbers)) for node, room in rooms.items()
        }
        self._contents = [dict(content) for content in numbers]
        self._columns: dict[str, list[int]] = {}

    def fitting(self, asked: list[tuple[str, int]], most: int) -> list[int]:
        """Per number how many tasks that ask for this fit, up to so many."""
        times = [[amount // each for amount in self._column(name)] for name, each in asked]
        return [max(0, min(counts)) for counts in zip(itertools.repeat(most, len(self._contents)), *times, strict=True)]

    def _column(self, name: str) -> list[int]:
        if name not in self._columns:
            self._columns[name] = [content.get(name, 0) for content in self._contents]
        return self._columns[name]
