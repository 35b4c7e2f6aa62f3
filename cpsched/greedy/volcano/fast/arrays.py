"""Room, load and pod counts of all nodes as arrays, brought up to date only where a node was touched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cpsched.greedy.volcano.nodes import NodeAccount
from cpsched.greedy.volcano.picture import Picture

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

GPU = "nvidia.com/gpu"
EXACT = 2**53
"""Integers up to here are exact in floating point."""


class NodeArrays:
    """One array per resource and per kind of room; `log` lists touched nodes in order."""

    def __init__(self, nodes: Sequence[NodeAccount], picture: Picture | None, names: Sequence[str]):
        self.nodes, self._picture = nodes, picture
        self.names = list(names)
        self.count = len(nodes)
        self.log: list[int] = []
        self._seen = 0
        self.idle = {name: self._zeros() for name in names}
        self.future = {name: self._zeros() for name in names}
        self.used = {name: self._zeros() for name in names}
        self.capacity = {name: self._loaded(nodes, name) for name in names}
        self.max_pods: Ints = np.array([node.max_pods for node in nodes], dtype=np.int64)
        self.pods, self.nonzero_cpu, self.nonzero_memory = self._zeros(), self._zeros(), self._zeros()
        self.requested = {name: self._zeros() for name in ("cpu", "memory", GPU)}
        self.kube_capacity = {name: self._zeros() for name in ("cpu", "memory", GPU)}
        if picture is not None:
            for name, array in self.kube_capacity.items():
                array[:] = [state.allocatable.get(name, 0) for state in picture.node_list]
        for index in range(self.count):
            self._read(index)

    def touch(self, index: int) -> None:
        """Remember that a node changed."""
        self.log.append(index)

    def sync(self) -> None:
        """Read every touched node again."""
        if self._seen < len(self.log):
            for index in set(self.log[self._seen :]):
                self._read(index)
            self._seen = len(self.log)

    @property
    def exact(self) -> bool:
        """Whether floating point holds every amount."""
        arrays: list[Any] = [*self.capacity.values(), *self.used.values()]
        return not any(array.size and int(abs(array).max()) * 100 >= EXACT for array in arrays)

    def _read(self, index: int) -> None:
        node = self.nodes[index]
        idle, used = node.idle, node.used
        future = idle if not node.releasing and not node.pipelined else node.future_idle
        for name in self.names:
            self.idle[name][index] = idle.get(name, 0)
            self.used[name][index] = used.get(name, 0)
            self.future[name][index] = future.get(name, 0)
        if self._picture is not None:
            state = self._picture.node_list[index]
            self.pods[index] = len(state.tasks)
            self.nonzero_cpu[index] = self._picture.nonzero_cpu[index]
            self.nonzero_memory[index] = self._picture.nonzero_memory[index]
            for name, array in self.requested.items():
                array[index] = state.requested.get(name, 0)

    def _zeros(self) -> Ints:
        return np.zeros(self.count, dtype=np.int64)

    def _loaded(self, nodes: Sequence[NodeAccount], name: str) -> Ints:
        return np.array([node.allocatable.get(name, 0) for node in nodes], dtype=np.int64)
