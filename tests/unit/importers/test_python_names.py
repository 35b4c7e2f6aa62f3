"""`to_dict()` of Kubernetes' Python client: the same objects with underscores in names, and times as datetimes."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from cpsched.importers.load import load

PLAIN = Path(__file__).parents[2] / "snapshots" / "plain.json.gz"
Raw = dict[str, Any]
THE_USERS = {"labels", "annotations", "nodeSelector", "matchLabels", "allocatable", "capacity", "requests", "limits"}


def spelt(name: str) -> str:
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)).lower()


def by_client(value: Any, kind: str = "") -> Any:
    """As the client gives it, and `json.dumps(..., default=str)` writes it."""
    if isinstance(value, dict):
        kept = THE_USERS | ({"selector"} if kind == "Service" else set())
        return {spelt(name): item if name in kept else by_client(item, kind) for name, item in value.items()}
    if isinstance(value, list):
        return [by_client(item, kind) for item in value]
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", value):
        return f"{value[:10]} {value[11:19]}+00:00"
    return value


def client_list(kind: str, items: list[Raw]) -> Raw:
    found = [by_client(item, kind) for item in items]
    nothing = {"kind": None, "api_version": None}
    return {
        "api_version": items[0]["apiVersion"],
        "items": [{**one, **nothing} for one in found],
        "kind": f"{kind}List",
    }


@pytest.fixture(scope="module")
def items() -> list[Raw]:
    found: list[Raw] = json.loads(gzip.decompress(PLAIN.read_bytes()))["items"]
    return found


def test_every_object_is_the_same(items: list[Raw]) -> None:
    kinds = list(dict.fromkeys(item["kind"] for item in items))
    lists = [client_list(kind, [item for item in items if item["kind"] == kind]) for kind in kinds]
    assert "node_name" in json.dumps(lists)
    loaded = load({"kind": "List", "apiVersion": "v1", "items": lists})
    usual = load({"kind": "List", "apiVersion": "v1", "items": items})
    assert loaded.objects == usual.objects
    assert loaded.warnings == usual.warnings


def test_what_users_name_stays() -> None:
    """Labels may be called like a field, and an extended resource may have underscores."""
    named = {"node_name": "a", "b_c": "d"}
    metadata = {"name": "x", "labels": named, "annotations": named, "creation_timestamp": None}
    spec = {"node_selector": named, "containers": [{"name": "c", "resources": {"requests": {"a.b/c_d": "1"}}}]}
    [task] = load([{"api_version": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}]).tasks.values()
    assert dict(task.labels) == dict(task.pod.metadata.annotations) == dict(task.spec.node_selector) == named
    assert dict(task.spec.containers[0].resources.requests) == {"a.b/c_d": "1"}


def test_as_the_api_spells_it_it_is_left_alone() -> None:
    metadata = {"name": "x", "creationTimestamp": None, "labels": {"resource_version": "1"}}
    spec = {"node_name": "n", "containers": [{"name": "c"}]}
    [task] = load([{"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}]).tasks.values()
    assert task.node == ""
