"""NodeName: a pod that names its node goes nowhere else; mirrors `plugins/nodename`."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from cpsched.filters.args import Args
from cpsched.filters.contract import Filter, Mask, PreFilterResult
from cpsched.filters.state import ClusterState, NodeState
from cpsched.filters.status import SUCCESS, Status, unresolvable
from cpsched.instance import Task

NAME = "NodeName"
OTHER_NODE = unresolvable(NAME, "node(s) didn't match the requested node name")


def prefilter(task: Task, cluster: ClusterState, args: Args) -> PreFilterResult:
    """Since 1.37 the named node is the only one looked at."""
    if task.node and args.features.version == "head":
        return PreFilterResult(nodes=frozenset((task.node,)))
    return PreFilterResult()


def check(state: None, task: Task, node: NodeState, cluster: ClusterState) -> Status:
    """Refuse every node but the named one."""
    return OTHER_NODE if task.node and task.node != node.name else SUCCESS


def masks(state: None, task: Task, cluster: ClusterState) -> Iterable[tuple[Mask, Status]]:
    """The verdict for all nodes."""
    if task.node:
        yield np.array([name != task.node for name in cluster.nodes], dtype=np.bool_), OTHER_NODE


FILTER = Filter(NAME, prefilter, check, is_static=True, masks=masks)
