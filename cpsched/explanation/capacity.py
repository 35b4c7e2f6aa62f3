"""What nodes that lack capacity have of it, as sums that add up: allocatable is in use, ending, or free."""

from __future__ import annotations

from collections.abc import Iterable

from cpsched.amounts import shown
from cpsched.explanation.groups import NodeGroup
from cpsched.explanation.result import CapacitySum
from cpsched.instance import RELEASING
from cpsched.snapshot import Snapshot

Sum = tuple[str, float, float, float, float, float]
"""Resource, allocatable, in use, ending, free, needed."""


def capacities(snapshot: Snapshot, groups: Iterable[NodeGroup]) -> tuple[CapacitySum, ...]:
    """One for all nodes with the same sum, most free first; nodes that a filter refuses anyway are left out."""
    nodes_by_sum: dict[Sum, list[str]] = {}
    for group in groups:
        for one in group.shortages if not group.refusals else ():
            for node in group.nodes:
                mine = nodes_by_sum.setdefault(_sum(snapshot, node, one.resource, one.needs), [])
                if node not in mine[-1:]:
                    mine.append(node)
    ranked = sorted(nodes_by_sum.items(), key=lambda item: (item[0][0], item[0][5], -item[0][4], -len(item[1])))
    return tuple(_stated(amounts, nodes) for amounts, nodes in ranked)


def _sum(snapshot: Snapshot, node: str, resource: str, needs: float) -> Sum:
    here = snapshot.instance.tasks_by_node[node]
    ending = sum(task.requests.get(resource, 0) for task in here if task.status is RELEASING)
    size, free = snapshot.instance.nodes[node].allocatable.get(resource, 0), snapshot.idle[node].get(resource, 0)
    return resource, size, size - free - ending, ending, free, needs


def _stated(amounts: Sum, nodes: list[str]) -> CapacitySum:
    resource, *numbers = amounts
    allocatable, running, ending, free, needs = (shown(resource, number) for number in numbers)
    return CapacitySum(
        nodes=tuple(dict.fromkeys(nodes)),
        resource=resource,
        allocatable=allocatable,
        running=running,
        ending=ending,
        free=free,
        needs=needs,
    )
