"""The volumes of a pod that a filter looks at."""

from __future__ import annotations

from pydantic import Field

from cpsched.objects.base import Items, LabelSelector, Quantities, Shape


class ClaimVolume(Shape):
    """persistentVolumeClaim."""

    claim_name: str = ""
    read_only: bool = False


class ClaimResources(Shape):
    """What a claim asks for."""

    requests: Quantities = {}


class ClaimSpec(Shape):
    """Spec of a PersistentVolumeClaim, also inside an ephemeral volume's template."""

    access_modes: Items[str] = ()
    resources: ClaimResources = ClaimResources()
    storage_class_name: str | None = None
    volume_mode: str = ""
    volume_name: str = ""
    volume_attributes_class_name: str | None = None
    selector: LabelSelector | None = None


class ClaimTemplate(Shape):
    """volumeClaimTemplate of an ephemeral volume."""

    spec: ClaimSpec = ClaimSpec()


class EphemeralVolume(Shape):
    """A claim made for this pod alone."""

    volume_claim_template: ClaimTemplate = ClaimTemplate()


class InlineCsi(Shape):
    """csi: an inline volume."""

    driver: str = ""


class GcePersistentDisk(Shape):
    """gcePersistentDisk."""

    pd_name: str = ""
    read_only: bool = False


class AwsElasticBlockStore(Shape):
    """awsElasticBlockStore."""

    volume_id: str = Field("", alias="volumeID")
    read_only: bool = False


class AzureDisk(Shape):
    """azureDisk."""

    disk_name: str = ""
    disk_uri: str = Field("", alias="diskURI")


class CinderVolume(Shape):
    """cinder."""

    volume_id: str = Field("", alias="volumeID")


class RbdVolume(Shape):
    """rbd."""

    monitors: Items[str] = ()
    pool: str = ""
    image: str = ""
    read_only: bool = False


class IscsiVolume(Shape):
    """iscsi."""

    iqn: str = ""
    lun: int = 0
    target_portal: str = ""
    read_only: bool = False


class PodVolume(Shape):
    """One entry of spec.volumes; kinds that no filter reads are left aside."""

    name: str = ""
    persistent_volume_claim: ClaimVolume | None = None
    ephemeral: EphemeralVolume | None = None
    csi: InlineCsi | None = None
    gce_persistent_disk: GcePersistentDisk | None = None
    aws_elastic_block_store: AwsElasticBlockStore | None = None
    azure_disk: AzureDisk | None = None
    cinder: CinderVolume | None = None
    rbd: RbdVolume | None = None
    iscsi: IscsiVolume | None = None
