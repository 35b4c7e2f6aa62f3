"""HyperNodes for tests."""

from __future__ import annotations

from typing import Any

from cpsched.importers.load import load
from cpsched.instance import Instance
from cpsched.topology.tree import Tree

Object = dict[str, Any]


def node(name: str, **labels: str) -> Object:
    status = {"allocatable": {"cpu": "4", "memory": "64Gi", "pods": "10"}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "status": status}


def exact(*names: str, kind: str = "HyperNode") -> list[Object]:
    return [{"type": kind, "selector": {"exactMatch": {"name": name}}} for name in names]


def nodes_of(*names: str) -> list[Object]:
    return exact(*names, kind="Node")


def domain(name: str, tier: int, members: list[Object], tier_name: str = "") -> Object:
    spec = {"tier": tier, "tierName": tier_name, "members": members}
    return {"apiVersion": "topology.volcano.sh/v1alpha1", "kind": "HyperNode", "metadata": {"name": name}, "spec": spec}


def instance_of(*objects: Object) -> Instance:
    return load([*objects], lenient=True)


def tree_of(*objects: Object) -> Tree:
    return Tree(instance_of(*objects))
