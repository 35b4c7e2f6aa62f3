"""Free room: what every node has left while tasks are placed one after another, in arrays, with a way back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from cpsched.optimum.model.capacity import Units
from cpsched.optimum.model.classes import Classes, TaskClass

Amounts = NDArray[np.float64]
Mask = NDArray[np.bool_]


class FreeRoom:
    """Per node and resource what is free now, and what is free once all that is on its way out is gone.

    Amounts are floats: they decide what is tried, and the checker what counts.
    """

    def __init__(self, classes: Classes, idle: dict[str, Units], future: dict[str, Units]):
        self.nodes = list(idle)
        self.index_by_node = {node: index for index, node in enumerate(self.nodes)}
        self._classes = classes
        self._resources = sorted({name for one in classes.tasks for name in one.representative.requests})
        self.now, self.later = (
            np.array([[float(room[node].get(name, 0)) for name in self._resources] for node in self.nodes]).reshape(
                len(self.nodes), len(self._resources)
            )
            for room in (idle, future)
        )
        self.victims = np.zeros_like(self.later)
        """What all that may still be evicted holds."""
        self._scale = np.maximum(1.0, self.later.max(axis=0, initial=1.0))
        self._sizes: dict[int, Amounts] = {}
        self._allowed: dict[int, Mask] = {}
        self._undo: list[Callable[[], None]] = []

    def size(self, one: TaskClass) -> Amounts:
        """What a task of the class asks for."""
        if one.index not in self._sizes:
            self._sizes[one.index] = self.vector(one.representative.requests)
        return self._sizes[one.index]

    def vector(self, requests: Mapping[str, int]) -> Amounts:
        """A request as a row; what no task asks for is left out."""
        unit = self._classes.unit
        return np.array([float(requests.get(name, 0) // unit.get(name, 1)) for name in self._resources])

    def weight(self, one: TaskClass) -> float:
        """How much of the largest node in each resource a task of the class takes, added up."""
        return float((self.size(one) / self._scale).sum())

    def best_fit(self, one: TaskClass, *, starts: bool) -> int | None:
        """The node on which least is left once the task is there; None if it fits on none."""
        size = self.size(one)
        asked = np.flatnonzero(size)
        left = self.later[:, asked] - size[asked]
        fits = (left >= 0).all(axis=1) & self._mask(one)
        if starts:
            fits &= (self.now[:, asked] >= size[asked]).all(axis=1)
        [candidates] = np.nonzero(fits)
        if not len(candidates):
            return None
        return int(candidates[(left[candidates] / self._scale[asked]).sum(axis=1).argmin()])

    def may_fit(self, one: TaskClass) -> list[str]:
        """Nodes that had room for a task of the class if all their victims went."""
        size = self.size(one)
        asked = np.flatnonzero(size)
        fits = (self.later[:, asked] + self.victims[:, asked] >= size[asked]).all(axis=1) & self._mask(one)
        return [self.nodes[node] for node in np.flatnonzero(fits)]

    def missing(self, one: TaskClass, node: int) -> Amounts:
        """What the node lacks to reserve room for a task of the class."""
        size = self.size(one)
        return np.where(size > 0, np.maximum(0.0, size - self.later[node]), 0.0)

    def take(self, node: int, size: Amounts, *, starts: bool) -> None:
        """Place something."""
        self.later[node] -= size
        if starts:
            self.now[node] -= size

        def give_back() -> None:
            self.later[node] += size
            if starts:
                self.now[node] += size

        self._undo.append(give_back)

    def free(self, node: int, size: Amounts) -> None:
        """Evict something."""
        self.later[node] += size
        self.victims[node] -= size

        def give_back() -> None:
            self.later[node] -= size
            self.victims[node] += size

        self._undo.append(give_back)

    def also(self, undo: Callable[[], None]) -> None:
        """Remember how to take back something else that was done at the same time."""
        self._undo.append(undo)

    @property
    def mark(self) -> int:
        """What `back` returns to."""
        return len(self._undo)

    def back(self, mark: int) -> None:
        """Take back all that was done since the mark."""
        while len(self._undo) > mark:
            self._undo.pop()()

    def _mask(self, one: TaskClass) -> Mask:
        if one.index not in self._allowed:
            self._allowed[one.index] = _mask_of(one.nodes, self.nodes)
        return self._allowed[one.index]


def _mask_of(some: Sequence[str], nodes: Sequence[str]) -> Mask:
    if len(some) == len(nodes):
        return np.ones(len(nodes), dtype=bool)
    allowed = frozenset(some)
    return np.array([node in allowed for node in nodes], dtype=bool)
