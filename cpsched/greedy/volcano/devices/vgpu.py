"""Virtual GPUs (HAMi): cards with so many sharers, so much memory and 100 cores; mirrors `api/devices/nvidia/vgpu`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from cpsched.greedy.volcano.devices.contract import Cards, CardState, PlainWish
from cpsched.hardware.vgpu import (
    ALL_CORES,
    CHOICE,
    NO_UUID,
    USE_UUID,
    Rule,
    Want,
    annotated,
    asks,
    group_of,
    is_allowed,
    node_cards,
    rules_of,
    shares_mode,
    spreads,
    wants,
)
from cpsched.instance import Node, Task


@dataclass
class Card:
    """One card and what is taken of it."""

    index: int
    uuid: str
    count: int
    memory: int
    type: str
    sharers: int = 0
    used_memory: int = 0
    used_cores: int = 0
    pods: dict[str, Task] = field(default_factory=dict)
    """Those that are listed on it with memory or cores."""

    def take(self, memory: int, cores: int, sign: int = 1) -> None:
        """One sharer more, or less."""
        self.sharers += sign
        self.used_memory += sign * memory
        self.used_cores += sign * cores


class Look(NamedTuple):
    """What cards read of a task."""

    wants: tuple[Want, ...]
    rules: tuple[Rule, ...]
    group: tuple[str, str] | None
    """If it wants no card on which another of its group is."""
    choice: tuple[tuple[str, str], ...]
    """Annotations that say which cards it may have."""

    def may_have(self, card: Card) -> bool:
        """Whether the pod accepts the card."""
        return is_allowed(card.type, card.uuid, dict(self.choice))


@dataclass(frozen=True)
class VGpu:
    """Virtual GPUs, with the order in which cards are tried and the rules of exclusion."""

    policy: str = ""
    rules: tuple[Rule, ...] = ()
    looks: dict[str, Look] = field(default_factory=dict, compare=False)
    """task → what is read of it, so that it is read once"""

    def asks(self, task: Task) -> bool:
        """Whether some container limits such cards."""
        return asks(task)

    def refusal(self, node: str) -> str:
        """The same for every node."""
        return "hami-vgpuDeviceSharing error"

    def look(self, task: Task) -> Look:
        """What its containers want, and everything that keeps it off cards."""
        if task.key not in self.looks:
            stated = task.pod.metadata.annotations
            choice = tuple((key, stated[key]) for key in CHOICE if key in stated)
            group = group_of(task) if spreads(task) else None
            self.looks[task.key] = Look(tuple(wants(task)), tuple(rules_of(task, self.rules)), group, choice)
        return self.looks[task.key]

    def plain_wish(self, task: Task) -> PlainWish | None:
        """Of one container that takes any cards, and keeps off none by who is there."""
        look = self.look(task)
        if len(look.wants) != 1 or look.wants[0].number < 1 or look.rules or look.group:
            return None
        if any(key in (USE_UUID, NO_UUID) for key, _ in look.choice):
            return None
        return PlainWish(*look.wants[0], look.choice)

    def accepts(self, wish: PlainWish, type_: str) -> bool:
        """By the annotations about the way of sharing and about types."""
        stated = dict(wish.types)
        return shares_mode(stated) and is_allowed(type_, "", stated)

    def cards(self, node: Node) -> Cards | None:
        """The cards that the node registers; nothing unless all of it can be read."""
        found = [Card(card.index, card.uuid, card.count, card.memory, card.type) for card in node_cards(node)]
        return VGpuCards(found, self) if found else None


class VGpuCards:
    """The cards of one node."""

    def __init__(self, cards: list[Card], kind: VGpu):
        self._list, self._kind = cards, kind
        self._place = {card.index: place for place, card in enumerate(cards)}
        self._held: dict[str, list[tuple[Card, int, int]]] = {}
        self._score = 0.0
        self._reserved: dict[Rule, set[int]] = {rule: set() for rule in kind.rules}

    def states(self, gone: Iterable[Task] = ()) -> list[CardState]:
        """The cards as they are charged."""
        charges = [list(charge) for charge in self._charges()]
        for task in gone:
            left = set()
            for card, memory, cores in self._annotated(task):
                if task.key in card.pods and card.index not in left:
                    left.add(card.index)
                    charge = charges[self._place[card.index]]
                    charge[0], charge[1], charge[2] = charge[0] - 1, charge[1] - memory, charge[2] - cores
        return [
            CardState(sharers, card.count - sharers, card.memory, card.memory - memory, cores, card.type)
            for card, (sharers, memory, cores) in zip(self._list, charges, strict=True)
        ]

    def lacks(self, task: Task) -> bool:
        """Tried and taken back; what was found is remembered for the score."""
        before = self._charges()
        chosen = self._choose(task)
        if chosen is not None:
            self._score = sum(self._rated(card) for card in chosen)
        self._charge(before)
        return chosen is None

    def score(self) -> float:
        """Of the task that last found cards here, for all tasks."""
        return self._score

    def book(self, task: Task) -> bool:
        """Charge the cards and list the task on them."""
        before = self._charges()
        chosen = self._choose(task)
        if chosen is None:
            self._charge(before)
            return False
        for card in chosen:
            self._list_on(card, task)
        return True

    def release(self, task: Task) -> None:
        """The rules forget it. The cards do not: upstream looks for an annotation that the pod does not have yet."""
        for card in self._list:
            if task.key in card.pods:
                self._unreserve(card, task)

    def enter(self, task: Task) -> None:
        """Charge what the annotation names; of two containers on one card only the first."""
        for card, memory, cores in self._annotated(task):
            if task.key not in card.pods:
                card.take(memory, cores)
                self._list_on(card, task)

    def leave(self, task: Task) -> None:
        """Give it back; a card stays reserved while any pod of any rule is on it."""
        for card, memory, cores in self._annotated(task):
            if card.pods.pop(task.key, None) is None:
                continue
            card.take(memory, cores, -1)
            self._unreserve(card, task)

    def linger(self, task: Task) -> None:
        """A terminating pod holds nothing, but its cards stay reserved."""
        for card, _, _ in self._annotated(task):
            for rule in self._rules_of(task):
                self._reserved[rule].add(card.index)

    def copied(self) -> VGpuCards:
        """The cards with their pods; a trial does not know the policy."""
        cards = [replace(card, pods=dict(card.pods)) for card in self._list]
        copy = VGpuCards(cards, replace(self._kind, policy=""))
        copy._reserved = {rule: set(indexes) for rule, indexes in self._reserved.items()}
        return copy

    def _charges(self) -> list[tuple[int, int, int]]:
        return [(card.sharers, card.used_memory, card.used_cores) for card in self._list]

    def _charge(self, charges: list[tuple[int, int, int]]) -> None:
        for card, charge in zip(self._list, charges, strict=True):
            card.sharers, card.used_memory, card.used_cores = charge

    def _list_on(self, card: Card, task: Task) -> None:
        card.pods[task.key] = task
        for rule in self._rules_of(task):
            self._reserved[rule].add(card.index)

    def _unreserve(self, card: Card, task: Task) -> None:
        """The card is no longer the rules' of the task, unless another pod of any rule is on it."""
        if not any(self._rules_of(other) for key, other in card.pods.items() if key != task.key):
            for rule in self._rules_of(task):
                self._reserved[rule].discard(card.index)

    def _choose(self, task: Task) -> list[Card] | None:
        """The cards, charged already; None if a container finds too few, whatever is charged by then."""
        look = self._kind.look(task)
        if not shares_mode(dict(look.choice)):
            return None
        closed = {index for rule in look.rules for index in self._reserved[rule]}
        taken: list[Card] = []
        for want in look.wants:
            if want.number > len(self._list):
                return None
            left = want.number
            for card in self._in_order():
                if card.index in closed or not _suits(card, want, look):
                    continue
                card.take(want.memory or card.memory, want.cores)
                if left:
                    taken.append(card)
                left -= 1
                if left <= 0:
                    break
            if left > 0:
                return None
        return taken

    def _in_order(self) -> list[Card]:
        if self._kind.policy == "binpack":
            return sorted(self._list, key=lambda card: -card.used_memory)
        if self._kind.policy == "spread":
            return sorted(self._list, key=lambda card: card.sharers)
        return self._list[::-1]

    def _rated(self, card: Card) -> float:
        # spread would give 100 to a card without sharers, and asks when the card is charged already.
        return 100 * card.used_memory / card.memory if self._kind.policy == "binpack" and card.memory else 0.0

    def _annotated(self, task: Task) -> list[tuple[Card, int, int]]:
        if task.key in self._held:
            return self._held[task.key]
        found = self._held[task.key] = []
        for share in annotated(task):
            card = next((one for one in self._list if one.uuid in share.uuid), None)
            if card is not None:
                found.append((card, share.memory, share.cores))
        return found

    def _rules_of(self, task: Task) -> tuple[Rule, ...]:
        return self._kind.look(task).rules


def _suits(card: Card, want: Want, look: Look) -> bool:
    if card.sharers >= card.count or not look.may_have(card):
        return False
    if look.group and any(group_of(other) == look.group for other in card.pods.values()):
        return False
    if card.memory - card.used_memory < (want.memory or card.memory) or card.used_cores + want.cores > ALL_CORES:
        return False
    return not (want.cores == ALL_CORES and card.sharers > 0) and not (card.used_cores == ALL_CORES and want.cores == 0)
