"""Room, load and pod counts of all nodes in one table, brought up to date only where a node was touched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cpsched.greedy.volcano.nodes import NodeAccount
from cpsched.greedy.volcano.picture import FilterView

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

GPU = "nvidia.com/gpu"
BALANCED = ("cpu", "memory", GPU)
"""What the filters' picture of a node is asked for, in the order of the rows."""
EXACT = 2**53
"""Integers up to here are exact in floating point."""


class Layout:
    """Which row of `part` says what; the rows that change come first."""

    def __init__(self, names: Sequence[str]):
        count = len(names)
        self.all_idle, self.all_future = slice(0, count), slice(count, 2 * count)
        self.all_used = slice(2 * count, 3 * count)
        self.idle = {name: row for row, name in enumerate(names)}
        self.future = {name: count + row for row, name in enumerate(names)}
        self.used = {name: 2 * count + row for row, name in enumerate(names)}
        self.pods = 3 * count
        self.nonzero = slice(self.pods + 1, self.pods + 3)
        """cpu and memory, with stand-ins where a container asks for none."""
        self.requested = slice(self.nonzero.stop, self.nonzero.stop + len(BALANCED))
        self.changing = self.requested.stop
        self.capacity = {name: self.changing + row for row, name in enumerate(names)}
        self.all_capacity = slice(self.changing, self.changing + count)
        self.max_pods = self.changing + count
        self.kube_capacity = slice(self.max_pods + 1, self.max_pods + 1 + len(BALANCED))
        self.count = self.kube_capacity.stop


class NodeArrays:
    """A table with the amounts of each node side by side, for few misses in the cache; `log` lists touched nodes."""

    def __init__(self, nodes: Sequence[NodeAccount], picture: FilterView | None, names: Sequence[str]):
        self.nodes, self._picture = nodes, picture
        self.names, self.count = list(names), len(nodes)
        self.layout = Layout(self.names)
        self.log: list[int] = []
        self._seen = 0
        lines = [self._changing(index) + self._fixed(index) for index in range(self.count)]
        self._table: Ints = np.array(lines, dtype=np.int64).reshape(-1, self.layout.count)

    def part(self, at: Ints | None) -> Ints:
        """The amounts of some nodes or all, a row per amount."""
        return np.ascontiguousarray(self._table.T) if at is None else self._table[at].T

    def column(self, index: int) -> list[int]:
        """The amounts of one node."""
        column: list[int] = self._table[index].tolist()
        return column

    def state(self, at: Ints) -> bytes:
        """The amounts of some nodes, to tell whether others have the same."""
        return self._table[at].tobytes()

    def touch(self, index: int) -> None:
        """Remember that a node changed."""
        self.log.append(index)

    def sync(self) -> None:
        """Read every touched node again."""
        if self._seen < len(self.log):
            for index in set(self.log[self._seen :]):
                self._table[index, : self.layout.changing] = self._changing(index)
            self._seen = len(self.log)

    def future(self, name: str) -> Ints:
        """What will be free on each node."""
        return self._table[:, self.layout.future[name]]

    @property
    def crowded(self) -> Mask:
        """Nodes that take no further pod."""
        full: Mask = self._table[:, self.layout.pods] >= self._table[:, self.layout.max_pods]
        return full

    @property
    def exact(self) -> bool:
        """Whether floating point holds every amount."""
        for rows in (self.layout.all_capacity, self.layout.all_used):
            amounts: Any = self._table[:, rows]
            if amounts.size and int(abs(amounts).max()) * 100 >= EXACT:
                return False
        return True

    @property
    def all_have_cpu_and_memory(self) -> bool:
        """Whether scores need not ask if there is any."""
        return bool((self._table[:, self.layout.kube_capacity][:, :2] > 0).all())

    def _changing(self, index: int) -> list[int]:
        node, names = self.nodes[index], self.names
        future = node.future_idle if node.releasing or node.pipelined else node.idle
        amounts: list[Any] = [room.get(name, 0) for room in (node.idle, future, node.used) for name in names]
        if self._picture is None:
            return [*amounts, *(0,) * (self.layout.changing - len(amounts))]
        state, requested = self._picture.node_list[index], self._picture.node_list[index].requested
        load = (self._picture.nonzero_cpu[index], self._picture.nonzero_memory[index])
        return [*amounts, len(state.tasks), *load, *(requested.get(name, 0) for name in BALANCED)]

    def _fixed(self, index: int) -> list[int]:
        node = self.nodes[index]
        kube = {} if self._picture is None else self._picture.node_list[index].allocatable
        amounts: list[Any] = [node.allocatable.get(name, 0) for name in self.names]
        return [*amounts, node.max_pods, *(kube.get(name, 0) for name in BALANCED)]
