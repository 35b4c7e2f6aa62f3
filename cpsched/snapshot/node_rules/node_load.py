"""The rule `usage`: nothing is placed on nodes whose measured load is above its threshold."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING

from cpsched.instance import Task
from cpsched.policy import PluginConf
from cpsched.policy.nested import Thresholds

if TYPE_CHECKING:
    from cpsched.snapshot import Snapshot

FRESH = 300
"""Seconds for which a measurement counts."""


class MeasuredLoad:
    """Nodes that were measured a short while ago, and had too much to do."""

    def __init__(self, snapshot: Snapshot, plugin: PluginConf, exempt: frozenset[str] = frozenset()):
        self.exempt = exempt
        limits: Thresholds = plugin.arguments.form("thresholds")
        self._refused: dict[str, str] = {}
        for node, load in (snapshot.instance.node_usage or {}).items():
            if load.age <= FRESH and (load.cpu > limits.cpu or load.memory > limits.memory):
                name, percent, most = ("cpu", load.cpu, limits.cpu)
                if load.cpu <= limits.cpu:
                    name, percent, most = ("memory", load.memory, limits.memory)
                self._refused[node] = f"{percent:g} % of its {name} is in use, more than {most} %"

    def refused(self, task: Task) -> Mapping[str, str]:
        """The loaded nodes, whatever the task asks for."""
        return {} if task.key in self.exempt else self._refused

    def mark(self, task: Task) -> Hashable:
        """Nothing: all tasks are the same to it."""
        return None
