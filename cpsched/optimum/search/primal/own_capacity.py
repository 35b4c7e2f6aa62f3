"""Own capacity: no task uses capacity of victims that it may not evict.

Stricter than `charge`: a restriction, whose solutions pass that rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cpsched.optimum.model.classes import TaskClass
from cpsched.optimum.model.variables import Variables, weighted
from cpsched.snapshot.rights import Action


def own_capacity_only(v: Variables) -> Iterator[Any]:
    """Per node and set of victims: those who may evict no others fit beside everything else that is there."""
    if v.snapshot.policy.rules.charge == "off" or v.snapshot.policy.rules.eviction_scope == "cluster":
        return
    for node, present in sorted(v.classes_by_node.items()):
        ways = [(group, action) for group in v.victims_by_node.get(node, []) for action in sorted(group.rights)]
        within = {
            one.index: frozenset((g.index, action) for g, action in ways if one.index in g.rights[action])
            for one in present
        }
        for victims in dict.fromkeys(within.values()):
            if len(victims) < len(ways):
                yield from _rows(v, node, [one for one in present if within[one.index] <= victims], victims)


def _rows(v: Variables, node: str, crowd: list[TaskClass], victims: frozenset[tuple[int, Action]]) -> Iterator[Any]:
    for resource in sorted({name for one in crowd for name, amount in one.representative.requests.items() if amount}):
        asking = [one for one in crowd if one.representative.requests.get(resource, 0)]
        placed = weighted((v.classes.amount(one.representative, resource), v.placed(one, node)) for one in asking)
        freed = weighted(
            (v.classes.amount(v.classes.victims[index].representative, resource), v.evict[index, action])
            for index, action in sorted(victims)
        )
        yield placed - freed <= max(0, v.capacity.future_idle[node].get(resource, 0))
