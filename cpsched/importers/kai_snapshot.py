"""KAI-Scheduler's snapshot (`/get-snapshot`, pkg/scheduler/plugins/snapshot): a ZIP with one snapshot.json.

KAI's PodGroups and Queues become Volcano's, as far as the two mean the same: what a gang needs at least, its queue and
priority; a queue's quota is its deserved share, its limit its capability, its over-quota weight its weight.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cpsched.importers.raw import Raw, annotated, mapping_at, objects_at, of_kind, text_at
from cpsched.importers.snapshot import Context
from cpsched.instance import GROUP_ANNOTATION, PREEMPTABLE
from cpsched.parsing import Document

KAI = "kai-scheduler"
GROUP, FRACTIONS = "pod-group-name", ("gpu-fraction", "gpu-memory")
LISTS = {
    "nodes": ("v1", "Node"),
    "priorityClasses": ("scheduling.k8s.io/v1", "PriorityClass"),
    "persistentVolumeClaims": ("v1", "PersistentVolumeClaim"),
    "storageClasses": ("storage.k8s.io/v1", "StorageClass"),
    "csiDrivers": ("storage.k8s.io/v1", "CSIDriver"),
    "csiStorageCapacities": ("storage.k8s.io/v1", "CSIStorageCapacity"),
    "resourceClaims": ("resource.k8s.io/v1", "ResourceClaim"),
    "resourceSlices": ("resource.k8s.io/v1", "ResourceSlice"),
    "deviceClasses": ("resource.k8s.io/v1", "DeviceClass"),
}
_VOLCANO = "scheduling.volcano.sh/v1beta1"
_OURS = {*LISTS, "pods", "queues", "podGroups", "bindRequests"}
_NOT_PREEMPTIBLE_FROM = 100
_UNITS = {"cpu": ("cpu", "m"), "memory": ("memory", "M"), "gpu": ("nvidia.com/gpu", "")}
_QUEUE_FIELDS = ("preemptMinRuntime", "reclaimMinRuntime")
_GROUP_FIELDS = ("subGroups", "topologyConstraint")


def looks_like(document: Document) -> bool:
    """The raw objects of a snapshot."""
    data = document.data
    return isinstance(data, Mapping) and isinstance(data.get("rawObjects"), Mapping)


def translate(document: Document, context: Context) -> Raw:
    """All raw objects; the configuration is KAI's own and says nothing to the engines here."""
    data, file = document.data, document.file
    raw = mapping_at(data, "rawObjects", file)
    place = "rawObjects"
    objects = [
        of_kind(item, version, kind)
        for key, (version, kind) in LISTS.items()
        for _, item in objects_at(raw, key, file, place)
    ]
    queues = [_queue(item, file, where, context) for where, item in objects_at(raw, "queues", file, place)]
    classes = {
        text_at(mapping_at(item, "metadata", file, where), "name"): item.get("value")
        for where, item in objects_at(raw, "priorityClasses", file, place)
    }
    groups, protected, divided = [], set(), 0
    for where, item in objects_at(raw, "podGroups", file, place):
        spec, metadata = mapping_at(item, "spec", file, where), mapping_at(item, "metadata", file, where)
        key = (text_at(metadata, "namespace"), text_at(metadata, "name"))
        if _is_protected(spec, classes):
            protected.add(key)
        divided += bool(spec.get("subGroups"))
        groups.append((key, _group(metadata, spec, context)))
    homes = _homes(raw, file, place)
    pods = [_pod(item, file, where, homes, protected) for where, item in objects_at(raw, "pods", file, place)]
    context.leave(key for key in data if key != "rawObjects" and data[key])
    for name, items in raw.items():
        if name not in _OURS and items:
            context.report.other_kinds[f"rawObjects.{name}"] += len(items) if isinstance(items, list) else 1
    _note_fractions(pods, context)
    context.note(divided, *(f"PodGroup{s} sub-groups, which are read as one" for s in (" has", "s have")))
    at_work = _at_work(pods)
    for key, group in groups:
        least = group["spec"].get("minMember")
        running = at_work.get(key, 0) >= (least if isinstance(least, int) else 1)
        group["status"] = {"phase": "Running" if running else "Inqueue"}
    return {"objects": [*objects, *queues, *(group for _, group in groups), *pods]}


