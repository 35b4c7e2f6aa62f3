"""TaintToleration: every NoSchedule and NoExecute taint must be tolerated; mirrors `plugins/tainttoleration`."""

from __future__ import annotations

from collections.abc import Iterable

from cpsched.filters.args import Args, Features
from cpsched.filters.contract import Filter, Mask, PreFilterResult
from cpsched.filters.masks import per_taints
from cpsched.filters.state import ClusterState, NodeState
from cpsched.filters.status import SUCCESS, Status, unresolvable
from cpsched.instance import Task
from cpsched.selectors import blocks

NAME = "TaintToleration"
TAINTED = unresolvable(NAME, "node(s) had untolerated taint(s)")


def prefilter(task: Task, cluster: ClusterState, args: Args) -> PreFilterResult:
    """Nothing to prepare."""
    return PreFilterResult(state=args.features)


def check(state: Features, task: Task, node: NodeState, cluster: ClusterState) -> Status:
    """Refuse a node with a taint that keeps the pod away."""
    taints, tolerations = node.node.node.spec.taints, task.pod.spec.tolerations
    return TAINTED if taints and blocks(taints, tolerations, comparison=state.taint_comparison) else SUCCESS


def masks(state: Features, task: Task, cluster: ClusterState) -> Iterable[tuple[Mask, Status]]:
    """The verdict for all nodes."""
    key = (NAME, cluster.facts(task).tolerations, state.taint_comparison)
    yield per_taints(cluster, key, lambda node: check(state, task, node, cluster) is TAINTED), TAINTED


FILTER = Filter(NAME, prefilter, check, is_static=True, masks=masks)
