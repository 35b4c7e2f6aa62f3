"""numa-aware: nodes whose kubelet will find CPUs that are near to each other; mirrors `plugins/numaaware`."""

from __future__ import annotations

from collections.abc import Sequence

from cpsched.filters.status import error, unresolvable
from cpsched.greedy.volcano.fit import FitError
from cpsched.greedy.volcano.hooks import Hooks
from cpsched.greedy.volcano.nodes import NodeAccount
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.hardware.cpus import Cpus, NodeCpus, policy_of, unfit, whole_cpus
from cpsched.hardware.quality import GUARANTEED, quality
from cpsched.objects.numa import Numatopology
from cpsched.policy import PluginConf

NAME = "numa-aware"


def numa_aware(session: Session, conf: PluginConf) -> Hooks:
    """Keep Guaranteed pods off nodes where their containers' CPUs cannot be aligned."""
    plugin = NumaAware(session, conf.arguments.integer("weight"))
    return Hooks(
        predicate=plugin.check,
        batch_node_order=plugin.scores,
        on_allocate=plugin.allocated,
        on_deallocate=plugin.deallocated,
    )


class NumaAware:
    """Free CPUs of every node, and what each task would get where it was asked about last."""

    def __init__(self, session: Session, weight: int):
        self._weight = weight
        self._nodes = {one.metadata.name: NodeCpus(one) for one in session.instance.of_kind(Numatopology)}
        self._assigned: dict[str, dict[str, Cpus]] = {}

    def check(self, task: TaskState, node: NodeAccount) -> FitError | None:
        """The objection, None if the node will do; the CPUs are noted for the case that the task goes there."""
        if quality(task.task) != GUARANTEED:
            return None
        policy, cpus = policy_of(task.task), self._nodes.get(node.name)
        if not policy and (cpus is None or not cpus.tests_all):
            return None
        reason = unfit(policy, cpus)
        refusal = None if reason is None else error(NAME, reason)
        if refusal is None and cpus is not None:
            assigned, container = cpus.assign(whole_cpus(task.task))
            if container is None:
                self._assigned.setdefault(task.key, {})[node.name] = assigned
            else:
                refusal = unresolvable(NAME, f"container {container} cannot be assigned by numa")
        return None if refusal is None else FitError((refusal,))

    def scores(self, task: TaskState, nodes: Sequence[NodeAccount]) -> dict[str, float]:
        """Nodes on which the CPUs are of fewer NUMA nodes, for pods that ask for a policy."""
        assigned = self._assigned.get(task.key)
        if not policy_of(task.task) or assigned is None:
            return {}
        spread = {
            node.name: self._nodes[node.name].numa_nodes(assigned[node.name]) if node.name in assigned else 0
            for node in nodes
        }
        most = max(spread.values(), default=0)
        return {
            name: float((100 - 100 * count // most if most else 100) * self._weight) for name, count in spread.items()
        }

    def allocated(self, task: TaskState) -> None:
        """The task takes its CPUs."""
        if task.node in self._assigned.get(task.key, {}):
            self._nodes[task.node].free -= self._assigned[task.key][task.node]

    def deallocated(self, task: TaskState) -> None:
        """It gives them back; a pod that runs has none here, so evicting it frees none."""
        if task.node in self._assigned.get(task.key, {}):
            self._nodes[task.node].free |= self._assigned[task.key][task.node]