def _queue(item: Raw, file: str, place: str, context: Context) -> Raw:
    spec = mapping_at(item, "spec", file, place)
    resources = mapping_at(spec, "resources", file, place)
    made: Raw = {"weight": 1, "parent": text_at(spec, "parentQueue")}
    for key, field in (("deserved", "quota"), ("capability", "limit")):
        amounts = {
            name: f"{_plain(value)}{unit}"
            for kind, (name, unit) in _UNITS.items()
            if isinstance(value := mapping_at(resources, kind, file, place).get(field), int | float) and value >= 0
        }
        if amounts:
            made[key] = amounts
    weight = mapping_at(resources, "gpu", file, place).get("overQuotaWeight")
    if isinstance(weight, int | float) and 1 <= weight < 2**31:
        made["weight"] = int(weight)
    if isinstance(spec.get("priority"), int):
        made["priority"] = spec["priority"]
    context.leave(f"Queue.spec.{field}" for field in _QUEUE_FIELDS if spec.get(field))
    metadata = mapping_at(item, "metadata", file, place)
    return of_kind({"metadata": dict(metadata), "spec": made, "status": {"state": "Open"}}, _VOLCANO, "Queue")


def _plain(value: float) -> str:
    return str(int(value)) if value == int(value) else f"{value:.3f}"


def _group(metadata: Mapping[str, Any], spec: Mapping[str, Any], context: Context) -> Raw:
    kept = {key: spec[key] for key in ("minMember", "queue", "priorityClassName") if spec.get(key) is not None}
    context.leave(f"PodGroup.spec.{field}" for field in _GROUP_FIELDS if spec.get(field))
    return of_kind({"metadata": dict(metadata), "spec": kept}, _VOLCANO, "PodGroup")


def _is_protected(spec: Mapping[str, Any], classes: Mapping[str, Any]) -> bool:
    """Never a victim: so marked, or without a mark of a priority from 100 on."""
    stated = text_at(spec, "preemptibility")
    if stated:
        return stated == "non-preemptible"
    value = classes.get(text_at(spec, "priorityClassName"))
    return isinstance(value, int) and value >= _NOT_PREEMPTIBLE_FROM


def _homes(raw: Mapping[str, Any], file: str, place: str) -> dict[tuple[str, str], str]:
    """Where pods go whose bind request has not been carried out yet."""
    homes = {}
    for where, item in objects_at(raw, "bindRequests", file, place):
        spec = mapping_at(item, "spec", file, where)
        phase = text_at(mapping_at(item, "status", file, where), "phase")
        if phase in ("", "Pending") and text_at(spec, "selectedNode"):
            namespace = text_at(mapping_at(item, "metadata", file, where), "namespace")
            homes[namespace, text_at(spec, "podName")] = text_at(spec, "selectedNode")
    return homes


def _pod(
    item: Raw,
    file: str,
    place: str,
    homes: Mapping[tuple[str, str], str],
    protected: set[tuple[str, str]],
) -> Raw:
    metadata, spec = mapping_at(item, "metadata", file, place), mapping_at(item, "spec", file, place)
    namespace, name = text_at(metadata, "namespace"), text_at(metadata, "name")
    group = text_at(mapping_at(metadata, "annotations", file, place), GROUP)
    added = {GROUP_ANNOTATION: group} if group else {}
    if (namespace, group) in protected:
        added[PREEMPTABLE] = "false"
    pod = of_kind(annotated(item, added) if added else item, "v1", "Pod")
    # Volcano stands in for KAI: it takes over the pods that are KAI's.
    ours = {"schedulerName": "volcano"} if spec.get("schedulerName") == KAI else {}
    home = {"nodeName": homes[namespace, name]} if (namespace, name) in homes and not spec.get("nodeName") else {}
    if ours or home:
        pod["spec"] = {**spec, **ours, **home}
    return pod


def _note_fractions(pods: list[Raw], context: Context) -> None:
    count = 0
    for pod in pods:
        metadata = pod.get("metadata")
        stated = metadata.get("annotations") if isinstance(metadata, Mapping) else None
        count += isinstance(stated, Mapping) and any(key in stated for key in FRACTIONS)
    context.note(count, *(f"pod{s} for a part of a GPU, which is read as none" for s in (" asks", "s ask")))


def _at_work(pods: list[Raw]) -> dict[tuple[str, str], int]:
    counts: dict[tuple[str, str], int] = {}
    for pod in pods:
        metadata, spec = pod.get("metadata"), pod.get("spec")
        if not isinstance(metadata, Mapping) or not isinstance(spec, Mapping) or not spec.get("nodeName"):
            continue
        status = pod.get("status")
        if isinstance(status, Mapping) and text_at(status, "phase") in ("Succeeded", "Failed"):
            continue
        annotations = metadata.get("annotations")
        group = text_at(annotations, GROUP_ANNOTATION) if isinstance(annotations, Mapping) else ""
        if group:
            key = (text_at(metadata, "namespace"), group)
            counts[key] = counts.get(key, 0) + 1
    return counts
