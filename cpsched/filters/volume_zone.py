"""VolumeZone: a bound volume's zone and region labels must be the node's; mirrors `plugins/volumezone`."""

from __future__ import annotations

from typing import NamedTuple

from cpsched.filters.args import Args
from cpsched.filters.contract import SKIPPED, Filter, PreFilterResult
from cpsched.filters.csi_translation import BETA_REGION, BETA_ZONE, REGION, ZONE
from cpsched.filters.state import ClusterState, NodeState
from cpsched.filters.status import SUCCESS, Status, not_found, unresolvable
from cpsched.filters.storage import Storage, claim_class
from cpsched.instance import Task
from cpsched.objects.storage import PersistentVolume, PersistentVolumeClaim

NAME = "VolumeZone"
OTHER_ZONE = unresolvable(NAME, "node(s) had no available volume zone")

_KEYS = (BETA_ZONE, BETA_REGION, ZONE, REGION)
_STABLE_KEY = {BETA_ZONE: ZONE, BETA_REGION: REGION}


class Topology(NamedTuple):
    """A label of a volume and the values it allows."""

    key: str
    values: frozenset[str]


class _RefusedError(Exception):
    def __init__(self, reason: str):
        self.status = unresolvable(NAME, reason)


def prefilter(task: Task, cluster: ClusterState, args: Args) -> PreFilterResult:
    """Look up the volumes' labels; skip if there is none to obey."""
    try:
        topologies = tuple(
            topology
            for name in cluster.facts(task).claims
            for topology in _of_claim(f"{task.namespace}/{name}", name, cluster.storage)
        )
    except _RefusedError as refused:
        return PreFilterResult(refused.status)
    return PreFilterResult(state=topologies) if topologies else SKIPPED


def check(state: tuple[Topology, ...], task: Task, node: NodeState, cluster: ClusterState) -> Status:
    """Refuse a node of another zone; a node without any of the labels passes."""
    labels = node.labels
    if not any(key in labels for key in _KEYS):
        return SUCCESS
    for key, values in state:
        if labels.get(key, labels.get(_STABLE_KEY.get(key, key))) not in values:
            return OTHER_ZONE
    return SUCCESS


def _of_claim(key: str, name: str, storage: Storage) -> tuple[Topology, ...]:
    if not name:
        raise _RefusedError("PersistentVolumeClaim had no name")
    claim = storage.claims.get(key)
    if claim is None:
        raise _RefusedError(not_found("persistentvolumeclaim", name))
    if not claim.spec.volume_name:
        _check_delayed(claim, storage)
        return ()
    volume = storage.volumes.get(claim.spec.volume_name)
    if volume is None:
        raise _RefusedError(not_found("persistentvolume", claim.spec.volume_name))
    return _of_volume(volume)


def _check_delayed(claim: PersistentVolumeClaim, storage: Storage) -> None:
    """An unbound claim is fine only if it waits for its first consumer."""
    name = claim_class(claim)
    if not name:
        raise _RefusedError("PersistentVolumeClaim had no pv name and storageClass name")
    if name not in storage.classes:
        raise _RefusedError(not_found("storageclass.storage.k8s.io", name))
    mode = storage.classes[name].volume_binding_mode
    if not mode:
        raise _RefusedError(f'VolumeBindingMode not set for StorageClass "{name}"')
    if mode != "WaitForFirstConsumer":
        raise _RefusedError("PersistentVolume had no name")


def _of_volume(volume: PersistentVolume) -> tuple[Topology, ...]:
    found = []
    for key in _KEYS:
        if key in volume.metadata.labels:
            values = frozenset(value.strip() for value in volume.metadata.labels[key].split("__"))
            if "" not in values:
                found.append(Topology(key, values))
    return tuple(found)


FILTER = Filter(NAME, prefilter, check, is_static=True)
