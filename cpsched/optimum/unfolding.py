"""Unfolding: what an assignment of a sketch looks like in the program, with pools spread out and classes named."""

from __future__ import annotations

from collections import Counter

from ortools.sat.python import cp_model

from cpsched.optimum.classes import TaskClass
from cpsched.optimum.foresight import Foresight
from cpsched.optimum.variables import Variables
from cpsched.snapshot.rights import Action

Going = Counter[tuple[int, Action]]
"""How many of each group go, and by which action."""


def unfolded(v: Variables, sight: Foresight, *, waiting: bool) -> dict[cp_model.IntVar, int]:
    """Counts of everything that both know; with `waiting`, whoever starts there waits here."""
    theirs, values = sight.sketch.variables, sight.values or []
    going = _going(v, sight)
    found = {variable: going[key] for key, variable in v.evict.items()}
    starts, waits = (theirs.bind, theirs.bound_of, theirs.ready), (theirs.reserve, theirs.reserved_of, theirs.pipelined)
    for places, of, served, sources in (
        (v.bind, v.bound_of, v.ready, () if waiting else (starts,)),
        (v.reserve, v.reserved_of, v.pipelined, (starts, waits) if waiting else (waits,)),
    ):
        there: Counter[tuple[int, str]] = Counter()
        taken: Counter[tuple[int, int]] = Counter()
        jobs: Counter[int] = Counter()
        for their_places, their_of, their_served in sources:
            there.update({key: values[x.index] for key, x in their_places.items()})
            taken.update({key: values[x.index] for key, x in their_of.items()})
            jobs.update({index: values[x.index] for index, x in enumerate(their_served)})
        named = _named(v, sight, there, taken, going)
        found |= {variable: named[key] for key, variable in places.items()}
        found |= {variable: taken[key] for key, variable in of.items()}
        found |= {variable: jobs[index] for index, variable in enumerate(served)}
    return found


def _going(v: Variables, sight: Foresight) -> Going:
    """Victims of a pool go evenly from its nodes."""
    groups = {(group.node, group.kind): group for group in v.classes.victims}
    going: Going = Counter()
    for group in sight.sketch.variables.classes.victims:
        nodes = sight.sketch.nodes_by_pool[group.node]
        for action in group.rights:
            count = (sight.values or [])[sight.sketch.variables.evict[group.index, action].index]
            for node, part in zip(nodes, _evenly(count, len(nodes)), strict=True):
                going[groups[node, group.kind].index, action] += part
    return going


def _named(
    v: Variables, sight: Foresight, there: Counter[tuple[int, str]], taken: Counter[tuple[int, int]], going: Going
) -> Counter[tuple[int, str]]:
    """Which class is where: where most go, those first who may evict most of them."""
    kind_of = sight.sketch.variables.room.kind_of
    members: dict[int, list[TaskClass]] = {}
    for one in v.classes.tasks:
        members.setdefault(kind_of[one.index], []).append(one)
    left: Counter[int] = Counter()
    for (_, index), count in taken.items():
        left[index] += count
    slots = [
        (node, kind, part)
        for (kind, pool), count in there.items()
        for nodes in (sight.sketch.nodes_by_pool[pool],)
        for node, part in zip(nodes, _evenly(count, len(nodes)), strict=True)
        if part
    ]
    lost = {node: _may_take(v, node, going) for node in dict.fromkeys(node for node, _, _ in slots)}
    named: Counter[tuple[int, str]] = Counter()
    for node, kind, part in sorted(slots, key=lambda slot: -max(lost[slot[0]].values(), default=0)):
        for one in sorted(members[kind], key=lambda one: -lost[node][one.index]):
            count = min(part, left[one.index])
            named[one.index, node] += count
            left[one.index] -= count
            part -= count
    return named


def _may_take(v: Variables, node: str, going: Going) -> Counter[int]:
    """Per class how many of those who go from the node it may evict."""
    found: Counter[int] = Counter()
    for group in v.victims_by_node.get(node, ()):
        for action, indices in group.rights.items():
            if count := going[group.index, action]:
                found.update(dict.fromkeys(indices, count))
    return found


def _evenly(count: int, parts: int) -> list[int]:
    each, rest = divmod(count, parts)
    return [each + (number < rest) for number in range(parts)]
