"""The packing problem and its placements, in whole numbers, with a checker that shares no code with the search."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class RequestRow:
    """Items that are identical: what one takes of each resource, its tier (0 is the most important), how many.

    Without explicit goals the tier says what a row counts for; with them it is only the order in which rows are placed.
    """

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
    """Maximise the first goal, then the second, and so on; goals that are not given are the items of each tier."""

    rows: tuple[RequestRow, ...]
    classes: tuple[NodeClass, ...]
    goals: tuple[tuple[int, ...], ...] = ()
    """Per goal what an item of each row is worth, 0 or more."""
    pairs: tuple[tuple[int, int], ...] = ()
    """Rows that are the same items in two ways: both have the demand of the first, and no more than it together."""

    @cached_property
    def worth(self) -> Counts:
        """Goals × rows."""
        if self.goals:
            return np.array(self.goals, dtype=np.int64).reshape(len(self.goals), len(self.rows))
        tiers = 1 + max((row.tier for row in self.rows), default=-1)
        worth = [[int(row.tier == tier) for row in self.rows] for tier in range(tiers)]
        return np.array(worth, dtype=np.int64).reshape(tiers, len(self.rows))

    @property
    def tiers(self) -> int:
        """How many goals there are."""
        return len(self.worth)

    def counts_for(self, goals: int) -> NDArray[np.bool_]:
        """The rows that count for one of the first goals."""
        return np.asarray((self.worth[:goals] > 0).any(axis=0))

    def most_of(self, goal: int) -> int:
        """What the goal would be with all items placed."""
        worth = self.worth[goal].copy()
        for first, second in self.pairs:
            worth[first], worth[second] = max(worth[first], worth[second]), 0
        return int(worth @ self.demand)

    def alone(self, demand: Counts) -> Counts:
        """The demand with every item once: in the first of its two ways."""
        once: Counts = np.array(demand, dtype=np.int64)
        once[[second for _, second in self.pairs]] = 0
        return once

    def left(self, placement: Counts) -> Counts:
        """Items per row that are not placed."""
        placed = placement.sum(axis=0)
        left: Counts = self.demand - placed
        for first, second in self.pairs:
            left[[first, second]] -= placed[[second, first]]
        return left

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
        """What the placement reaches of each goal."""
        return tuple(int(value) for value in self.worth @ placement.sum(axis=0))


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
    for first, second in problem.pairs:
        held[first] += held[second]
    return all(count <= row.demand for count, row in zip(held, problem.rows, strict=True))
