"""Cards by memory or by number; mirrors `api/devices/nvidia/gpushare`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from cpsched.greedy.volcano.devices.contract import Cards
from cpsched.instance import Node, Task
from cpsched.objects.base import Quantities
from cpsched.objects.pod import Container
from cpsched.quantity import whole

MEMORY, NUMBER = "volcano.sh/gpu-memory", "volcano.sh/gpu-number"
INDEX, UNHEALTHY = "volcano.sh/gpu-index", "volcano.sh/gpu-unhealthy-ids"
_NUMBER = re.compile(r"[+-]?\d+", re.ASCII)


def amount(stated: Quantities, name: str) -> int:
    """A whole amount, 0 if it is not stated."""
    return whole(stated[name]) if name in stated else 0


def wish(task: Task, name: str) -> int:
    """What a pod wants: the sum of its containers, but at least what one init container wants; limits only."""

    def limit(container: Container) -> int:
        return amount(container.resources.limits, name)

    return max([sum(map(limit, task.spec.containers)), *map(limit, task.spec.init_containers)])


@dataclass(frozen=True)
class GpuShare:
    """Cards by memory, or whole cards; never both in one configuration."""

    by_memory: bool

    def asks(self, task: Task) -> bool:
        """Whether the pod wants such cards."""
        return wish(task, MEMORY if self.by_memory else NUMBER) > 0

    def cards(self, node: Node) -> Cards | None:
        """Cards of equal memory, less those that are marked unhealthy."""
        capacity = node.node.status.capacity
        memory, number = amount(capacity, MEMORY), amount(capacity, NUMBER)
        if memory <= 0 or number <= 0:
            return None
        unhealthy = _numbers(node.node.metadata.annotations.get(UNHEALTHY, ""), skip=True)
        ids = [index for index in range(number) if index not in unhealthy]
        return GpuCards(node.name, ids, memory // number, by_memory=self.by_memory)


class GpuCards:
    """Who is on which card of a node."""

    def __init__(self, node: str, ids: list[int], memory: int, *, by_memory: bool):
        self._node, self._memory, self._by_memory = node, memory, by_memory
        self._pods: dict[int, dict[str, int]] = {index: {} for index in ids}
        """card → pod → its whole wish for memory"""

    def refusal(self, task: Task) -> str | None:
        """By memory one card must have it all; by number enough cards must be without any pod."""
        if self._by_memory:
            found = self._with_memory(wish(task, MEMORY)) is not None
            return None if found else f"GpuShare no enough gpu memory on node {self._node}"
        found = len(self._unused()) >= wish(task, NUMBER)
        return None if found else f"GpuNumber no enough gpu number on node {self._node}"

    def score(self) -> float:
        """All cards are equally good."""
        return 0.0

    def book(self, task: Task) -> bool:
        """The lowest card that will do; a wish for memory comes first, whatever is shared."""
        memory = wish(task, MEMORY)
        if memory > 0:
            card = self._with_memory(memory)
            chosen = [] if card is None else [card]
        else:
            number, unused = wish(task, NUMBER), self._unused()
            chosen = unused[:number] if len(unused) >= number else []
        for index in chosen:
            self._pods[index][task.key] = memory
        return bool(chosen)

    def release(self, task: Task) -> None:
        """It leaves every card."""
        for pods in self._pods.values():
            pods.pop(task.key, None)

    def enter(self, task: Task) -> None:
        """Every card of its annotation bears the whole of its memory."""
        for index in _numbers(task.pod.metadata.annotations.get(INDEX, "")):
            if index in self._pods:
                self._pods[index][task.key] = wish(task, MEMORY)

    def leave(self, task: Task) -> None:
        """It leaves every card."""
        self.release(task)

    def linger(self, task: Task) -> None:
        """Its cards look free."""

    def copied(self) -> GpuCards:
        """The cards with their pods."""
        copy = GpuCards(self._node, [], self._memory, by_memory=self._by_memory)
        copy._pods = {index: dict(pods) for index, pods in self._pods.items()}
        return copy

    def _with_memory(self, memory: int) -> int | None:
        fitting = (index for index, pods in self._pods.items() if max(0, self._memory - sum(pods.values())) >= memory)
        return next(fitting, None)

    def _unused(self) -> list[int]:
        return [index for index, pods in self._pods.items() if not pods]


def _numbers(text: str, *, skip: bool = False) -> list[int]:
    """The numbers of a comma-separated text; what is none is skipped, or spoils it all."""
    parts = text.split(",")
    if not skip and not all(map(_NUMBER.fullmatch, parts)):
        return []
    return [int(part) for part in parts if _NUMBER.fullmatch(part)]
