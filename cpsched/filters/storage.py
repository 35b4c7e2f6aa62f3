"""Volumes, claims and drivers by name, with the bookings of tasks placed since the snapshot."""

from __future__ import annotations

from dataclasses import dataclass

from cpsched.instance import Instance
from cpsched.objects.pod import Pod
from cpsched.objects.storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from cpsched.objects.volumes import PodVolume

BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
_BETA_CLASS = "volume.beta.kubernetes.io/storage-class"


@dataclass(frozen=True)
class Storage:
    """The objects the volume filters look up; claims and volumes change when a task reserves them."""

    claims: dict[str, PersistentVolumeClaim]
    volumes: dict[str, PersistentVolume]
    classes: dict[str, StorageClass]
    csi_nodes: dict[str, CSINode]
    drivers: dict[str, CSIDriver]
    capacities: tuple[CSIStorageCapacity, ...]
    attachments: dict[str, tuple[VolumeAttachment, ...]]

    @classmethod
    def of(cls, instance: Instance) -> Storage:
        """What the instance holds."""
        attachments: dict[str, tuple[VolumeAttachment, ...]] = {}
        for item in instance.of_kind(VolumeAttachment):
            attachments[item.spec.node_name] = (*attachments.get(item.spec.node_name, ()), item)
        return cls(
            claims={item.key: item for item in instance.of_kind(PersistentVolumeClaim)},
            volumes={item.key: item for item in instance.of_kind(PersistentVolume)},
            classes={item.key: item for item in instance.of_kind(StorageClass)},
            csi_nodes={item.key: item for item in instance.of_kind(CSINode)},
            drivers={item.key: item for item in instance.of_kind(CSIDriver)},
            capacities=instance.of_kind(CSIStorageCapacity),
            attachments=attachments,
        )

    def copy(self) -> Storage:
        """A copy whose bookings are its own."""
        rest = (self.classes, self.csi_nodes, self.drivers, self.capacities, self.attachments)
        return Storage(dict(self.claims), dict(self.volumes), *rest)


def claim_class(claim: PersistentVolumeClaim) -> str:
    """The claim's storage class, or nothing."""
    return claim.metadata.annotations.get(_BETA_CLASS, claim.spec.storage_class_name or "")


def volume_class(volume: PersistentVolume) -> str:
    """The volume's storage class, or nothing."""
    return volume.metadata.annotations.get(_BETA_CLASS, volume.spec.storage_class_name)


def claim_name(pod: Pod, volume: PodVolume) -> str | None:
    """The claim behind a pod's volume, None if there is none; an ephemeral volume's is named after the pod."""
    if volume.persistent_volume_claim is not None:
        return volume.persistent_volume_claim.claim_name
    return f"{pod.metadata.name}-{volume.name}" if volume.ephemeral is not None else None


def owned_by(claim: PersistentVolumeClaim, pod: Pod) -> bool:
    """Whether the claim was made for the pod."""
    return any(owner.controller and owner.uid == pod.metadata.uid for owner in claim.metadata.owner_references)


def not_owned(claim: PersistentVolumeClaim, pod: Pod) -> str:
    """Upstream's words for an ephemeral volume's claim that belongs to another owner."""
    return f"PVC {claim.key} was not created for pod {pod.metadata.key} (pod is not owner)"
