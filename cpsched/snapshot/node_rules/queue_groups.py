"""nodegroup: to which groups of nodes a queue's tasks may go, and how much they may hold there."""

from __future__ import annotations

import json
from collections.abc import Mapping

from cpsched.instance import Queue
from cpsched.objects.groups import QueueAffinity
from cpsched.quantity import nano
from cpsched.resources import from_quantities

LABEL = "volcano.sh/nodegroup-name"
LIMITS = "volcano.sh/nodegroup-resource-limits"

Limits = Mapping[str, tuple[tuple[str, ...], dict[str, int]]]
"""group → the names that are limited, and the limits in the scheduler's units."""


class GroupRules:
    """A queue's rules about groups."""

    def __init__(self, affinity: QueueAffinity | None):
        affinity = affinity or QueueAffinity()
        self._required, self._preferred = affinity.node_group_affinity.required, affinity.node_group_affinity.preferred
        anti = affinity.node_group_anti_affinity
        self._forbidden, self._avoided = anti.required, anti.preferred
        self.is_empty = not (self._required or self._preferred or self._forbidden or self._avoided)

    def means(self, group: str) -> bool:
        """Whether its tasks may go there: to required and preferred groups, or if it names none to any not forbidden.

        What the lists say. `admits` is what the scheduler makes of them, which differs where queues keep off groups.
        """
        named = (*self._required, *self._preferred)
        return group not in self._forbidden and (group in named or not named)

    def admits(self, group: str) -> bool:
        """Whether the scheduler lets its tasks go there: a group to be avoided is admitted, even a forbidden one."""
        if group in self._avoided:
            return True
        return group in (*self._required, *self._preferred) and group not in self._forbidden

    def score(self, group: str, *, ordered: bool) -> float:
        """100 for a required group, up to 50 for a preferred one, -1 for one to avoid."""
        if group in self._avoided:
            return -1.0
        total = 100.0 if group in self._required else 0.0
        if group in self._preferred:
            count = len(set(self._preferred))
            last = len(self._preferred) - 1 - self._preferred[::-1].index(group)
            total += 50.0 * (count - last) / count if ordered else 50.0
        return total


def affinity_of(queue: Queue, queues: Mapping[str, Queue], *, inherit: bool) -> QueueAffinity | None:
    """The queue's own, or that of the nearest queue above it that has one."""
    seen: set[str] = set()
    current: Queue | None = queue
    while current is not None and current.name not in seen:
        if current.queue.spec.affinity is not None or not inherit:
            return current.queue.spec.affinity
        seen.add(current.name)
        current = None if current.name == "root" else queues.get(current.parent or "root")
    return None


def limits_of(queue: Queue) -> Limits | None:
    """The queue's limits; None if the annotation cannot be read."""
    text = queue.queue.metadata.annotations.get(LIMITS)
    if not text:
        return {}
    try:
        stated = json.loads(text)
        groups = () if stated is None else stated.items()
        return {group: _limit({} if amounts is None else amounts) for group, amounts in groups}
    except (ValueError, AttributeError, RecursionError):
        return None


def _limit(amounts: Mapping[str, object]) -> tuple[tuple[str, ...], dict[str, int]]:
    quantities: dict[str, str | float] = {}
    for name, amount in amounts.items():
        if isinstance(amount, bool) or not isinstance(amount, str | int | float):
            raise ValueError("not a quantity")
        nano(amount)
        quantities[name] = amount
    # What the scheduler's resources have no place for is compared as nothing with nothing.
    vector = from_quantities(quantities)
    return tuple(name for name in quantities if name in vector), dict(vector)
