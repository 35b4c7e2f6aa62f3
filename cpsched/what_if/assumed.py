"""Nodes that only `spec.nodeName` of pods names, made where the user asks for it."""

from __future__ import annotations

from collections import Counter

from cpsched.importers.defaults import ApiDefaults
from cpsched.importers.kubernetes import Found
from cpsched.objects.base import Metadata
from cpsched.objects.node import Node, NodeStatus
from cpsched.objects.pod import Pod
from cpsched.requests import kube_requests
from cpsched.what_if.changes import Cluster, counted, some

OPTION = "--assume-nodes"
_PODS = 110
"""The kubelet's default."""
_ENDED = ("Succeeded", "Failed")


def assume(cluster: Cluster) -> None:
    """A node for every name that has none: exactly as large as what its pods request, since nothing says more."""
    known = {item.object.metadata.name for item in cluster.found if isinstance(item.object, Node)}
    used: dict[str, Counter[str]] = {}
    for item in cluster.found:
        pod = item.object
        if isinstance(pod, Pod) and pod.spec.node_name not in known | {""} and pod.status.phase not in _ENDED:
            used.setdefault(pod.spec.node_name, Counter()).update(kube_requests(ApiDefaults({}).filled_in(pod)))
    for name, amounts in used.items():
        cluster.found.append(Found("Node", _node(name, amounts), cluster.file, f"Node {name}"))
    held = "each holds what its pods request and no more, without labels and taints"
    effect = f"{counted(len(used), 'node')} taken from spec.nodeName: {some(list(used))}; {held}"
    cluster.state(OPTION, effect if used else "every node that pods name is in the input")


def _node(name: str, amounts: Counter[str]) -> Node:
    size = {key: f"{amount}m" if key == "cpu" else str(amount) for key, amount in amounts.items() if key != "pods"}
    status = NodeStatus.model_validate({"allocatable": {"cpu": "0", "memory": "0", **size, "pods": _PODS}})
    return Node(metadata=Metadata.model_validate({"name": name}), status=status)
