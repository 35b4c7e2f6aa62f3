"""Pools: nodes on which the same classes fit, taken for one big node.

Every rule about a node is summed up over the pool, so that each decision of the session is one here too: what is best
here is a bound on what is best there. Few places and small numbers make that bound cheap, and its decision is a plan to
try on the real nodes.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from cpsched.optimum.classes import Classes, VictimGroup
from cpsched.optimum.room import Room, Units


def pooled(classes: Classes, room: Room) -> tuple[Classes, Room] | None:
    """The session on pools; None if every node is a pool of its own."""
    pool_by_node = _pools(classes, room)
    if len(set(pool_by_node.values())) == len(pool_by_node):
        return None
    tasks = tuple(
        replace(one, nodes=tuple(dict.fromkeys(pool_by_node[node] for node in one.nodes))) for one in classes.tasks
    )
    pools = Room(_summed(room.idle, pool_by_node), _summed(room.future, pool_by_node), {}, {})
    for mine, theirs in ((pools.now, room.now), (pools.later, room.later)):
        for (index, node), count in theirs.items():
            key = (index, pool_by_node[node])
            mine[key] = min(len(classes.tasks[index].tasks), mine.get(key, 0) + count)
    return replace(classes, tasks=tasks, victims=_merged(classes.victims, pool_by_node)), pools


def _pools(classes: Classes, room: Room) -> dict[str, str]:
    """The pool of every node, named after its first."""
    present: dict[str, list[int]] = {node: [] for node in room.idle}
    for one in classes.tasks:
        for node in one.nodes:
            if (one.index, node) in room.now or (one.index, node) in room.later:
                present[node].append(one.index)
    first: dict[tuple[int, ...], str] = {}
    return {node: first.setdefault(tuple(indices), node) for node, indices in present.items()}


def _summed(rooms: dict[str, Units], pool_by_node: dict[str, str]) -> dict[str, Units]:
    """Room of the pools; a node that is too full takes nothing from the others."""
    total: dict[str, Units] = {}
    for node, room in rooms.items():
        pool = total.setdefault(pool_by_node[node], {})
        for name, amount in room.items():
            pool[name] = pool.get(name, 0) + max(0, amount)
    return total


def _merged(victims: tuple[VictimGroup, ...], pool_by_node: dict[str, str]) -> tuple[VictimGroup, ...]:
    """Groups that only their node told apart become one; who may evict one of them there may evict all."""
    members: dict[tuple[str, Hashable], list[VictimGroup]] = {}
    for group in victims:
        members.setdefault((pool_by_node[group.node], group.kind), []).append(group)
    found: list[VictimGroup] = []
    for (node, _), groups in members.items():
        tasks = tuple(task for group in groups for task in group.tasks)
        rights = {
            action: tuple(sorted({i for group in groups for i in group.rights.get(action, ())}))
            for action in sorted({action for group in groups for action in group.rights})
        }
        found.append(replace(groups[0], index=len(found), node=node, tasks=tasks, rights=rights))
    return tuple(found)
