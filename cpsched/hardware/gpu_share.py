"""Cards by memory or by number: what nodes have and pods want; as in `api/devices/nvidia/gpushare`."""

from __future__ import annotations

import re
from typing import NamedTuple

from cpsched.instance import Node, Task
from cpsched.objects.base import Quantities
from cpsched.objects.pod import Container
from cpsched.quantity import whole

MEMORY, NUMBER = "volcano.sh/gpu-memory", "volcano.sh/gpu-number"
INDEX, UNHEALTHY = "volcano.sh/gpu-index", "volcano.sh/gpu-unhealthy-ids"
_NUMBER = re.compile(r"[+-]?\d+", re.ASCII)


class NodeCards(NamedTuple):
    """The cards of a node that are not marked unhealthy, and the memory of each."""

    ids: tuple[int, ...]
    memory: int


def amount(stated: Quantities, name: str) -> int:
    """A whole amount, 0 if it is not stated."""
    return whole(stated[name]) if name in stated else 0


def wish(task: Task, name: str) -> int:
    """What a pod wants: the sum of its containers, but at least what one init container wants; limits only."""

    def limit(container: Container) -> int:
        return amount(container.resources.limits, name)

    return max([sum(map(limit, task.spec.containers)), *map(limit, task.spec.init_containers)])


def node_cards(node: Node) -> NodeCards | None:
    """The cards of a node; None if it says nothing of any."""
    capacity = node.node.status.capacity
    memory, number = amount(capacity, MEMORY), amount(capacity, NUMBER)
    if memory <= 0 or number <= 0:
        return None
    unhealthy = _numbers(node.node.metadata.annotations.get(UNHEALTHY, ""), skip=True)
    return NodeCards(tuple(index for index in range(number) if index not in unhealthy), memory // number)


def annotated(task: Task) -> list[int]:
    """The cards that the pod's annotation names."""
    return _numbers(task.pod.metadata.annotations.get(INDEX, ""))


def _numbers(text: str, *, skip: bool = False) -> list[int]:
    """The numbers of a comma-separated text; what is none is skipped, or spoils it all."""
    parts = text.split(",")
    if not skip and not all(map(_NUMBER.fullmatch, parts)):
        return []
    return [int(part) for part in parts if _NUMBER.fullmatch(part)]
