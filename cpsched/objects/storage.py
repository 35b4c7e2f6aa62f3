"""Volumes and the drivers behind them."""

from __future__ import annotations

from pydantic import Field

from cpsched.objects.affinity import NodeSelector
from cpsched.objects.base import Items, LabelRequirement, LabelSelector, Object, Quantities, Quantity, Shape
from cpsched.objects.volumes import AwsElasticBlockStore, AzureDisk, CinderVolume, ClaimSpec, GcePersistentDisk


class ClaimStatus(Shape):
    """Bound, Pending or Lost."""

    phase: str = ""


class PersistentVolumeClaim(Object):
    """A PersistentVolumeClaim."""

    spec: ClaimSpec = ClaimSpec()
    status: ClaimStatus = ClaimStatus()


class CsiSource(Shape):
    """csi: of a PersistentVolume."""

    driver: str = ""
    volume_handle: str = ""


class ClaimReference(Shape):
    """Who holds the volume."""

    namespace: str = ""
    name: str = ""
    uid: str = ""


class VolumeNodeAffinity(Shape):
    """Where the volume can be used."""

    required: NodeSelector | None = None


class VolumeSpec(Shape):
    """Spec of a PersistentVolume."""

    capacity: Quantities = {}
    access_modes: Items[str] = ()
    storage_class_name: str = ""
    volume_mode: str = ""
    volume_attributes_class_name: str | None = None
    node_affinity: VolumeNodeAffinity | None = None
    claim_ref: ClaimReference | None = None
    csi: CsiSource | None = None
    gce_persistent_disk: GcePersistentDisk | None = None
    aws_elastic_block_store: AwsElasticBlockStore | None = None
    azure_disk: AzureDisk | None = None
    cinder: CinderVolume | None = None


class VolumeStatus(Shape):
    """Available, Bound, Released or Failed."""

    phase: str = ""


class PersistentVolume(Object):
    """A PersistentVolume."""

    spec: VolumeSpec = VolumeSpec()
    status: VolumeStatus = VolumeStatus()


class TopologySelectorTerm(Shape):
    """allowedTopologies of a class."""

    match_label_expressions: Items[LabelRequirement] = ()


class StorageClass(Object):
    """A StorageClass."""

    provisioner: str = ""
    volume_binding_mode: str = ""
    allowed_topologies: Items[TopologySelectorTerm] = ()


class DriverLimit(Shape):
    """allocatable: how many volumes a node may attach."""

    count: int | None = None


class NodeDriver(Shape):
    """One driver of a CSINode."""

    name: str = ""
    node_id: str = Field("", alias="nodeID")
    topology_keys: Items[str] = ()
    allocatable: DriverLimit | None = None


class CsiNodeSpec(Shape):
    """Drivers installed on the node."""

    drivers: Items[NodeDriver] = ()


class CSINode(Object):
    """A CSINode: same name as its node."""

    spec: CsiNodeSpec = CsiNodeSpec()


class CsiDriverSpec(Shape):
    """What the driver asks of the scheduler."""

    storage_capacity: bool = False
    prevent_pod_scheduling_if_missing: bool = False
    attach_required: bool | None = None


class CSIDriver(Object):
    """A CSIDriver."""

    spec: CsiDriverSpec = CsiDriverSpec()


class CSIStorageCapacity(Object):
    """Free storage of a class in a part of the cluster."""

    storage_class_name: str = ""
    node_topology: LabelSelector | None = None
    capacity: Quantity | None = None
    maximum_volume_size: Quantity | None = None


class AttachmentSource(Shape):
    """What is attached."""

    persistent_volume_name: str = ""


class AttachmentSpec(Shape):
    """To which node, by which driver."""

    attacher: str = ""
    node_name: str = ""
    source: AttachmentSource = AttachmentSource()


class VolumeAttachment(Object):
    """A VolumeAttachment."""

    spec: AttachmentSpec = AttachmentSpec()
