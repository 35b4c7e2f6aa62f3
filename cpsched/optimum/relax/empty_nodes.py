"""Which empty nodes are used: choices of so many of each kind, of which a placement on the fewest nodes is one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import prod

from cpsched.optimum.relax.packing_model import PackingModel
from cpsched.optimum.relax.packing_stage import Amounts

MOST_CHOICES = 64
"""Choices with as many nodes that are asked one after the other; with more the level is left to the model."""

Kind = tuple[Amounts, tuple[bool, ...]]
"""What a node has, and which rows may be placed there."""


@dataclass(frozen=True)
class EmptyNodes:
    """The empty nodes by kind; those that are used already stand beside them in every choice."""

    used: frozenset[str]
    kinds: dict[Kind, list[str]]

    @classmethod
    def of(cls, model: PackingModel, used: frozenset[str]) -> EmptyNodes:
        """All nodes but these are empty; those on which nothing can be placed belong to no kind."""
        kinds: dict[Kind, list[str]] = {}
        for node, room in model.room.items():
            takes = tuple(node in row.nodes for row in model.rows)
            if node not in used and any(takes):
                kinds.setdefault((room, takes), []).append(node)
        return cls(used, kinds)

    @property
    def count(self) -> int:
        """How many nodes are empty."""
        return sum(map(len, self.kinds.values()))

    def choices(self, count: int) -> Iterator[frozenset[str]] | None:
        """Node sets, used nodes included, with so many empty ones, or None if they are too many.

        Identical nodes are used in order. A set with a node that has no more than one left out, and takes no other
        pods, is left out: what is placed on it could be placed on the other, so the set with that one holds as much.
        """
        kinds = list(self.kinds.items())
        sizes = [range(min(count, len(nodes)) + 1) for _, nodes in kinds]
        if prod(map(len, sizes[1:])) > MOST_CHOICES**2:
            return None
        above = [
            [better for better, (other, _) in enumerate(kinds) if better != worse and _has_all_of(other, kind)]
            for worse, (kind, _) in enumerate(kinds)
        ]
        found = [
            taken
            for taken in product(*sizes)
            if sum(taken) == count
            and not any(taken[worse] and taken[b] < len(kinds[b][1]) for worse, bs in enumerate(above) for b in bs)
        ]
        if len(found) > MOST_CHOICES:
            return None
        return (
            self.used | {node for number, (_, nodes) in zip(taken, kinds, strict=True) for node in nodes[:number]}
            for taken in found
        )


def _has_all_of(kind: Kind, other: Kind) -> bool:
    """Whether a node of the kind can hold whatever one of the other can."""
    amounts = all(mine >= theirs for mine, theirs in zip(kind[0], other[0], strict=True))
    return amounts and all(mine or not theirs for mine, theirs in zip(kind[1], other[1], strict=True))
