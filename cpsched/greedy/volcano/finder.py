"""NodeFinder: who looks for nodes; one by one as upstream does, or for all nodes at once, with the same answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, Protocol

from cpsched.greedy.volcano.fit import FitError, FitErrors
from cpsched.greedy.volcano.nodes import NodeAccount
from cpsched.greedy.volcano.tasks import TaskState

Purpose = Literal["allocate", "backfill", "preempt", "gang"]
Nodes = Sequence[NodeAccount]

ALL_NODES_UP_TO = 100
_BASE_PERCENTAGE, _LEAST_PERCENTAGE = 50, 5


class Test(NamedTuple):
    """What a node must pass; the purpose says the same in one word."""

    purpose: Purpose
    ask: Callable[[TaskState, NodeAccount], FitError | None]


class NodeFinder(Protocol):
    """Finds nodes for a task: which it fits, which of them have room now, which is best."""

    def feasible(self, task: TaskState, nodes: Nodes, test: Test, *, detailed: bool) -> tuple[Nodes, FitErrors]:
        """Feasible nodes in the order found, and what speaks against the others, if that is read (`PredicateNodes`)."""

    def now_and_later(self, task: TaskState, nodes: Nodes) -> tuple[Nodes, Nodes]:
        """Those of feasible nodes with free room, and those where room will be free."""

    def best(self, task: TaskState, nodes: Nodes) -> NodeAccount:
        """A node with the highest score; which of several is random upstream (`SelectBestNodeAndScore`)."""

    def reclaiming(self, task: TaskState, nodes: Nodes) -> Nodes:
        """Those of the nodes that reclaim must look at."""


def nodes_to_find(count: int) -> int:
    """How many feasible nodes are enough (`CalculateNumOfFeasibleNodesToFind` with the server's default options)."""
    if count <= ALL_NODES_UP_TO:
        return count
    percentage = max(_BASE_PERCENTAGE - count // 125, _LEAST_PERCENTAGE)
    return max(count * percentage // 100, ALL_NODES_UP_TO)
