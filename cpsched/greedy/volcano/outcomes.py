"""The choices upstream leaves to chance (map order, equal scores, random offsets), made on purpose."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

from cpsched.errors import InputError

T = TypeVar("T")


class Choices(Protocol):
    """Who decides where upstream does not."""

    def pick(self, count: int) -> int:
        """One of `count` equal possibilities."""

    def order(self, items: Iterable[T]) -> list[T]:
        """The items in the order in which a Go map would give them."""


class First:
    """The first possibility, the given order: the mirror's own decision."""

    def pick(self, count: int) -> int:
        """Always the first."""
        return 0

    def order(self, items: Iterable[T]) -> list[T]:
        """As given."""
        return list(items)


class Sampled:
    """Possibilities drawn with a seed."""

    def __init__(self, seed: int):
        self._random = random.Random(seed)

    def pick(self, count: int) -> int:
        """Any, with equal chance."""
        return self._random.randrange(count) if count > 1 else 0

    def order(self, items: Iterable[T]) -> list[T]:
        """Shuffled."""
        shuffled = list(items)
        self._random.shuffle(shuffled)
        return shuffled


class Scripted:
    """The possibilities of a script, then the first; remembers how many there were."""

    def __init__(self, script: tuple[int, ...]):
        self._script = script
        self.taken: list[tuple[int, int]] = []

    def pick(self, count: int) -> int:
        """The next of the script."""
        if count < 2:
            return 0
        place = len(self.taken)
        chosen = self._script[place] if place < len(self._script) else 0
        self.taken.append((chosen, count))
        return chosen

    def order(self, items: Iterable[T]) -> list[T]:
        """One permutation, item by item."""
        left, ordered = list(items), []
        while left:
            ordered.append(left.pop(self.pick(len(left))))
        return ordered

    def successor(self) -> tuple[int, ...] | None:
        """The script of the next run, None after the last."""
        for place in range(len(self.taken) - 1, -1, -1):
            chosen, count = self.taken[place]
            if chosen + 1 < count:
                return (*(earlier for earlier, _ in self.taken[:place]), chosen + 1)
        return None


def explore(run: Callable[[Choices], T], limit: int) -> Iterator[T]:
    """What every combination of choices leads to; InputError after `limit` runs."""
    script: tuple[int, ...] = ()
    for _ in range(limit):
        choices = Scripted(script)
        yield run(choices)
        following = choices.successor()
        if following is None:
            return
        script = following
    raise InputError(
        f"more than {limit} runs would be needed to see every outcome",
        right="take a smaller instance, or sample outcomes with seeds",
    )
