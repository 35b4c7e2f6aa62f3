"""Claims and volumes for tests."""

from __future__ import annotations

from typing import Any

WAIT = {
    "metadata": {"name": "wait"},
    "provisioner": "kubernetes.io/no-provisioner",
    "volumeBindingMode": "WaitForFirstConsumer",
}


def claim(
    name: str, *, size: str = "5Gi", storage_class: str = "wait", bound: str = "", **stated: Any
) -> dict[str, Any]:
    metadata = {"name": name, "uid": f"uid-{name}", **stated.pop("metadata", {})}
    if bound:
        metadata["annotations"] = {"pv.kubernetes.io/bind-completed": "yes", **metadata.get("annotations", {})}
    status = stated.pop("status", {})
    spec = {"storageClassName": storage_class, "volumeName": bound, "resources": {"requests": {"storage": size}}}
    return {"metadata": metadata, "spec": {"accessModes": ["ReadWriteOnce"], **spec, **stated}, "status": status}


def volume(name: str, *, size: str = "5Gi", zone: str = "", phase: str = "Available", **stated: Any) -> dict[str, Any]:
    metadata = {"name": name, **stated.pop("metadata", {})}
    spec: dict[str, Any] = {"capacity": {"storage": size}, "storageClassName": "wait", "accessModes": ["ReadWriteOnce"]}
    if zone:
        term = {"matchExpressions": [{"key": "zone", "operator": "In", "values": [zone]}]}
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [term]}}
    return {"metadata": metadata, "spec": {**spec, **stated}, "status": {"phase": phase}}


def using(*names: str) -> dict[str, Any]:
    return {"volumes": [{"name": f"v-{n}", "persistentVolumeClaim": {"claimName": n}} for n in names]}
