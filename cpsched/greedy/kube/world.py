"""What lasts from one scheduling cycle to the next."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property

from cpsched.filters.status import Status
from cpsched.greedy.kube.batch import Batch
from cpsched.greedy.kube.extenders import HttpExtender
from cpsched.greedy.kube.framework import Framework
from cpsched.greedy.kube.groups import Groups
from cpsched.greedy.kube.nominator import Nominator
from cpsched.greedy.kube.options import Options
from cpsched.greedy.kube.pdb import Budgets
from cpsched.greedy.kube.reserved import Reserved
from cpsched.greedy.kube.roomy import Ranked
from cpsched.greedy.kube.snapshot import Snapshot
from cpsched.greedy.kube.victims import Victims
from cpsched.greedy.outcomes import Choices, First
from cpsched.instance import Instance, Task
from cpsched.policy.kube_registry import KubeVersion


@dataclass
class World:
    """The scheduler's cache, its nominator, where the next search begins, and who may be asked over HTTP."""

    instance: Instance
    version: KubeVersion
    options: Options
    snapshot: Snapshot
    extenders: tuple[HttpExtender, ...] = ()
    nominator: Nominator = field(init=False)
    reserved: Reserved = field(init=False)
    ranked: dict[int, tuple[int, Ranked]] = field(default_factory=dict)
    answers: dict[tuple[Hashable, int], tuple[int, Victims | Status]] = field(default_factory=dict)
    """What dry runs found out, with the node's stamp at that time."""
    stamps: list[int] = field(init=False)
    """Per node a number that changes whenever a pod on it or nominated to it changes."""
    nominated: dict[str, str] = field(default_factory=dict)
    """status.nominatedNodeName of every pod that has one."""
    next_start: int = 0
    cycle: int = 0
    batches: dict[str, Batch] = field(default_factory=dict)
    groups: Groups | None = None
    """Pod groups, where the gate is on."""
    choices: Choices = field(default_factory=First)

    def __post_init__(self) -> None:
        """Let the nominator's changes be followed."""
        self.reserved = Reserved(self.snapshot.cluster)
        self.nominator = Nominator(self._on_nomination)
        self.stamps = self.snapshot.stamps

    def _on_nomination(self, task: Task, node: str, change: int) -> None:
        self.reserved.shift(task, node, change)
        state = self.snapshot.cluster.nodes.get(node)
        if state is not None:
            self.stamps[state.index] += 1

    @cached_property
    def budgets(self) -> Budgets:
        """All budgets in the instance's order; their status does not change within a run."""
        return Budgets(self.instance.budgets)

    def batch(self, framework: Framework) -> Batch:
        """The profile's memory for pods that are alike."""
        return self.batches.setdefault(framework.profile.scheduler_name, Batch())
