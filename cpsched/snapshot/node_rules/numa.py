"""The rule `numa`: on nodes that align CPUs, containers find theirs on as few NUMA nodes as could ever hold them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cpsched.hardware.cpus import NodeCpus, policy_of, unfit, whole_cpus
from cpsched.hardware.quality import GUARANTEED, quality
from cpsched.instance import Task
from cpsched.objects.numa import Numatopology
from cpsched.policy import PluginConf

if TYPE_CHECKING:
    from cpsched.snapshot import Snapshot


@dataclass(frozen=True)
class CpuWish:
    """What is read of a Guaranteed pod: its policy, and the whole CPUs that its containers want."""

    policy: str
    cpus: tuple[int, ...]


class NumaRule:
    """The free CPUs of all nodes that align them, and what every task wants of them."""

    def __init__(self, snapshot: Snapshot, plugin: PluginConf, exempt: frozenset[str] = frozenset()):
        self.exempt = exempt
        self._nodes = {one.metadata.name: NodeCpus(one) for one in snapshot.instance.of_kind(Numatopology)}
        self._names = tuple(snapshot.instance.nodes)
        self._wishes: dict[str, CpuWish | None] = {}
        self._refused: dict[CpuWish, dict[str, str]] = {}

    def wish(self, task: Task) -> CpuWish | None:
        """What the task wants; None if it is not asked about its CPUs at all."""
        if task.key not in self._wishes:
            asked = task.key not in self.exempt and quality(task) == GUARANTEED
            cpus = tuple(amount for _, amount in whole_cpus(task) if amount) if asked else ()
            self._wishes[task.key] = CpuWish(policy_of(task), cpus) if asked else None
        return self._wishes[task.key]

    def mark(self, task: Task) -> Hashable:
        """Its wish, if it is still to be placed."""
        return None if task.node else self.wish(task)

    def refused(self, task: Task) -> Mapping[str, str]:
        """Nodes of another policy, and those that could not align its containers even if nothing else were placed."""
        wish = self.wish(task)
        if wish is None:
            return {}
        if wish not in self._refused:
            reasons = {node: self._objection(node, wish) for node in self._names}
            self._refused[wish] = {node: reason for node, reason in reasons.items() if reason}
        return self._refused[wish]

    def _objection(self, node: str, wish: CpuWish) -> str:
        cpus = self._nodes.get(node)
        if not wish.policy and (cpus is None or not cpus.tests_all):
            return ""
        if reason := unfit(wish.policy, cpus):
            return reason
        assert cpus is not None
        if cpus.aligns and any(not self.ways(node, amount) for amount in wish.cpus):
            return "a container's CPUs cannot be aligned"
        return ""

    def demands(self, task: Task, node: str) -> tuple[int, ...]:
        """Per container that has to be aligned on the node how many CPUs it wants."""
        cpus, wish = self._nodes.get(node), self.wish(task)
        if cpus is None or wish is None or not cpus.aligns or not (wish.policy or cpus.tests_all):
            return ()
        return wish.cpus

    def free(self, node: str) -> Mapping[int, int]:
        """Per NUMA node its free CPUs, as the session opens."""
        return self._nodes[node].available

    def ways(self, node: str, amount: int) -> list[frozenset[int]]:
        """The sets of NUMA nodes of which a container of so many CPUs may have them."""
        cpus = self._nodes[node]
        free = cpus.available
        return [nodes for nodes in cpus.smallest_sets(amount) if sum(free.get(one, 0) for one in nodes) >= amount]
