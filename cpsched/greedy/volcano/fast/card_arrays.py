"""Shared cards of all nodes in one table, and the nodes on which a kind of task finds its cards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from cpsched.greedy.volcano.devices.contract import CardState, PlainWish
from cpsched.greedy.volcano.fast.arrays import Ints, Mask
from cpsched.greedy.volcano.fast.plugin_bulk import CardBulk
from cpsched.greedy.volcano.fit import FitError
from cpsched.greedy.volcano.nodes import NodeAccount
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.hardware.vgpu import ALL_CORES
from cpsched.instance import Task


class CardArrays:
    """Node, card, what is known of it; brought up to date where a node was touched."""

    def __init__(self, bulk: CardBulk, nodes: Sequence[NodeAccount], log: Sequence[int]):
        self._bulk, self._nodes, self._log, self._seen = bulk, nodes, log, len(log)
        listed = [bulk.books.states(node.name) if node.name in bulk.books else [] for node in nodes]
        self.types = sorted({card.type for cards in listed for card in cards})
        most = max(map(len, listed), default=0)
        self.present: Mask = np.array([node.name in bulk.books for node in nodes], dtype=np.bool_)
        """Nodes that have cards, if only unhealthy ones; the others refuse no task."""
        # A card that is not there is of the type behind the last, which suits no task.
        self._table: Ints = np.full((len(nodes), most, 6), len(self.types), dtype=np.int64)
        for index in range(len(nodes)):
            self._read(index)

    def of(self, task: Task) -> KindCards | None:
        """The cards as tasks with the same look find them; None if it wants none."""
        if self._bulk.books.look(task) is None:
            return None
        wish = self._bulk.books.kind.plain_wish(task)
        return KindCards(self, self._bulk, task, wish)

    def name(self, index: int) -> str:
        """The node's name."""
        return self._nodes[index].name

    def suiting(self, wish: PlainWish, at: Ints) -> Mask:
        """Those of the nodes with enough cards that suit the wish."""
        self._sync()
        kind = self._bulk.books.kind
        good = np.array([*(kind.accepts(wish, one) for one in self.types), False], dtype=np.bool_)
        sharers, sharers_left, memory, memory_left, cores, types = np.moveaxis(self._table[at], 2, 0)
        suits = good[types] & (sharers_left > 0) & (memory_left >= (wish.memory or memory))
        suits &= cores + wish.cores <= ALL_CORES
        if wish.cores == ALL_CORES:
            suits &= sharers == 0
        if wish.cores == 0:
            suits &= cores != ALL_CORES
        enough: Mask = suits.sum(axis=1) >= wish.number
        return enough

    def _sync(self) -> None:
        for index in set(self._log[self._seen :]):
            self._read(index)
        self._seen = len(self._log)

    def _read(self, index: int) -> None:
        if not self.present[index]:
            return
        for place, card in enumerate(self._bulk.books.states(self._nodes[index].name)):
            self._table[index, place] = (*card[:-1], self.types.index(card.type))


class KindCards:
    """Where tasks of one look find their cards."""

    def __init__(self, arrays: CardArrays, bulk: CardBulk, task: Task, wish: PlainWish | None):
        self._arrays, self._bulk, self._task, self._wish = arrays, bulk, task, wish
        kind = bulk.books.kind
        self._types = {one for one in arrays.types if wish is not None and kind.accepts(wish, one)}
        self._asked: object = None
        self._hopeless: dict[int, bool] = {}

    @property
    def is_plain(self) -> bool:
        """Whether counting cards is enough; then a task that finds none once some have gone finds none before."""
        return self._wish is not None

    def refusals(self, left: Mask) -> Iterator[tuple[FitError, Mask]]:
        """The reasons for those of the nodes on which it finds none."""
        at: dict[FitError, list[int]] = {}
        for index in np.flatnonzero(left & ~self.mask(left)).tolist():
            at.setdefault(self._bulk.refusal(self._arrays.name(index)), []).append(index)
        for error, indexes in at.items():
            refused: Mask = np.zeros(len(left), dtype=np.bool_)
            refused[indexes] = True
            yield error, refused

    def finds(self, index: int) -> bool:
        """Whether it finds its cards on a node."""
        if not self._arrays.present[index]:
            return True
        if self._wish is None:
            return not self._bulk.books.lacking(self._task, self._arrays.name(index))
        return self._suit(self._bulk.books.states(self._arrays.name(index)))

    def hopeless(self, index: int, victims: Callable[[], Sequence[TaskState]], occasion: object) -> bool:
        """Whether it finds none even if all victims go; asked again on the same occasion the answer is known."""
        if self._asked is not occasion:
            self._asked, self._hopeless = occasion, {}
        if index not in self._hopeless:
            self._hopeless[index] = bool(self._arrays.present[index]) and not self._suit(
                self._bulk.books.states(self._arrays.name(index), [victim.task for victim in victims()])
            )
        return self._hopeless[index]

    def mask(self, among: Mask) -> Mask:
        """Nodes where it finds its cards, among some; a node without shared cards refuses no task."""
        found: Mask = np.ones(len(among), dtype=np.bool_)
        at = np.flatnonzero(among & self._arrays.present)
        if self._wish is not None:
            found[at] = self._arrays.suiting(self._wish, at)
        else:
            found[at] = [self.finds(index) for index in at.tolist()]
        return found

    def _suit(self, states: Iterable[CardState]) -> bool:
        """As `CardArrays.suiting` for one node."""
        assert self._wish is not None
        number, wanted, cores, _ = self._wish
        for card in states:
            if (
                card.sharers_left > 0
                and card.memory_left >= (wanted or card.memory)
                and card.cores + cores <= ALL_CORES
                and not (cores == ALL_CORES and card.sharers)
                and not (cores == 0 and card.cores == ALL_CORES)
                and card.type in self._types
            ):
                number -= 1
                if number <= 0:
                    return True
        return number <= 0
