"""Aggregation: request classes (who owns a task is forgotten) and node classes (identical nodes are one large node).

Both are relaxations: every row about a task class or a node is summed over those taken together, so each decision of
the session satisfies the sums, and the optimum of the aggregated model bounds that of the session.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import replace
from functools import partial

from cpsched.optimum.model.capacity import NodeCapacity, Units, capacity_for
from cpsched.optimum.model.classes import Classes, TaskClass, VictimClass
from cpsched.optimum.model.victims import latest_first
from cpsched.snapshot import Snapshot

LEAST_NODES = 8
"""Fewer identical nodes than this stay apart: the model gets little smaller, and a node class admits a task that lies
across two of its nodes. Without aggregation the relaxation of a thousand identical nodes has a thousand times the
variables."""


def aggregate_requests(snapshot: Snapshot, classes: Classes) -> NodeCapacity:
    """Task classes with equal requests and equal nodes are one request class, whatever their jobs.

    Owners are distinguished only in what their jobs receive (`bind_by_job`, `reserve_by_job`), not in where.
    """
    members: dict[Hashable, list[TaskClass]] = {}
    for one in classes.tasks:
        requests = tuple(sorted(item for item in one.representative.requests.items() if item[1]))
        members.setdefault((requests, one.nodes, one.may_bind, one.may_reserve), []).append(one)
    request_classes: list[TaskClass] = []
    request_class_of = [0] * len(classes.tasks)
    for equal in members.values():
        for one in equal:
            request_class_of[one.index] = len(request_classes)
        tasks = tuple(task for one in equal for task in one.tasks)
        request_classes.append(replace(equal[0], index=len(request_classes), tasks=tasks))
    return capacity_for(snapshot, classes, tuple(request_classes), tuple(request_class_of))


def identical_nodes(classes: Classes, capacity: NodeCapacity, *, starts: bool) -> tuple[tuple[str, ...], ...]:
    """All nodes, those together that are equal in free capacity, in what they may take and in their victims.

    With `starts` also in when their victims started: then it makes no difference which of them is used.
    """
    limits: dict[str, list[tuple[int, int, int]]] = {node: [] for node in capacity.idle}
    for one in capacity.request_classes:
        for node in one.nodes:
            key = (one.index, node)
            binds, reserves = capacity.bind_limit.get(key, 0), capacity.reserve_limit.get(key, 0)
            if binds or reserves:
                limits[node].append((one.index, binds, reserves))
    victims: dict[str, Counter[Hashable]] = {node: Counter() for node in capacity.idle}
    for victim in classes.victims:
        began = tuple([task.pod_status.start_time for task in victim.tasks]) if starts else None
        victims[victim.node][victim.shape, victim.most, began] += len(victim.tasks)
    found: dict[Hashable, list[str]] = {}
    for node in capacity.idle:
        idle, future = frozenset(capacity.idle[node].items()), frozenset(capacity.future_idle[node].items())
        found.setdefault((tuple(limits[node]), idle, future, frozenset(victims[node].items())), []).append(node)
    return tuple(tuple(nodes) for nodes in found.values())


def node_classes(identical: tuple[tuple[str, ...], ...]) -> dict[str, str]:
    """The node class of every node, named after its first node."""
    return {node: nodes[0] if len(nodes) >= LEAST_NODES else node for nodes in identical for node in nodes}


def aggregate_nodes(
    snapshot: Snapshot, classes: Classes, capacity: NodeCapacity, class_by_node: dict[str, str]
) -> tuple[Classes, NodeCapacity]:
    """The session on node classes: capacities, limits and victims of the nodes of a class are added up."""
    request_classes = tuple(
        replace(one, nodes=tuple(dict.fromkeys(class_by_node[node] for node in one.nodes)))
        for one in capacity.request_classes
    )
    idle, future = (_summed(free, class_by_node) for free in (capacity.idle, capacity.future_idle))
    total = replace(
        capacity, request_classes=request_classes, idle=idle, future_idle=future, bind_limit={}, reserve_limit={}
    )
    for summed, single in (
        (total.bind_limit, capacity.bind_limit),
        (total.reserve_limit, capacity.reserve_limit),
    ):
        for (index, node), count in single.items():
            key = (index, class_by_node[node])
            summed[key] = min(len(request_classes[index].tasks), summed.get(key, 0) + count)
    return replace(classes, victims=_merged(snapshot, classes.victims, class_by_node)), total


def _summed(free_by_node: dict[str, Units], class_by_node: dict[str, str]) -> dict[str, Units]:
    """Free capacity of the node classes.

    A class of one node keeps a negative amount (the node is overcommitted); in a class of several it counts as 0,
    because the lack of one node takes nothing from another: without this the sum would exclude decisions.
    """
    sizes = Counter(class_by_node.values())
    total: dict[str, Units] = {}
    for node, free in free_by_node.items():
        summed = total.setdefault(class_by_node[node], {})
        for name, amount in free.items():
            summed[name] = summed.get(name, 0) + (amount if sizes[class_by_node[node]] == 1 else max(0, amount))
    return total


def _merged(
    snapshot: Snapshot, victims: tuple[VictimClass, ...], class_by_node: dict[str, str]
) -> tuple[VictimClass, ...]:
    """Victim classes of equal shape become one per node class; a task that may evict one of them may evict all.

    They are in order of their start again: of so many victims the earliest started no later than the last of as many.
    """
    members: dict[tuple[str, Hashable], list[VictimClass]] = {}
    for victim in victims:
        members.setdefault((class_by_node[victim.node], victim.shape), []).append(victim)
    found: list[VictimClass] = []
    for (node, _), equal in members.items():
        tasks = tuple(sorted((t for one in equal for t in one.tasks), key=partial(latest_first, snapshot)))
        rights = {
            action: tuple(sorted({i for one in equal for i in one.rights.get(action, ())}))
            for action in sorted({action for one in equal for action in one.rights})
        }
        most = sum(one.most for one in equal)
        found.append(replace(equal[0], index=len(found), node=node, tasks=tasks, rights=rights, most=most))
    return tuple(found)
