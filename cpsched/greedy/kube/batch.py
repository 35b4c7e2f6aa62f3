"""Opportunistic batching: the next best node of the previous identical pod; mirrors `framework/runtime/batch.go`."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from cpsched.filters import PreFiltered, first_failure
from cpsched.greedy.kube.framework import Framework
from cpsched.greedy.kube.signature import signature
from cpsched.instance import Task

if TYPE_CHECKING:
    from cpsched.greedy.kube.world import World


class Batch:
    """The last search's runners-up, best first, for as long as identical pods follow each other."""

    def __init__(self) -> None:
        self._signature: Hashable = None
        self._runners_up: list[str] = []
        self._cycle = -1
        self._chosen = ""

    def hint(self, world: World, framework: Framework, task: Task, pre: PreFiltered) -> str:
        """The node to try first, or nothing; only if the last pod's node has become too full for this one."""
        # HEAD scores the last node again instead, which is the full search's answer here.
        if not self._runners_up or world.version == "head" or world.cycle != self._cycle + 1:
            return ""
        own = signature(task, framework)
        node = world.snapshot.cluster.nodes.get(self._chosen)
        if own is None or own != self._signature or node is None:
            return ""
        status = first_failure(task, node, world.snapshot.cluster, pre, framework.filters)
        return self._runners_up.pop(0) if status.is_rejected else ""

    def store(self, world: World, framework: Framework, task: Task, chosen: str, hint: str, rest: list[str]) -> None:
        """Remember a search's result; one that took the hint leaves the list as it is."""
        self._cycle, self._chosen = world.cycle, chosen
        if chosen == hint:
            return
        own = signature(task, framework) if rest else None
        self._signature, self._runners_up = own, rest if own is not None else []
