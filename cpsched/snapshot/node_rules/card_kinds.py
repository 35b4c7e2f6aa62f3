"""Cards as bins: what there is on a node, what a task wants, what it holds; for each way of sharing cards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cpsched.hardware import gpu_share, vgpu
from cpsched.instance import Node, Task

NO_LIMIT = 10**9
"""Of sharers, where cards are shared by memory alone."""
RULE, GROUP = "rule", "group"

Label = tuple[str, object]
"""Of the pods with a label only one may be on a card: those of one exclusive rule, or of a group that spreads."""


@dataclass(frozen=True)
class CardBin:
    """One card: how many tasks may share it, and its memory; every card has 100 cores."""

    sharers: int
    memory: int
    uuid: str = ""
    type: str = ""


class CardWish(NamedTuple):
    """What a container wants: so many different cards, and of each so much; no memory is the whole card's."""

    number: int
    memory: int
    cores: int = 0

    def memory_of(self, card: CardBin) -> int:
        """The memory that it takes of the card."""
        return self.memory or card.memory


class CardPart(NamedTuple):
    """What a task that is there holds of one card, identified by its position on the node."""

    card: int
    memory: int
    cores: int = 0


@dataclass(frozen=True)
class CardLook:
    """What is read of a task; tasks with the same look are interchangeable on cards."""

    wishes: tuple[CardWish, ...] = ()
    labels: frozenset[Label] = frozenset()
    """It keeps off cards on which another task is seen under one of these."""
    seen_as: frozenset[Label] = frozenset()
    choice: tuple[tuple[str, str], ...] = ()
    """Annotations that say which cards it may have."""
    parts: tuple[CardPart, ...] = ()
    alone: str = ""
    """The task itself, where its containers may share a card that two tasks may not: then it is like no other."""

    def may_have(self, card: CardBin) -> bool:
        """Whether the task may have the card at all."""
        stated = dict(self.choice)
        return not card.uuid or (vgpu.shares_mode(stated) and vgpu.is_allowed(card.type, card.uuid, stated))


@dataclass(frozen=True)
class SharedCards:
    """Cards by memory, or whole cards."""

    by_memory: bool

    def cards(self, node: Node) -> tuple[CardBin, ...]:
        """Equal cards, less those that are marked unhealthy."""
        found = gpu_share.node_cards(node)
        if found is None:
            return ()
        return (CardBin(NO_LIMIT if self.by_memory else 1, found.memory),) * len(found.ids)

    def look(self, task: Task, node: Node | None) -> CardLook:
        """By memory one card, and its whole wish there; by number so many cards for itself."""
        memory, number = (gpu_share.wish(task, name) for name in (gpu_share.MEMORY, gpu_share.NUMBER))
        found = None if node is None else gpu_share.node_cards(node)
        if found is not None:
            held = [found.ids.index(card) for card in dict.fromkeys(gpu_share.annotated(task)) if card in found.ids]
            return CardLook(parts=tuple(CardPart(card, memory if self.by_memory else 0) for card in held))
        if self.by_memory:
            return CardLook((CardWish(1, memory),)) if memory > 0 else CardLook()
        # Of a card without memory all is nothing, which every card has.
        return CardLook((CardWish(number, 0),)) if number > 0 else CardLook()


@dataclass(frozen=True)
class VirtualCards:
    """Virtual GPUs: cards with so many sharers, memory and cores, and rules about who shares with whom."""

    rules: tuple[vgpu.Rule, ...]

    def cards(self, node: Node) -> tuple[CardBin, ...]:
        """The cards that the node registers."""
        return tuple(CardBin(one.count, one.memory, one.uuid, one.type) for one in vgpu.node_cards(node))

    def look(self, task: Task, node: Node | None) -> CardLook:
        """What its containers want, or what its annotation says that they hold."""
        group, rules = vgpu.group_of(task), [(RULE, rule) for rule in vgpu.rules_of(task, self.rules)]
        seen_as = frozenset[Label]([*rules, (GROUP, group)] if group else rules)
        if node is not None:
            parts = _held(vgpu.annotated(task), vgpu.node_cards(node))
            return CardLook(parts=parts, seen_as=seen_as if parts else frozenset())
        wishes = tuple(CardWish(*want) for want in vgpu.wants(task) if want.number > 0) if vgpu.asks(task) else ()
        if not wishes:
            return CardLook()
        labels = frozenset[Label]([*rules, (GROUP, group)] if group and vgpu.spreads(task) else rules)
        stated = task.pod.metadata.annotations
        choice = tuple((key, stated[key]) for key in vgpu.CHOICE if key in stated)
        return CardLook(wishes, labels, seen_as, choice, alone=task.key if labels and len(wishes) > 1 else "")


def _held(shares: Sequence[vgpu.Share], cards: Sequence[vgpu.VirtualCard]) -> tuple[CardPart, ...]:
    """Per share that names a card of the node what it holds."""
    found = []
    for share in shares:
        position = next((number for number, card in enumerate(cards) if card.uuid in share.uuid), None)
        if position is not None:
            found.append(CardPart(position, share.memory, share.cores))
    return tuple(found)
