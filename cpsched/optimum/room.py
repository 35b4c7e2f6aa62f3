"""Room: what each place can take of each kind of task, in whole units.

A place is a node and a kind a class of tasks; in a relaxation it may be a pool of nodes, and classes that ask for the
same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import floor

from cpsched.optimum.classes import Classes, TaskClass
from cpsched.snapshot import Snapshot

Units = dict[str, int]


@dataclass(frozen=True)
class Room:
    """Per place what is idle now and later, and how many tasks of a kind could start or be reserved there at most."""

    kinds: tuple[TaskClass, ...]
    kind_of: tuple[int, ...]
    """Per class of tasks its kind."""
    idle: dict[str, Units]
    future: dict[str, Units]
    now: dict[tuple[int, str], int]
    later: dict[tuple[int, str], int]


def room_of(snapshot: Snapshot, classes: Classes) -> Room:
    """The room of every node for every class; where a node is taken beyond its size it is negative."""
    return room_for(snapshot, classes, classes.tasks, tuple(range(len(classes.tasks))))


def room_for(snapshot: Snapshot, classes: Classes, kinds: tuple[TaskClass, ...], kind_of: tuple[int, ...]) -> Room:
    """The same for kinds of several classes each."""
    idle = {node: _units(classes, room) for node, room in snapshot.idle.items()}
    future = {node: _units(classes, room) for node, room in snapshot.future_idle.items()}
    most = {node: dict(room) for node, room in future.items()}
    for group in classes.victims:
        room = most[group.node]
        for name in group.sample.requests:
            room[name] = room.get(name, 0) + classes.amount(group.sample, name) * len(group.tasks)
    now: dict[tuple[int, str], int] = {}
    later: dict[tuple[int, str], int] = {}
    for one in kinds:
        asked = [(name, classes.amount(one.sample, name)) for name, amount in one.sample.requests.items() if amount > 0]
        for node in one.nodes:
            if one.may_bind and (count := _fitting(one, asked, idle[node])):
                now[one.index, node] = count
            if one.may_reserve and (count := _fitting(one, asked, most[node])):
                later[one.index, node] = count
    return Room(kinds, kind_of, idle, future, now, later)


def _units(classes: Classes, room: Mapping[str, float]) -> Units:
    return {name: floor(amount / classes.unit.get(name, 1)) for name, amount in room.items()}


def _fitting(one: TaskClass, asked: list[tuple[str, int]], room: Units) -> int:
    return max(0, min([len(one.tasks), *(room.get(name, 0) // amount for name, amount in asked)]))
