"""Where an input comes from: a cluster, or written by hand; and whether one namespace is all of it."""

from __future__ import annotations

from collections.abc import Iterator

from cpsched.importers.cluster_info import NAMESPACES_DUMPED
from cpsched.instance import Instance
from cpsched.objects.node import Node
from cpsched.objects.storage import PersistentVolume

FREE_CAPACITY = "how much capacity is free"
WAS_IT_ALL = "was the input made with -A?"
SYSTEM = "kube-system"
EVERY_CLUSTER_HAS = 4
"""default, kube-system, kube-public and kube-node-lease: the API server makes them, and again if they are deleted."""
_KWOK = "kwok.x-k8s.io/node"


def is_from_cluster(instance: Instance) -> bool:
    """Whether an API server printed the nodes: it gives each a uid, a time and a version of its own.

    Uids and times are written by hand too, where a decision among equals depends on them; no decision reads a version.
    """
    metadata = [node.node.metadata for node in instance.nodes.values()]
    return bool(metadata) and all(
        one.uid and one.resource_version and one.creation_timestamp is not None for one in metadata
    )


def one_namespace(instance: Instance) -> Iterator[tuple[str, str]]:
    """Every cluster with kubelets runs pods in kube-system; without -A kubectl gives the objects of one namespace."""
    namespaces = {one.metadata.namespace for one in instance.objects} - {""}
    if len(namespaces) != 1 or SYSTEM in namespaces or not instance.tasks:
        return
    if any(_has_kubelet(node.node) for node in instance.nodes.values()):
        (only,) = namespaces
        stated = f"everything in the input that has a namespace is in {only}, nothing in {SYSTEM}"
        yield FREE_CAPACITY, f"{stated}: pods are missing; {WAS_IT_ALL}"


def dumped_namespaces(instance: Instance) -> Iterator[tuple[str, str]]:
    """kubectl cluster-info dump prints lists for each namespace, empty ones too; without -A for two of them."""
    dumped = instance.found_out.get(NAMESPACES_DUMPED, 0)
    if 0 < dumped < EVERY_CLUSTER_HAS:
        stated = f"kubectl cluster-info dump was made of {dumped} namespace{'s' * (dumped > 1)}"
        has = f"every cluster has {EVERY_CLUSTER_HAS} or more"
        yield FREE_CAPACITY, f"{stated}, and {has}: pods of the others may be missing; {WAS_IT_ALL}"


def volumes_bound(instance: Instance) -> Iterator[tuple[str, str]]:
    """A bound volume names the claim that holds it; of its namespace there is something if the input is whole."""
    namespaces = {one.metadata.namespace for one in instance.objects}
    for volume in instance.of_kind(PersistentVolume):
        claim = volume.spec.claim_ref
        if volume.status.phase == "Bound" and claim is not None and claim.namespace not in namespaces:
            stated = f"volume {volume.key} is bound to claim {claim.namespace}/{claim.name}"
            missing = f"of namespace {claim.namespace} the input has nothing: pods are missing"
            yield FREE_CAPACITY, f"{stated}, but {missing}; {WAS_IT_ALL}"
            return


def _has_kubelet(node: Node) -> bool:
    played = _KWOK in node.metadata.annotations or node.metadata.labels.get("type") == "kwok"
    return not played and any(
        one.type == "Ready" and one.reason.startswith("Kubelet") for one in node.status.conditions
    )
