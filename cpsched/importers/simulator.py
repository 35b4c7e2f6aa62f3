"""kube-scheduler-simulator's export (`GET /api/v1/export`): objects without their kinds, and the configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cpsched.importers.raw import Raw, mapping_at, objects_at, of_kind
from cpsched.importers.snapshot import Context
from cpsched.parsing import Document

LISTS = {
    "namespaces": ("v1", "Namespace"),
    "priorityClasses": ("scheduling.k8s.io/v1", "PriorityClass"),
    "storageClasses": ("storage.k8s.io/v1", "StorageClass"),
    "pvs": ("v1", "PersistentVolume"),
    "pvcs": ("v1", "PersistentVolumeClaim"),
    "nodes": ("v1", "Node"),
    "pods": ("v1", "Pod"),
}
RESULTS = "kube-scheduler-simulator.sigs.k8s.io/"
_CONF = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def looks_like(document: Document) -> bool:
    """Lists of pods and nodes at the top, and one of the other parts of an export."""
    keys = document.data.keys() if isinstance(document.data, Mapping) else set[str]()
    return keys >= {"pods", "nodes"} and not keys.isdisjoint({"schedulerConfig", "pvs", "pvcs"})


def translate(document: Document, context: Context) -> Raw:
    """The same objects with their kinds; the results that the simulator notes on pods are left aside."""
    data, file = document.data, document.file
    objects = []
    for key, (version, kind) in LISTS.items():
        for _, item in objects_at(data, key, file):
            if kind == "Pod":
                item = _without_results(item, context)
            objects.append(of_kind(item, version, kind))
    context.leave(key for key in data if key not in LISTS and key != "schedulerConfig")
    found: Raw = {"objects": objects}
    conf = mapping_at(data, "schedulerConfig", file)
    return found | {"conf": {**_CONF, **{key: value for key, value in conf.items() if value}}} if conf else found


def _without_results(pod: Raw, context: Context) -> Raw:
    metadata = pod.get("metadata")
    stated = metadata.get("annotations") if isinstance(metadata, Mapping) else None
    if not isinstance(metadata, Mapping) or not isinstance(stated, Mapping):
        return pod
    kept: dict[str, Any] = {key: value for key, value in stated.items() if not str(key).startswith(RESULTS)}
    if len(kept) < len(stated):
        context.leave([f"Pod.metadata.annotations.{RESULTS}*"])
    return {**pod, "metadata": {**metadata, "annotations": kept}}
