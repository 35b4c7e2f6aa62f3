"""Free resources of all nodes as arrays, so that one comparison answers for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from cpsched.filters.state import NodeState

Amounts = npt.NDArray[Any]

_LARGEST = 2**62


class FreeAmounts:
    """What is allocatable and what is free on each node, per resource.

    int64 as long as every amount is below 2^62, so that no difference overflows; Python integers from then on.
    """

    def __init__(self, nodes: Sequence[NodeState]):
        self._nodes = nodes
        self._type: Any = np.int64
        self._allocatable: dict[str, Amounts] = {}
        self._free: dict[str, Amounts] = {}
        self.pods: npt.NDArray[np.int64] = np.array([len(node.tasks) for node in nodes], dtype=np.int64)
        self.allowed_pods: npt.NDArray[np.int64] = np.array(
            [min(node.allowed_pods, _LARGEST) for node in nodes], dtype=np.int64
        )

    def allocatable(self, name: str) -> Amounts:
        """Allocatable amounts per node."""
        if name not in self._allocatable:
            self._load(name)
        return self._allocatable[name]

    def free(self, name: str) -> Amounts:
        """Allocatable minus requested per node; negative where overcommitted."""
        if name not in self._free:
            self._load(name)
        return self._free[name]

    def update(self, node: NodeState, names: Iterable[str]) -> None:
        """Take over what changed on a node."""
        self.pods[node.index] = len(node.tasks)
        for name in names:
            array = self._free.get(name)
            if array is None:
                continue
            free = node.allocatable.get(name, 0) - node.requested.get(name, 0)
            if self._type is np.int64 and abs(free) > _LARGEST:
                self._widen()
                array = self._free[name]
            array[node.index] = free

    def _load(self, name: str) -> None:
        allocatable = [node.allocatable.get(name, 0) for node in self._nodes]
        requested = [node.requested.get(name, 0) for node in self._nodes]
        free = [have - used for have, used in zip(allocatable, requested, strict=True)]
        if self._type is np.int64 and any(abs(amount) > _LARGEST for amount in (*allocatable, *free)):
            self._widen()
        self._allocatable[name] = np.array(allocatable, dtype=self._type)
        self._free[name] = np.array(free, dtype=self._type)

    def _widen(self) -> None:
        self._type = object
        for arrays in (self._allocatable, self._free):
            for name, array in arrays.items():
                arrays[name] = array.astype(object)
