"""Nodes that are cordoned, and nodes that are added."""

from __future__ import annotations

import re
from dataclasses import replace

from cpsched.errors import InputError
from cpsched.importers.kubernetes import Found
from cpsched.importers.sizes import check_size
from cpsched.objects.base import Object
from cpsched.objects.devices import ResourceSlice
from cpsched.objects.node import Node, NodeStatus
from cpsched.objects.storage import CSINode
from cpsched.what_if.changes import Cluster, counted, some

_HOSTNAME = "kubernetes.io/hostname"
_OWN_TAINTS = re.compile(r"node\.(kubernetes|cloudprovider\.kubernetes)\.io/")
"""Taints that say how a node is, which a new one is not."""


def cordon(cluster: Cluster, name: str) -> None:
    """The node takes no new pods; those on it stay."""
    was = mark(cluster, name, "--cordon")
    effect = f"node {name} takes no new pods" + (", as before" if was else "")
    cluster.state(f"--cordon {name}", effect)


def mark(cluster: Cluster, name: str, option: str) -> bool:
    """Cordon the node; whether it was cordoned already."""
    place = cluster.index_of(Node, name, option)
    item = cluster.found[place]
    node = item.object
    assert isinstance(node, Node)
    spec = node.spec.model_copy(update={"unschedulable": True})
    cluster.found[place] = replace(item, object=node.model_copy(update={"spec": spec}))
    return node.spec.unschedulable


def add(cluster: Cluster, additions: tuple[tuple[int, str], ...]) -> None:
    """So many nodes of the same size, labels and taints, empty and ready."""
    patterns = [(count, like, cluster.found[cluster.index_of(Node, like, "--like")]) for count, like in additions]
    for count, like, _ in patterns:
        if count < 1:
            raise InputError(f"{count} nodes", place="--add-nodes", right=f"add 1 or more nodes like {like}")
    check_size(
        [(count, item.object.model_dump(mode="json", exclude_defaults=True)) for count, _, item in patterns],
        cluster.file,
    )
    for count, like, item in patterns:
        taken = {one.object.metadata.name for one in cluster.found if isinstance(one.object, Node)}
        free = (f"{like}-new-{number}" for number in range(1, len(taken) + count + 1))
        names = [name for name in free if name not in taken][:count]
        assert isinstance(item.object, Node)
        belongings = [one for one in cluster.found if _belongs(one.object, like)]
        for name in names:
            cluster.found.append(replace(item, object=_node(item.object, name), place=f"Node {name}", uid=""))
            cluster.found += [_copied(one, like, name) for one in belongings]
        cluster.state(f"--add-nodes {count} --like {like}", f"{counted(count, 'node')} more: {some(names)}")


def _node(pattern: Node, name: str) -> Node:
    meta = pattern.metadata
    labels = meta.labels | ({_HOSTNAME: name} if _HOSTNAME in meta.labels else {})
    metadata = meta.model_copy(update={"name": name, "uid": "", "labels": labels, "creation_timestamp": None})
    taints = tuple(taint for taint in pattern.spec.taints if not _OWN_TAINTS.match(taint.key))
    spec = pattern.spec.model_copy(update={"unschedulable": False, "taints": taints})
    status = NodeStatus(allocatable=pattern.status.allocatable, capacity=pattern.status.capacity)
    return pattern.model_copy(update={"metadata": metadata, "spec": spec, "status": status})


def _belongs(item: Object, node: str) -> bool:
    """Whether a node has its own: what its drivers hold, and its devices."""
    if isinstance(item, CSINode):
        return item.metadata.name == node
    return isinstance(item, ResourceSlice) and item.spec.node_name == node


def _copied(item: Found, like: str, name: str) -> Found:
    found = item.object
    if isinstance(found, ResourceSlice):
        pool = found.spec.pool.model_copy(update={"name": found.spec.pool.name.replace(like, name)})
        if pool.name == found.spec.pool.name:
            pool = pool.model_copy(update={"name": f"{pool.name}-{name}"})
        spec = found.spec.model_copy(update={"node_name": name, "pool": pool})
        metadata = found.metadata.model_copy(update={"name": f"{found.metadata.name}-{name}", "uid": ""})
        return replace(item, object=found.model_copy(update={"metadata": metadata, "spec": spec}), uid="")
    metadata = found.metadata.model_copy(update={"name": name, "uid": ""})
    return replace(item, object=found.model_copy(update={"metadata": metadata}), uid="")
