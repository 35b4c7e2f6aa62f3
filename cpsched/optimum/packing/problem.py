"""The packing problem and its placements, in whole numbers, with a checker that shares no code with the search."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class RequestRow:
    """Items that are identical: what one takes of each resource, its tier (0 is the most important), how many."""

    size: tuple[int, ...]
    tier: int
    demand: int


@dataclass(frozen=True)
class NodeClass:
    """Identical nodes: the capacity of one, how many there are, and how many items of each row one may hold."""

    capacity: tuple[int, ...]
    count: int
    most: tuple[int, ...]


@dataclass(frozen=True)
class Problem:
    """Place as many items of tier 0 as possible, then of tier 1, and so on."""

    rows: tuple[RequestRow, ...]
    classes: tuple[NodeClass, ...]

    @cached_property
    def tiers(self) -> int:
        """How many tiers there are."""
        return 1 + max((row.tier for row in self.rows), default=-1)

    @cached_property
    def sizes(self) -> Counts:
        """Rows × resources."""
        return np.array([row.size for row in self.rows], dtype=np.int64).reshape(len(self.rows), -1)

    @cached_property
    def demand(self) -> Counts:
        """Items per row."""
        return np.array([row.demand for row in self.rows], dtype=np.int64)

    @cached_property
    def tier_of(self) -> Counts:
        """The tier of each row."""
        return np.array([row.tier for row in self.rows], dtype=np.int64)

    @cached_property
    def nodes(self) -> tuple[int, ...]:
        """The class of each node; the nodes of a class stand together."""
        return tuple(index for index, one in enumerate(self.classes) for _ in range(one.count))

    @cached_property
    def capacities(self) -> Counts:
        """Nodes × resources."""
        amounts = [self.classes[index].capacity for index in self.nodes]
        return np.array(amounts, dtype=np.int64).reshape(len(amounts), self.sizes.shape[1])

    @cached_property
    def most(self) -> Counts:
        """Nodes × rows: how many items of a row a node may hold."""
        most = [self.classes[index].most for index in self.nodes]
        return np.array(most, dtype=np.int64).reshape(len(most), len(self.rows))

    def values(self, placement: Counts) -> tuple[int, ...]:
        """Items placed per tier."""
        placed = placement.sum(axis=0)
        return tuple(int(placed[self.tier_of == tier].sum()) for tier in range(self.tiers))


def is_feasible(problem: Problem, placement: Counts) -> bool:
    """Whether a placement (nodes × rows) keeps every capacity, limit and demand; plain loops over Python integers."""
    held = [0] * len(problem.rows)
    for counts, index in zip(placement.tolist(), problem.nodes, strict=True):
        one = problem.classes[index]
        for row, count in enumerate(counts):
            if not 0 <= count <= one.most[row]:
                return False
            held[row] += count
        for resource, capacity in enumerate(one.capacity):
            if sum(count * row.size[resource] for count, row in zip(counts, problem.rows, strict=True)) > capacity:
                return False
    return all(count <= row.demand for count, row in zip(held, problem.rows, strict=True))
