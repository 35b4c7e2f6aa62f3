"""Kinds: classes of tasks that a node cannot tell apart, whoever they belong to."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from cpsched.optimum.model.capacity import Room, room_for
from cpsched.optimum.model.symmetry import Classes, TaskClass
from cpsched.snapshot import Snapshot


def room_by_kind(snapshot: Snapshot, classes: Classes) -> Room:
    """The room of every node for classes that ask for the same and may go to the same nodes, taken together."""
    members: dict[Hashable, list[TaskClass]] = {}
    for one in classes.tasks:
        asked = tuple(sorted(item for item in one.sample.requests.items() if item[1]))
        members.setdefault((asked, one.nodes, one.may_bind, one.may_reserve), []).append(one)
    kinds: list[TaskClass] = []
    kind_of = [0] * len(classes.tasks)
    for alike in members.values():
        for one in alike:
            kind_of[one.index] = len(kinds)
        tasks = tuple(task for one in alike for task in one.tasks)
        kinds.append(replace(alike[0], index=len(kinds), tasks=tasks))
    return room_for(snapshot, classes, tuple(kinds), tuple(kind_of))
