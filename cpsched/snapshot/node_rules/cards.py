"""The rule `cards`: what is placed on a node finds room on the node's cards, each of which is a bin of its own."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from cpsched.hardware.vgpu import ALL_CORES
from cpsched.instance import RELEASING, Task
from cpsched.policy import PluginConf
from cpsched.snapshot.node_rules.card_kinds import RULE, CardBin, CardLook, CardWish, Label, SharedCards, VirtualCards

if TYPE_CHECKING:
    from cpsched.snapshot import Snapshot


class CardRule:
    """The cards of all nodes, and what every task wants or holds of them."""

    def __init__(self, snapshot: Snapshot, plugin: PluginConf, exempt: frozenset[str] = frozenset()):
        self.exempt = exempt
        self._snapshot, self._kind = snapshot, _kind_of(plugin)
        self._looks: dict[str, CardLook] = {}
        self._refused: dict[CardLook, dict[str, str]] = {}
        found = {name: self._kind.cards(node) for name, node in snapshot.instance.nodes.items()}
        self.cards: dict[str, tuple[CardBin, ...]] = {node: cards for node, cards in found.items() if cards}
        """Per node that has cards."""

    def look(self, task: Task) -> CardLook:
        """What the task wants, or what it holds if it is on a node."""
        if task.key not in self._looks:
            node = self._snapshot.instance.nodes.get(task.node)
            self._looks[task.key] = CardLook() if task.key in self.exempt else self._kind.look(task, node)
        return self._looks[task.key]

    def mark(self, task: Task) -> Hashable:
        """Its look."""
        return self.look(task)

    def refused(self, task: Task) -> Mapping[str, str]:
        """Nodes whose cards would not do even if nothing were on them."""
        look = self.look(task)
        if look not in self._refused:
            verdict = {cards: _would_do(look, cards) for cards in set(self.cards.values())} if look.wishes else {}
            reason = "its cards are too few, too small or not those that are wanted"
            self._refused[look] = {node: reason for node, cards in self.cards.items() if not verdict.get(cards, True)}
        return self._refused[look]

    def holding(self, node: str) -> list[tuple[Task, CardLook]]:
        """Tasks on the node that hold cards, and do so until they are evicted."""
        tasks = self._snapshot.instance.tasks_by_node[node]
        looks = [(task, self.look(task)) for task in tasks if task.status is not RELEASING]
        return [(task, look) for task, look in looks if look.parts]

    @cached_property
    def kept(self) -> dict[str, frozenset[tuple[int, Label]]]:
        """Per node the cards that tasks on their way out still keep from others of an exclusive rule."""
        found: dict[str, frozenset[tuple[int, Label]]] = {}
        for node in self.cards:
            leaving = (one for one in self._snapshot.instance.tasks_by_node[node] if one.status is RELEASING)
            looks = map(self.look, leaving)
            kept = {(part.card, at) for look in looks for part in look.parts for at in look.seen_as if at[0] == RULE}
            if kept:
                found[node] = frozenset(kept)
        return found


def _kind_of(plugin: PluginConf) -> SharedCards | VirtualCards:
    if plugin.arguments.boolean("deviceshare.VGPUEnable"):
        return VirtualCards(plugin.arguments.form("deviceshare.GPUExclusiveRules"))
    return SharedCards(by_memory=plugin.arguments.boolean("deviceshare.GPUSharingEnable"))


def _would_do(look: CardLook, cards: tuple[CardBin, ...]) -> bool:
    """Whether every container by itself finds as many empty cards as it wants."""

    def suits(wish: CardWish, card: CardBin) -> bool:
        return card.sharers > 0 and wish.memory_of(card) <= card.memory and wish.cores <= ALL_CORES

    allowed = [card for card in cards if look.may_have(card)]
    return all(sum(suits(wish, card) for card in allowed) >= wish.number for wish in look.wishes)
