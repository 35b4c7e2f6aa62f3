"""Which volume a claim may take at a node, and whether one can be made there; mirrors `volume/pv_helpers.go`."""

from __future__ import annotations

from collections.abc import Container, Iterable

from cpsched import quantity
from cpsched.filters.state import NodeState
from cpsched.filters.storage import Storage, claim_class, volume_class
from cpsched.objects.storage import CSIStorageCapacity, PersistentVolume, PersistentVolumeClaim
from cpsched.selectors import SelectorError, label_selector, node_selector, topology_terms_match

NO_PROVISIONER = "kubernetes.io/no-provisioner"


def size(claim: PersistentVolumeClaim) -> int:
    """How much storage the claim asks for."""
    return quantity.nano(claim.spec.resources.requests.get("storage", "0"))


def match(
    claim: PersistentVolumeClaim, volumes: Iterable[PersistentVolume], node: NodeState, taken: Container[str]
) -> PersistentVolume | None:
    """The smallest volume that fits the claim and the node; one that already names the claim comes first."""
    selector = None if claim.spec.selector is None else label_selector(claim.spec.selector)
    best: PersistentVolume | None = None
    for volume in volumes:
        if volume.metadata.name in taken or not _could_hold(volume, claim):
            continue
        if volume.spec.claim_ref is not None:
            return volume if _reachable(volume, node) else None
        if volume.status.phase != "Available" or volume_class(volume) != claim_class(claim):
            continue
        if selector is not None and not selector.matches(volume.metadata.labels):
            continue
        if not set(claim.spec.access_modes) <= set(volume.spec.access_modes) or not _reachable(volume, node):
            continue
        if best is None or _storage(volume) < _storage(best):
            best = volume
    return best


def can_provision(claim: PersistentVolumeClaim, node: NodeState, storage: Storage) -> bool:
    """Whether the claim's class makes volumes, and makes them where the node is."""
    storage_class = storage.classes[claim_class(claim)]
    if storage_class.provisioner in ("", NO_PROVISIONER):
        return False
    terms = (term.match_label_expressions for term in storage_class.allowed_topologies)
    return topology_terms_match(terms, node.labels)


def has_capacity(claim: PersistentVolumeClaim, node: NodeState, storage: Storage) -> bool:
    """Whether a driver that reports its capacity has enough near the node; each claim is looked at alone."""
    storage_class = storage.classes[claim_class(claim)]
    driver = storage.drivers.get(storage_class.provisioner)
    if "storage" not in claim.spec.resources.requests or driver is None or not driver.spec.storage_capacity:
        return True
    wanted = quantity.whole(claim.spec.resources.requests["storage"])
    return any(
        item.storage_class_name == storage_class.metadata.name and _limit(item) >= wanted and _near(item, node)
        for item in storage.capacities
    )


def _could_hold(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Free or promised to this claim, large enough, of the same mode and attributes class, and not being deleted."""
    reference = volume.spec.claim_ref
    if reference is not None:
        if (reference.namespace, reference.name) != (claim.metadata.namespace, claim.metadata.name):
            return False
        if reference.uid and reference.uid != claim.metadata.uid:
            return False
    if _storage(volume) < size(claim) or volume.metadata.deletion_timestamp is not None:
        return False
    if (claim.spec.volume_mode or "Filesystem") != (volume.spec.volume_mode or "Filesystem"):
        return False
    return (claim.spec.volume_attributes_class_name or "") == (volume.spec.volume_attributes_class_name or "")


def _reachable(volume: PersistentVolume, node: NodeState) -> bool:
    required = volume.spec.node_affinity.required if volume.spec.node_affinity else None
    return required is None or node_selector(required).matches(node.labels, "")


def _storage(volume: PersistentVolume) -> int:
    return quantity.nano(volume.spec.capacity.get("storage", "0"))


def _limit(item: CSIStorageCapacity) -> int:
    stated = item.capacity if item.maximum_volume_size is None else item.maximum_volume_size
    return -1 if stated is None else quantity.whole(stated)


def _near(item: CSIStorageCapacity, node: NodeState) -> bool:
    try:
        return label_selector(item.node_topology).matches(node.labels)
    except SelectorError:
        return False
