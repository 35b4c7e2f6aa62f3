"""Small clusters for tests: Kubernetes JSON in, Instance and ClusterState out; names need not be given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from cpsched.filters import FILTERS, Args, ClusterState, Status, feasible, first_failure, prefilter
from cpsched.importers.kubernetes import without_nulls
from cpsched.instance import Instance, Node, Task
from cpsched.objects import CLUSTER_WIDE, KINDS, node, pod
from cpsched.objects.base import Object

SHAPES = {kind: shape for (group, kind), shape in KINDS.items() if group != "scheduling.k8s.io"}
Raw = Mapping[str, Any]


def task_of(raw: Raw, number: int = 0) -> Task:
    """A task from a pod's JSON; what is missing of its name is made up."""
    metadata = {"name": f"pod-{number}", "namespace": "", **raw.get("metadata", {})}
    metadata["uid"] = metadata.get("uid") or f"uid-{metadata['namespace']}-{metadata['name']}-{number}"
    found = pod.Pod.model_validate(without_nulls({**raw, "metadata": metadata}))
    return Task(f"{found.key}#{number}", found, None)


def node_of(raw: Raw) -> Node:
    """A node from its JSON."""
    return Node(node.Node.model_validate(without_nulls(raw)))


def objects_of(kind: str, items: Iterable[Raw]) -> list[Object]:
    """Other objects of one kind; a namespaced one without a namespace is in `default`."""
    found = []
    for raw in items:
        metadata = dict(raw.get("metadata", {}))
        if kind not in CLUSTER_WIDE:
            metadata = {"namespace": "default", **metadata}
        found.append(SHAPES[kind].model_validate(without_nulls({**raw, "metadata": metadata})))
    return found


def cluster_of(nodes: Iterable[Raw], pods: Iterable[Raw] = (), **others: Iterable[Raw]) -> ClusterState:
    """A cluster with these nodes, with the pods on the nodes they name, and other objects by kind."""
    node_objects = [node_of(raw) for raw in nodes]
    tasks = [task_of(raw, number) for number, raw in enumerate(pods, start=1000)]
    objects = [item for kind, items in others.items() for item in objects_of(kind, items)]
    instance = Instance(
        objects=tuple(objects),
        nodes={item.name: item for item in node_objects},
        tasks={item.key: item for item in tasks},
        jobs={},
        queues={},
        priority_classes={},
    )
    return ClusterState.from_instance(instance)


def verdict(name: str, task: Task, cluster: ClusterState, node_name: str, args: Args | None = None) -> Status:
    """What one filter says about one node; a PreFilter's refusal counts for every node."""
    args = args or Args()
    prefiltered = prefilter(task, cluster, [name], args)
    if not prefiltered.status.is_success:
        return prefiltered.status
    alone = first_failure(task, cluster.nodes[node_name], cluster, prefiltered, [FILTERS[name]])
    together = feasible(task, cluster, [name], args).by_node()[node_name]
    outside = prefiltered.nodes is not None and node_name not in prefiltered.nodes
    assert together == (prefiltered.outside if outside else alone)
    return alone


def verdicts(name: str, task: Task, cluster: ClusterState, args: Args | None = None) -> dict[str, Status]:
    """What one filter says about each node."""
    return {node_name: verdict(name, task, cluster, node_name, args) for node_name in cluster.nodes}


def node_json(name: str, labels: Mapping[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    """A node with plenty of room."""
    allocatable = {"cpu": "8", "memory": "32Gi", "pods": "110"}
    return {
        "metadata": {"name": name, "labels": dict(labels or {})},
        "spec": spec,
        "status": {"allocatable": allocatable},
    }


def pod_json(
    name: str, node_name: str = "", labels: Mapping[str, str] | None = None, *, namespace: str = "default", **spec: Any
) -> dict[str, Any]:
    """A pod, on a node if one is named."""
    metadata = {"name": name, "namespace": namespace, "labels": dict(labels or {})}
    return {"metadata": metadata, "spec": {"nodeName": node_name, **spec}}
