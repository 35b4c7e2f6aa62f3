"""Devices, slices and resource claims for tests."""

from __future__ import annotations

from typing import Any

from cpsched.filters import ClusterState, Status
from tests.unit.filters.build import cluster_of, node_json, pod_json, task_of, verdict

NODES = [node_json("a", {"rack": "1"}), node_json("b", {"rack": "2"})]
CLASS = {"metadata": {"name": "gpu"}}
CANNOT = ("cannot allocate all claims",)


def device(name: str, **stated: Any) -> dict[str, Any]:
    return {"name": name, **stated}


def slice_of(
    *devices: dict[str, Any], node: str = "a", pool: str = "", name: str = "", **stated: Any
) -> dict[str, Any]:
    place = {"nodeName": node} if node else {}
    count = {"name": pool or node or "shared", "generation": 1, "resourceSliceCount": stated.pop("count", 1)}
    count |= stated.pop("pool_fields", {})
    spec = {"driver": stated.pop("driver", "d"), "pool": count, "devices": list(devices), **place, **stated}
    return {"metadata": {"name": name or f"slice-{pool or node}"}, "spec": spec}


def request(name: str = "r", **exactly: Any) -> dict[str, Any]:
    return {"name": name, "exactly": {"deviceClassName": "gpu", **exactly}}


def claim(name: str, *requests: dict[str, Any], constraints: Any = (), **stated: Any) -> dict[str, Any]:
    devices = {"requests": list(requests), "constraints": list(constraints)}
    return {"metadata": {"name": name, **stated.pop("metadata", {})}, "spec": {"devices": devices}, **stated}


def allocated(*devices: str, pool: str = "a", selector: Any = None, **result: Any) -> dict[str, Any]:
    results = [{"request": "r", "driver": "d", "pool": pool, "device": one, **result} for one in devices]
    where = {"nodeSelector": {"nodeSelectorTerms": [selector]}} if selector else {}
    return {"allocation": {"devices": {"results": results}, **where}}


def using(*names: str) -> dict[str, Any]:
    return {"resourceClaims": [{"name": n, "resourceClaimName": n} for n in names]}


def cluster(claims: list[dict[str, Any]], slices: list[dict[str, Any]], **others: Any) -> ClusterState:
    classes = others.pop("DeviceClass", [CLASS])
    return cluster_of(NODES, ResourceClaim=claims, ResourceSlice=slices, DeviceClass=classes, **others)


def at(node: str, state: ClusterState, *names: str) -> Status:
    return verdict("DynamicResources", task_of(pod_json("p", **using(*names))), state, node)
