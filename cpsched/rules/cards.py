"""The rule `cards`: whether tasks find cards on a node, by an exact search over cards that differ in something."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from cpsched.hardware.vgpu import ALL_CORES
from cpsched.instance import Task
from cpsched.rules.decision import Decision
from cpsched.rules.violation import Violation
from cpsched.snapshot import Snapshot
from cpsched.snapshot.node_rules.card_kinds import CardBin, CardLook, CardWish, Label

STEPS = 200_000


@dataclass(frozen=True)
class CardLoad:
    """What is on a card: those who stay, then those who are tried there."""

    sharers: int = 0
    memory: int = 0
    cores: int = 0
    kept_cores: int = 0
    """Cores of those who stay; newcomers may come in any order, but all after these."""
    kept: frozenset[Label] = frozenset()
    """What those who stay are to tasks with labels."""
    taken: frozenset[tuple[Label, int]] = frozenset()
    """Labels of newcomers, each with the newcomer's number."""
    is_alone: bool = False
    """Whether a newcomer with all of its cores is there."""


def cards(decision: Decision) -> Iterator[Violation]:
    """All that is placed on a node finds its cards there once the victims are gone; each card is full by itself."""
    rule = decision.snapshot.cards
    if rule is None:
        return
    for node in rule.cards:
        looks = [look for task in decision.placed_by_node.get(node, ()) if (look := rule.look(task)).wishes]
        if not looks:
            continue
        search = _Search(rule.cards[node], looks)
        if not search.run(loads_on(decision.snapshot, node, decision.evicted)):
            why = "no cards for all that is placed there" if search.is_decided else "too many ways to share cards out"
            yield Violation("cards", node, f"has {why}")


def without_cards(snapshot: Snapshot, task: Task) -> list[str]:
    """Nodes with such cards as the task wants, and too little left on them while all who run there stay."""
    rule = snapshot.cards
    if rule is None or not (look := rule.look(task)).wishes:
        return []
    none = frozenset[str]()
    return [node for node in rule.cards if not _Search(rule.cards[node], [look]).run(loads_on(snapshot, node, none))]


def loads_on(snapshot: Snapshot, node: str, evicted: frozenset[str]) -> list[CardLoad]:
    """What is on the cards of a node once the victims are gone."""
    rule = snapshot.cards
    assert rule is not None
    loads = [CardLoad() for _ in rule.cards[node]]
    for task, look in rule.holding(node):
        for part in look.parts if task.key not in evicted else ():
            before = loads[part.card]
            cores = before.cores + part.cores
            loads[part.card] = replace(
                before,
                sharers=before.sharers + 1,
                memory=before.memory + part.memory,
                cores=cores,
                kept_cores=cores,
                kept=before.kept | look.seen_as,
            )
    for card, label in rule.kept.get(node, ()):
        loads[card] = replace(loads[card], kept=loads[card].kept | {label})
    return loads


class _Search:
    """Shares cards out, the largest wish first; of cards that are equal and hold the same, one is tried."""

    def __init__(self, cards: Sequence[CardBin], looks: Sequence[CardLook]):
        self._cards, self._steps = cards, 0
        ordered = sorted(looks, key=_size, reverse=True)
        self._wishes = [(number, look, wish) for number, look in enumerate(ordered) for wish in look.wishes]
        self._failed: set[tuple[object, ...]] = set()

    @property
    def is_decided(self) -> bool:
        """Whether the search came to its end."""
        return self._steps <= STEPS

    def run(self, loads: list[CardLoad]) -> bool:
        """Whether there is a way."""
        return self._next(0, 0, -1, tuple(loads))

    def _next(self, position: int, taken: int, last: int, loads: tuple[CardLoad, ...]) -> bool:
        """Whether the wish at the position finds the rest of its cards behind the last one, and all after it theirs."""
        if position == len(self._wishes):
            return True
        state = (position, taken, last, loads)
        self._steps += 1
        if self._steps > STEPS or state in self._failed:
            return False
        number, look, wish = self._wishes[position]
        then = (position, taken + 1) if taken + 1 < wish.number else (position + 1, 0)
        tried: set[tuple[CardBin, CardLoad]] = set()
        for index in range(last + 1, len(loads)):
            card, load = self._cards[index], loads[index]
            after = None if (card, load) in tried else _with(card, load, number, look, wish)
            tried.add((card, load))
            if after is not None:
                changed = (*loads[:index], after, *loads[index + 1 :])
                if self._next(*then, -1 if then[0] > position else index, changed):
                    return True
        self._failed.add(state)
        return False


def _size(look: CardLook) -> tuple[int, int, int, int]:
    """Those who want most cards, and most of them, come first."""
    number = max(wish.number for wish in look.wishes)
    most = sum(wish.memory for wish in look.wishes)
    return number, len(look.wishes), most, sum(wish.cores for wish in look.wishes)


def _with(card: CardBin, load: CardLoad, number: int, look: CardLook, wish: CardWish) -> CardLoad | None:
    """The card with one more sharer, None if it cannot have it."""
    memory, cores = load.memory + wish.memory_of(card), load.cores + wish.cores
    if load.sharers >= card.sharers or memory > card.memory or cores > ALL_CORES or not look.may_have(card):
        return None
    if load.is_alone or (wish.cores == ALL_CORES and load.sharers):
        return None
    if wish.cores == 0 and load.kept_cores >= ALL_CORES:
        return None
    others = {label for label, one in load.taken if one != number}
    if look.labels & load.kept or look.labels & others:
        return None
    taken = load.taken | {(label, number) for label in look.labels}
    return replace(
        load,
        sharers=load.sharers + 1,
        memory=memory,
        cores=cores,
        taken=taken,
        is_alone=wish.cores == ALL_CORES,
    )
