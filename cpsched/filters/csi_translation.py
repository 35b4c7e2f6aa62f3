"""In-tree volumes as their CSI drivers see them; mirrors `csi-translation-lib`, as far as filters need it.

Known: AWS EBS, GCE PD, Azure disk, Cinder. Portworx, Azure file and vSphere volumes are left aside.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from cpsched.objects.affinity import NodeSelector, NodeSelectorTerm
from cpsched.objects.base import LabelRequirement
from cpsched.objects.storage import CSINode, PersistentVolume, VolumeSpec
from cpsched.objects.volumes import PodVolume

ZONE, BETA_ZONE = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"
REGION, BETA_REGION = "topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"
_MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"
_AWS_ID = re.compile(r"vol-[^/]*")
_ANY = "UNSPECIFIED"


@dataclass(frozen=True)
class InTree:
    """An in-tree plugin and the driver that took over; no zone key means topology stays as it is."""

    plugin: str
    driver: str
    zone_key: str = ""


AWS = InTree("kubernetes.io/aws-ebs", "ebs.csi.aws.com", "topology.ebs.csi.aws.com/zone")
GCE = InTree("kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "topology.gke.io/zone")
AZURE = InTree("kubernetes.io/azure-disk", "disk.csi.azure.com")
CINDER = InTree("kubernetes.io/cinder", "cinder.csi.openstack.org", "topology.cinder.csi.openstack.org/zone")
DRIVER_BY_PLUGIN = {one.plugin: one.driver for one in (AWS, GCE, AZURE, CINDER)}


class CsiVolume(NamedTuple):
    """A volume as a driver names it."""

    driver: str
    handle: str


def in_tree(source: PodVolume | VolumeSpec) -> InTree | None:
    """The plugin behind a volume of the old kind."""
    if source.aws_elastic_block_store is not None:
        return AWS
    if source.gce_persistent_disk is not None:
        return GCE
    if source.azure_disk is not None:
        return AZURE
    return CINDER if source.cinder is not None else None


def csi_volume(source: PodVolume | VolumeSpec, zones: str = "") -> CsiVolume | None:
    """The volume as its driver names it, None if it is no in-tree volume or cannot be translated."""
    if source.aws_elastic_block_store is not None:
        handle = _aws_id(source.aws_elastic_block_store.volume_id)
        return None if handle is None else CsiVolume(AWS.driver, handle)
    if source.gce_persistent_disk is not None:
        place = _gce_place(zones)
        disk = source.gce_persistent_disk.pd_name
        return None if place is None else CsiVolume(GCE.driver, f"projects/{_ANY}/{place}/disks/{disk}")
    if source.azure_disk is not None:
        return CsiVolume(AZURE.driver, source.azure_disk.disk_uri)
    return None if source.cinder is None else CsiVolume(CINDER.driver, source.cinder.volume_id)


def volume_zones(volume: PersistentVolume) -> str:
    """The zones label of a volume, several joined by two underscores."""
    labels = volume.metadata.labels
    return labels.get(BETA_ZONE) or labels.get(ZONE, "")


def node_affinity(volume: PersistentVolume, csi_node: CSINode | None) -> NodeSelector | None:
    """Where the volume can be used: zones under the driver's key if the node's annotation says it has migrated."""
    stated = volume.spec.node_affinity.required if volume.spec.node_affinity else None
    plugin = in_tree(volume.spec)
    if plugin is None or not plugin.zone_key or csi_node is None:
        return stated
    if plugin.plugin not in csi_node.metadata.annotations.get(_MIGRATED_PLUGINS, "").split(","):
        return stated
    return _translated(volume, stated, plugin.zone_key)


def _translated(volume: PersistentVolume, stated: NodeSelector | None, driver_key: str) -> NodeSelector | None:
    terms = stated.node_selector_terms if stated is not None else ()
    used = {e.key for term in terms for e in term.match_expressions}
    labels = volume.metadata.labels
    zone = next((key for keys in (used, labels) for key in (ZONE, BETA_ZONE) if key in keys), ZONE)
    renamed = {zone: driver_key} | ({BETA_REGION: REGION} if zone == BETA_ZONE else {})
    has_zones = any(e.key == zone and e.values for term in terms for e in term.match_expressions)
    added: tuple[LabelRequirement, ...] = ()
    if not has_zones:
        del renamed[zone]
        zones = sorted({text.strip() for text in labels.get(zone, "").split("__") if text.strip()})
        if zones:
            added = (LabelRequirement.model_validate({"key": driver_key, "operator": "In", "values": zones}),)
            terms = terms or (NodeSelectorTerm(),)
    if not terms:
        return stated
    new = tuple(
        term.model_copy(update={"match_expressions": (*(_renamed(e, renamed) for e in term.match_expressions), *added)})
        for term in terms
    )
    return NodeSelector().model_copy(update={"node_selector_terms": new})


def _renamed(expression: LabelRequirement, names: dict[str, str]) -> LabelRequirement:
    return expression.model_copy(update={"key": names.get(expression.key, expression.key)})


def _aws_id(text: str) -> str | None:
    if not text.startswith("aws://"):
        return text
    identifier = text.removeprefix("aws://").partition("/")[2].strip("/")
    return identifier if _AWS_ID.fullmatch(identifier) else None


def _gce_place(zones: str) -> str | None:
    names = zones.split("__")
    if len(names) == 1:
        return f"zones/{names[0] or _ANY}"
    regions = {name.rpartition("-")[0] for name in names}
    return f"regions/{regions.pop()}" if len(regions) == 1 and all(n.count("-") == 2 for n in names) else None
