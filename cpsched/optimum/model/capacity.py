"""Room: what each place can take of each kind of task, in whole units.

A place is a node and a kind a class of tasks; in a relaxation it may be a pool of nodes, and classes that ask for the
same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import floor

from cpsched.optimum.model.symmetry import Classes, TaskClass
from cpsched.snapshot import Snapshot

Units = dict[str, int]
Content = tuple[tuple[str, int], ...]


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
    alike: tuple[tuple[str, ...], ...] = ()
    """Nodes of which it makes no difference which one is used; none where filters look at neighbours."""


def room_of(snapshot: Snapshot, classes: Classes) -> Room:
    """The room of every node for every class; where a node is taken beyond its size it is negative."""
    return room_for(snapshot, classes, classes.tasks, tuple(range(len(classes.tasks))))


def room_for(snapshot: Snapshot, classes: Classes, kinds: tuple[TaskClass, ...], kind_of: tuple[int, ...]) -> Room:
    """The same for kinds of several classes each."""
    idle, future = _in_units(classes, snapshot.idle), _in_units(classes, snapshot.future_idle)
    most = {node: dict(room) for node, room in future.items()}
    for group in classes.victims:
        room = most[group.node]
        for name in group.sample.requests:
            room[name] = room.get(name, 0) + classes.asked_by_kind(name)[group.kind] * len(group.tasks)
    now: dict[tuple[int, str], int] = {}
    later: dict[tuple[int, str], int] = {}
    for one in kinds:
        asked = [(name, classes.amount(one.sample, name)) for name, amount in one.sample.requests.items() if amount > 0]
        for may, counts, rooms in ((one.may_bind, now, idle), (one.may_reserve, later, most)):
            known: dict[Content, int] = {}
            for node in one.nodes if may else ():
                content = tuple(rooms[node].items())
                if content not in known:
                    known[content] = _fitting(one, asked, rooms[node])
                if known[content]:
                    counts[one.index, node] = known[content]
    return Room(kinds, kind_of, idle, future, now, later)


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


def _fitting(one: TaskClass, asked: list[tuple[str, int]], room: Units) -> int:
    return max(0, min([len(one.tasks), *(room.get(name, 0) // amount for name, amount in asked)]))
