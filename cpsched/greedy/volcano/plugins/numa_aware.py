"""numa-aware: nodes whose kubelet will find CPUs that are near to each other; mirrors `plugins/numaaware`."""

from __future__ import annotations

from collections.abc import Sequence

from cpsched.filters.status import Status, error, unresolvable
from cpsched.greedy.volcano.fit import FitError
from cpsched.greedy.volcano.hooks import Hooks
from cpsched.greedy.volcano.nodes import NodeAccount
from cpsched.greedy.volcano.plugins.numa_cpus import Cpus, NodeCpus
from cpsched.greedy.volcano.quality import GUARANTEED, quality
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.instance import Task
from cpsched.objects.numa import Numatopology
from cpsched.policy import PluginConf
from cpsched.quantity import nano

NAME = "numa-aware"
POLICY = "volcano.sh/numa-topology-policy"
_CORE = 10**9


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
        policy, cpus = _policy(task.task), self._nodes.get(node.name)
        if not policy and (cpus is None or not cpus.static or cpus.policy in ("", "none")):
            return None
        refusal = _unfit(policy, cpus)
        if refusal is None and cpus is not None:
            assigned, container = cpus.assign(_requests(task.task))
            if container is None:
                self._assigned.setdefault(task.key, {})[node.name] = assigned
            else:
                refusal = unresolvable(NAME, f"container {container} cannot be assigned by numa")
        return None if refusal is None else FitError((refusal,))

    def scores(self, task: TaskState, nodes: Sequence[NodeAccount]) -> dict[str, float]:
        """Nodes on which the CPUs are of fewer NUMA nodes, for pods that ask for a policy."""
        assigned = self._assigned.get(task.key)
        if not _policy(task.task) or assigned is None:
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


def _policy(task: Task) -> str:
    """The policy that the pod asks for, empty for none."""
    stated = task.pod.metadata.annotations.get(POLICY, "")
    return "" if stated == "none" else stated


def _unfit(policy: str, cpus: NodeCpus | None) -> Status | None:
    """Why the node is not one of the pod's policy."""
    if cpus is None:
        return error(NAME, "numa info is empty")
    if policy and not cpus.static:
        return error(NAME, "cpu manager policy isn't static")
    if policy and policy != cpus.policy:
        return error(NAME, f"task topology policy[{policy}] is different with node[{cpus.policy}]")
    return None if cpus.free else error(NAME, "cpu allocatable map is empty")


def _requests(task: Task) -> list[tuple[str, int | None]]:
    """Containers with the whole CPUs they ask for; None for a fraction, or nothing."""
    found: list[tuple[str, int | None]] = []
    for container in task.spec.containers:
        amount = nano(container.resources.requests.get("cpu", "0"))
        found.append((container.name, amount // _CORE if amount and amount % _CORE == 0 else None))
    return found
