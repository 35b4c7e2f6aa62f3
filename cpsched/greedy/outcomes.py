"""The choices upstream leaves to chance (map order, equal scores, random offsets), made on purpose."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from math import factorial
from typing import Any, Protocol, TypeVar

from cpsched.solution import Solution

T = TypeVar("T")
SAMPLES = 200
"""Seeds that are tried where there are too many combinations of choices to try them all."""


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
    """Possibilities drawn with a seed; counts the combinations among which this one was drawn."""

    def __init__(self, seed: int):
        self._random = random.Random(seed)
        self.combinations = 1

    def pick(self, count: int) -> int:
        """Any, with equal chance."""
        self.combinations *= max(1, count)
        return self._random.randrange(count) if count > 1 else 0

    def order(self, items: Iterable[T]) -> list[T]:
        """Shuffled."""
        shuffled = list(items)
        self.combinations *= factorial(len(shuffled))
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


def in_some_order(items: Iterable[T], key: Callable[[T], Any], choices: Choices) -> list[T]:
    """Sorted by the key; items of one key as given, or as chance has it."""
    equal = groupby(sorted(items, key=key), key)
    return [item for _, group in equal for item in choices.order(group)]


class UnfinishedError(Exception):
    """There are more combinations of choices than runs."""


def explore(run: Callable[[Choices], T], limit: int) -> Iterator[T]:
    """What every combination of choices leads to; UnfinishedError after `limit` runs."""
    script: tuple[int, ...] = ()
    for _ in range(limit):
        choices = Scripted(script)
        yield run(choices)
        following = choices.successor()
        if following is None:
            return
        script = following
    raise UnfinishedError


@dataclass(frozen=True)
class Outcomes:
    """The different decisions that random choices can lead to, the mirror's own first."""

    solutions: tuple[Solution, ...]
    """`seed` is one that leads there, if it was found by sampling."""
    is_complete: bool
    """Every combination of choices was tried; else there may be more decisions than these."""
    runs: int
    samples: int = 0
    """Seeds that were tried because there were too many combinations."""


def all_outcomes(run: Callable[[Choices], Solution], most_runs: int, samples: int = SAMPLES) -> Outcomes:
    """Every decision, or, of too many combinations of choices, those found so far and those that seeds lead to."""
    found: dict[Hashable, Solution] = {}
    runs, seeds = 0, range(2, 2 + samples)
    try:
        for one in explore(run, 1 if _is_hopeless(run, most_runs) else most_runs):
            runs += 1
            found.setdefault(_key(one), one)
        seeds = range(0)
    except UnfinishedError:
        for seed in seeds:
            one = run(Sampled(seed)).model_copy(update={"seed": seed})
            found.setdefault(_key(one), one)
    return Outcomes(tuple(found.values()), not seeds, runs + len(seeds), len(seeds))


def _is_hopeless(run: Callable[[Choices], Solution], most_runs: int) -> bool:
    """Whether there are far more combinations than runs, by three draws.

    Were they no more than runs, a draw would be one of over a thousand times as many with a chance below 1/1000.
    """
    for seed in range(2, 5):
        drawn = Sampled(seed)
        run(drawn)
        if drawn.combinations <= 1000 * most_runs:
            return False
    return True


def _key(one: Solution) -> Hashable:
    parts = (one.binds, one.allocated, one.pipelined)
    return (*(tuple(sorted(part.items())) for part in parts), one.evicted)
