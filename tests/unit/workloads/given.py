"""Short ways to write a cluster and workloads, and to read what became of them."""

from __future__ import annotations

from typing import Any

from cpsched.importers.load import load
from cpsched.instance import Instance
from cpsched.what_if.changes import Changes

GROUP = "scheduling.k8s.io/group-name"


def node(name: str, cpu: int = 8, **fields: Any) -> dict[str, Any]:
    """A node; labels, spec and annotations as fields."""
    labels = {"kubernetes.io/hostname": name, **fields.pop("labels", {})}
    status = {"allocatable": {"cpu": str(cpu), "memory": "32Gi", "pods": "110"}}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": status,
        **fields,
    }


def queue(name: str, **spec: Any) -> dict[str, Any]:
    """An open queue."""
    found = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": name}}
    return {**found, "spec": {"weight": 1, **spec}, "status": {"state": "Open"}}


def priority_class(name: str, value: int, **fields: Any) -> dict[str, Any]:
    """A PriorityClass."""
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
    } | fields


def template(cpu: Any = "1", *, labels: Any = None, annotations: Any = None, **spec: Any) -> dict[str, Any]:
    """A pod template with one container."""
    containers = [{"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu}}}]
    return {
        "metadata": {"labels": labels or {}, "annotations": annotations or {}},
        "spec": {"containers": containers, **spec},
    }


def owned(kind: str, name: str, *, uid: str = "", version: str = "apps/v1", **fields: Any) -> dict[str, Any]:
    """A workload; its uid is left out unless stated."""
    metadata = {"name": name, "namespace": "default", **({"uid": uid} if uid else {}), **fields.pop("metadata", {})}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **fields}


def vcjob(
    name: str = "train", *, uid: str = "", tasks: Any = None, metadata: Any = None, **spec: Any
) -> dict[str, Any]:
    """Volcano's Job; by default two workers."""
    tasks = tasks if tasks is not None else [{"name": "worker", "replicas": 2, "template": template()}]
    fields = {"metadata": metadata or {}, "spec": {"tasks": tasks, **spec}}
    return owned("Job", name, uid=uid, version="batch.volcano.sh/v1alpha1", **fields)


def pod(name: str, **fields: Any) -> dict[str, Any]:
    """A pod of Volcano that waits; spec, status and metadata are merged in."""
    metadata = {"name": name, "namespace": "default", **fields.pop("metadata", {})}
    spec = {"schedulerName": "volcano", "containers": template()["spec"]["containers"], **fields.pop("spec", {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, **fields}


def cluster(*items: dict[str, Any], nodes: int = 2) -> dict[str, Any]:
    """A dump: nodes n1, n2, ..., the queue default, and what is given."""
    made = [node(f"n{number}") for number in range(1, nodes + 1)]
    return {"apiVersion": "v1", "kind": "List", "items": [*made, queue("default"), *items]}


def submitted(*items: dict[str, Any], to: dict[str, Any] | None = None) -> Instance:
    """The cluster after these were submitted."""
    return load(to or cluster(), changes=Changes(submit=(list(items),)))


def names(instance: Instance) -> list[str]:
    """Names of all pods, in order of arrival."""
    return [task.name for task in instance.tasks.values()]
