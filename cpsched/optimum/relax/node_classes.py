"""Pools: nodes that nothing tells apart, taken for one big node.

Every rule about a node is summed up over the pool, so that each decision of the session is one here too: what is best
here is a bound on what is best there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import replace

from cpsched.optimum.model.capacity import Room, Units
from cpsched.optimum.model.symmetry import Classes, VictimGroup

SMALLEST_POOL = 8
"""Fewer nodes than this are not worth what is lost: in a pool a task may lie across two of them."""


def pooled(classes: Classes, room: Room, pool_by_node: dict[str, str]) -> tuple[Classes, Room]:
    """The session on pools."""
    kinds = tuple(
        replace(one, nodes=tuple(dict.fromkeys(pool_by_node[node] for node in one.nodes))) for one in room.kinds
    )
    idle, future = (_summed(rooms, pool_by_node) for rooms in (room.idle, room.future))
    pools = replace(room, kinds=kinds, idle=idle, future=future, now={}, later={})
    for mine, theirs in ((pools.now, room.now), (pools.later, room.later)):
        for (index, node), count in theirs.items():
            key = (index, pool_by_node[node])
            mine[key] = min(len(kinds[index].tasks), mine.get(key, 0) + count)
    return replace(classes, victims=_merged(classes.victims, pool_by_node)), pools


def alike_nodes(classes: Classes, room: Room) -> tuple[tuple[str, ...], ...]:
    """All nodes, those together that nothing tells apart."""
    limits: dict[str, list[tuple[int, int, int]]] = {node: [] for node in room.idle}
    for one in room.kinds:
        for node in one.nodes:
            now, later = room.now.get((one.index, node), 0), room.later.get((one.index, node), 0)
            if now or later:
                limits[node].append((one.index, now, later))
    victims: dict[str, Counter[Hashable]] = {node: Counter() for node in room.idle}
    for group in classes.victims:
        victims[group.node][group.kind] += len(group.tasks)
    alike: dict[Hashable, list[str]] = {}
    for node in room.idle:
        idle, future = frozenset(room.idle[node].items()), frozenset(room.future[node].items())
        alike.setdefault((tuple(limits[node]), idle, future, frozenset(victims[node].items())), []).append(node)
    return tuple(tuple(nodes) for nodes in alike.values())


def pools_of(alike: tuple[tuple[str, ...], ...]) -> dict[str, str]:
    """The pool of every node, named after its first."""
    return {node: nodes[0] if len(nodes) >= SMALLEST_POOL else node for nodes in alike for node in nodes}


def _summed(rooms: dict[str, Units], pool_by_node: dict[str, str]) -> dict[str, Units]:
    """Room of the pools; a node alone keeps its own, and a pool of nodes that are too full has none."""
    sizes = Counter(pool_by_node.values())
    total: dict[str, Units] = {}
    for node, room in rooms.items():
        pool = total.setdefault(pool_by_node[node], {})
        for name, amount in room.items():
            pool[name] = pool.get(name, 0) + (amount if sizes[pool_by_node[node]] == 1 else max(0, amount))
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
