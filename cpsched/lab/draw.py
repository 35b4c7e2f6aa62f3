"""Draw: seeded choices that are the same on every machine and every Python."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

Item = TypeVar("Item")


class Draw:
    """Everything rests on whole 32-bit words of the Mersenne Twister; no float and no method that Python may change."""

    def __init__(self, seed: int):
        self._bits = Random(seed).getrandbits

    def below(self, limit: int) -> int:
        """A number from 0 to limit - 1."""
        length = limit.bit_length()
        while (number := self._bits(length)) >= limit:
            pass
        return number

    def between(self, low: int, high: int) -> int:
        """A number from low to high, both included."""
        return low + self.below(high - low + 1)

    def chance(self, percent: int) -> bool:
        """True so many times in a hundred."""
        word = (self._bits(32) >> 5) << 26 | self._bits(32) >> 6
        return word * 100 < percent << 53

    def choice(self, items: Sequence[Item]) -> Item:
        """One of the items."""
        return items[self.below(len(items))]

    def shuffle(self, items: list[Item]) -> None:
        """Put the items in a random order."""
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]

    def sample(self, items: Sequence[Item], count: int) -> list[Item]:
        """So many different items: few of many by drawing again what came before, else from a pool that shrinks."""
        if len(items) > _small_pool(count):
            return self._few_of_many(items, count)
        pool, chosen = list(items), []
        for left in range(len(pool), len(pool) - count, -1):
            place = self.below(left)
            chosen.append(pool[place])
            pool[place] = pool[left - 1]
        return chosen

    def _few_of_many(self, items: Sequence[Item], count: int) -> list[Item]:
        taken: dict[int, None] = {}
        while len(taken) < count:
            taken[self.below(len(items))] = None
        return [items[place] for place in taken]


def _small_pool(count: int) -> int:
    """How many items a pool may hold before copying it costs more than drawing twice."""
    size = 1
    while size < 3 * count:
        size *= 4
    return 21 + size if count > 5 else 21
