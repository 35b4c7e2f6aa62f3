"""NodeUnschedulable: a cordoned node takes only pods that tolerate it; mirrors `plugins/nodeunschedulable`."""

from __future__ import annotations

from collections.abc import Iterable

from cpsched.filters.args import Args, Features
from cpsched.filters.contract import Filter, Mask, PreFilterResult
from cpsched.filters.masks import per_taints
from cpsched.filters.state import ClusterState, NodeState
from cpsched.filters.status import SUCCESS, Status, unresolvable
from cpsched.instance import Task
from cpsched.objects.node import Taint
from cpsched.selectors import tolerates

NAME = "NodeUnschedulable"
CORDONED = unresolvable(NAME, "node(s) were unschedulable")
CORDON = Taint.model_validate({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})


def prefilter(task: Task, cluster: ClusterState, args: Args) -> PreFilterResult:
    """Nothing to prepare."""
    return PreFilterResult(state=args.features)


def check(state: Features, task: Task, node: NodeState, cluster: ClusterState) -> Status:
    """Refuse a cordoned node unless its taint would be tolerated."""
    if not node.node.node.spec.unschedulable:
        return SUCCESS
    comparison = state.taint_comparison
    tolerated = any(tolerates(t, CORDON, comparison=comparison) for t in task.pod.spec.tolerations)
    return SUCCESS if tolerated else CORDONED


def masks(state: Features, task: Task, cluster: ClusterState) -> Iterable[tuple[Mask, Status]]:
    """The verdict for all nodes."""
    key = (NAME, cluster.facts(task).tolerations, state.taint_comparison)
    yield per_taints(cluster, key, lambda node: check(state, task, node, cluster) is CORDONED), CORDONED


FILTER = Filter(NAME, prefilter, check, is_static=True, masks=masks)
