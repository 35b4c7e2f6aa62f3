"""cards: what is placed on a node is shared out to its cards, each of which is a bin of its own.

Exact: tasks of a class are interchangeable on cards, so it is enough to count how often the wish of one of their
containers lies on a card. As many different cards as a task wants can be dealt to each of them as long as no card is
counted more often than there are tasks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ortools.sat.python import cp_model

from cpsched.hardware.vgpu import ALL_CORES
from cpsched.optimum.model.classes import TaskClass, VictimClass
from cpsched.optimum.model.variables import Expr, Variables, sum_of, weighted
from cpsched.snapshot import Snapshot
from cpsched.snapshot.node_rules import CardRule
from cpsched.snapshot.node_rules.card_kinds import NO_LIMIT, CardBin, CardLook, CardPart, CardWish, Label


def cards(cp: cp_model.CpModel, snapshot: Snapshot, v: Variables) -> None:
    """Per node with cards and tasks that want some: every card holds what lies on it."""
    rule = snapshot.cards
    for node, present in sorted(v.classes_by_node.items()) if rule is not None else ():
        assert rule is not None
        asking = [(one, look) for one in present if (look := rule.look(one.representative)).wishes]
        if asking and node in rule.cards:
            _NodeModel(cp, v, node, rule).state(asking)


@dataclass
class _Slot:
    """A card, who holds it now, and what of the classes lies on it."""

    card: CardBin
    stay: list[CardPart] = field(default_factory=list)
    kept: set[Label] = field(default_factory=set)
    victims: list[tuple[VictimClass, CardPart, frozenset[Label]]] = field(default_factory=list)
    taken: list[tuple[CardWish, cp_model.IntVar]] = field(default_factory=list)
    present: list[tuple[frozenset[Label], Expr]] = field(default_factory=list)
    """Per class how many of its tasks are on the card, where labels matter."""


class _NodeModel:
    """The rows of one node."""

    def __init__(self, cp: cp_model.CpModel, v: Variables, node: str, rule: CardRule):
        self._cp, self._v, self._node = cp, v, node
        self._slots = [_Slot(card) for card in rule.cards[node]]
        group_of = {task.key: group for group in v.victims_by_node.get(node, ()) for task in group.tasks}
        done: set[int] = set()
        for task, look in rule.holding(node):
            group = group_of.get(task.key)
            if group is not None and group.index in done:
                continue
            for part in look.parts:
                slot = self._slots[part.card]
                if group is None:
                    slot.stay.append(part)
                    slot.kept |= look.seen_as
                else:
                    done.add(group.index)
                    slot.victims.append((group, part, look.seen_as))
        for position, label in rule.kept.get(node, ()):
            self._slots[position].kept.add(label)

    def state(self, asking: Iterable[tuple[TaskClass, CardLook]]) -> None:
        """Every wish finds its cards, and every card holds what lies on it."""
        for one, look in asking:
            self._share_out(one, look)
        for slot in self._slots:
            if slot.taken:
                self._hold(slot)

    def _share_out(self, one: TaskClass, look: CardLook) -> None:
        placed, most = self._v.placed(one, self._node), len(one.tasks)
        by_slot: dict[int, list[cp_model.IntVar]] = {}
        for wish in look.wishes:
            counts = []
            for position, slot in enumerate(self._slots):
                if look.may_have(slot.card) and wish.memory_of(slot.card) <= slot.card.memory:
                    name = f"{one.representative.key} on card {position} of {self._node}"
                    counts.append(self._cp.new_int_var(0, min(most, slot.card.sharers), name))
                    slot.taken.append((wish, counts[-1]))
                    by_slot.setdefault(position, []).append(counts[-1])
                    if wish.number > 1:
                        self._cp.add(counts[-1] <= placed)
            self._cp.add(sum_of(counts) == wish.number * placed)
        for position, counts in by_slot.items() if look.labels else ():
            self._slots[position].present.append((look.labels, self._is_there(counts)))

    def _is_there(self, counts: Sequence[cp_model.IntVar]) -> Expr:
        """How many tasks of the class are on the card; one that has more containers than one is a class by itself."""
        if len(counts) == 1:
            return counts[0]
        there = self._v.flag("on the card")
        for count in counts:
            self._cp.add(count <= there)
        return there

    def _hold(self, slot: _Slot) -> None:
        card, used = slot.card, None
        limits = (
            (card.sharers, [(1, count) for _, count in slot.taken], lambda _: 1),
            (card.memory, [(wish.memory_of(card), count) for wish, count in slot.taken], lambda part: part.memory),
            (ALL_CORES, [(wish.cores, count) for wish, count in slot.taken], lambda part: part.cores),
        )
        for most, wanted, size in limits:
            if most >= NO_LIMIT:
                continue
            stays = sum(map(size, slot.stay))
            held = [(size(part), group) for group, part, _ in slot.victims]
            room = most - stays - sum(amount * len(group.tasks) for amount, group in held)
            fits = weighted(wanted) - weighted((amount, self._v.evicted(group)) for amount, group in held) <= room
            if room >= 0:
                self._cp.add(fits)
                continue
            if used is None:
                used = self._some([count for _, count in slot.taken])
            self._cp.add(fits).only_enforce_if(used)
        self._cores(slot)
        self._labels(slot)

    def _cores(self, slot: _Slot) -> None:
        """Who wants all cores is alone; who wants none does not join those who stay with all of them."""
        every = [count for _, count in slot.taken]
        whole = [count for wish, count in slot.taken if wish.cores == ALL_CORES]
        if whole and slot.card.sharers > 1:
            others = weighted((1, len(group.tasks) - self._v.evicted(group)) for group, _, _ in slot.victims)
            alone = self._some(whole)
            self._cp.add(sum_of(every) + others + len(slot.stay) <= 1).only_enforce_if(alone)
        none = [count for wish, count in slot.taken if wish.cores == 0]
        stays = sum(part.cores for part in slot.stay)
        most = stays + sum(part.cores * len(group.tasks) for group, part, _ in slot.victims)
        if none and most >= ALL_CORES:
            left = weighted((part.cores, len(group.tasks) - self._v.evicted(group)) for group, part, _ in slot.victims)
            self._cp.add(left + stays < ALL_CORES).only_enforce_if(self._some(none))

    def _labels(self, slot: _Slot) -> None:
        """Of a label one newcomer at most is on the card, and none beside those who stay and are seen under it."""
        for label in {label: None for labels, _ in slot.present for label in sorted(labels, key=repr)}:
            there = sum_of([count for labels, count in slot.present if label in labels])
            if label in slot.kept:
                self._cp.add(there == 0)
                continue
            flag = self._v.flag("labelled")
            self._cp.add(there <= flag)
            for group, _, seen_as in slot.victims:
                if label in seen_as:
                    self._cp.add(self._v.evicted(group) == len(group.tasks)).only_enforce_if(flag)

    def _some(self, counts: Sequence[cp_model.IntVar]) -> cp_model.IntVar:
        """True if any of them is more than 0."""
        flag = self._v.flag("used")
        for count in counts:
            self._cp.add(count == 0).only_enforce_if(~flag)
        return flag
