"""Cards by memory or by number; mirrors `api/devices/nvidia/gpushare`."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from cpsched.greedy.volcano.devices.contract import Cards, CardState, PlainWish
from cpsched.hardware.gpu_share import MEMORY, NUMBER, annotated, node_cards, wish
from cpsched.instance import Node, Task

NO_LIMIT = 2**31


@dataclass(frozen=True)
class GpuShare:
    """Cards by memory, or whole cards; never both in one configuration."""

    by_memory: bool

    def asks(self, task: Task) -> bool:
        """Whether the pod wants such cards."""
        return wish(task, MEMORY if self.by_memory else NUMBER) > 0

    def refusal(self, node: str) -> str:
        """With the node's name."""
        return (
            f"{'GpuShare no enough gpu memory' if self.by_memory else 'GpuNumber no enough gpu number'} on node {node}"
        )

    def look(self, task: Task) -> Hashable:
        """Both wishes: one for memory comes first, whatever is shared."""
        return wish(task, MEMORY), wish(task, NUMBER)

    def plain_wish(self, task: Task) -> PlainWish | None:
        """Always: cards are equal."""
        return PlainWish(1, wish(task, MEMORY), 0) if self.by_memory else PlainWish(wish(task, NUMBER), 0, 0)

    def accepts(self, wish: PlainWish, type_: str) -> bool:
        """All cards are of one type."""
        return True

    def cards(self, node: Node) -> Cards | None:
        """Cards of equal memory, less those that are marked unhealthy."""
        found = node_cards(node)
        return None if found is None else GpuCards(found.ids, found.memory, by_memory=self.by_memory)


class GpuCards:
    """Who is on which card of a node."""

    def __init__(self, ids: Iterable[int], memory: int, *, by_memory: bool):
        self._memory, self._by_memory = memory, by_memory
        self._pods: dict[int, dict[str, int]] = {index: {} for index in ids}
        """card → pod → its whole wish for memory"""

    def states(self, gone: Iterable[Task] = ()) -> list[CardState]:
        """By number only who is there counts."""
        found, left = [], {task.key for task in gone}
        for pods in self._pods.values():
            held = [memory for key, memory in pods.items() if key not in left] if left else list(pods.values())
            if self._by_memory:
                found.append(CardState(len(held), NO_LIMIT, self._memory, self._memory - sum(held), 0))
            else:
                found.append(CardState(len(held), 1 - len(held), 0, 0, 0))
        return found

    def lacks(self, task: Task) -> bool:
        """By memory one card must have it all; by number enough cards must be without any pod."""
        if self._by_memory:
            return self._with_memory(wish(task, MEMORY)) is None
        return len(self._unused()) < wish(task, NUMBER)

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
        for index in annotated(task):
            if index in self._pods:
                self._pods[index][task.key] = wish(task, MEMORY)

    def leave(self, task: Task) -> None:
        """It leaves every card."""
        self.release(task)

    def linger(self, task: Task) -> None:
        """Its cards look free."""

    def copied(self) -> GpuCards:
        """The cards with their pods."""
        copy = GpuCards([], self._memory, by_memory=self._by_memory)
        copy._pods = {index: dict(pods) for index, pods in self._pods.items()}
        return copy

    def _with_memory(self, memory: int) -> int | None:
        fitting = (index for index, pods in self._pods.items() if max(0, self._memory - sum(pods.values())) >= memory)
        return next(fitting, None)

    def _unused(self) -> list[int]:
        return [index for index, pods in self._pods.items() if not pods]
