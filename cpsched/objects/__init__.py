"""Kubernetes and Volcano API objects, as far as scheduling reads them; KINDS is the one registry."""

from __future__ import annotations

from cpsched.objects.base import Object
from cpsched.objects.cluster import Namespace, ReplicaSet, ReplicationController, Service, StatefulSet
from cpsched.objects.devices import DeviceClass, ResourceClaim, ResourceClaimTemplate, ResourceSlice
from cpsched.objects.event import Event
from cpsched.objects.groups import PodDisruptionBudget, PodGroup, PriorityClass, Queue, WorkloadPodGroup
from cpsched.objects.node import Node
from cpsched.objects.numa import Numatopology
from cpsched.objects.pod import Pod
from cpsched.objects.quota import ResourceQuota
from cpsched.objects.storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from cpsched.objects.topology import HyperNode

KINDS: dict[tuple[str, str], type[Object]] = {
    ("", "Node"): Node,
    ("", "Pod"): Pod,
    ("", "Namespace"): Namespace,
    ("", "Service"): Service,
    ("", "ReplicationController"): ReplicationController,
    ("", "ResourceQuota"): ResourceQuota,
    ("", "Event"): Event,
    ("events.k8s.io", "Event"): Event,
    ("", "PersistentVolume"): PersistentVolume,
    ("", "PersistentVolumeClaim"): PersistentVolumeClaim,
    ("apps", "ReplicaSet"): ReplicaSet,
    ("apps", "StatefulSet"): StatefulSet,
    ("scheduling.volcano.sh", "PodGroup"): PodGroup,
    ("scheduling.volcano.sh", "Queue"): Queue,
    ("topology.volcano.sh", "HyperNode"): HyperNode,
    ("nodeinfo.volcano.sh", "Numatopology"): Numatopology,
    ("scheduling.k8s.io", "PodGroup"): WorkloadPodGroup,
    ("scheduling.k8s.io", "PriorityClass"): PriorityClass,
    ("policy", "PodDisruptionBudget"): PodDisruptionBudget,
    ("storage.k8s.io", "StorageClass"): StorageClass,
    ("storage.k8s.io", "CSINode"): CSINode,
    ("storage.k8s.io", "CSIDriver"): CSIDriver,
    ("storage.k8s.io", "CSIStorageCapacity"): CSIStorageCapacity,
    ("storage.k8s.io", "VolumeAttachment"): VolumeAttachment,
    ("resource.k8s.io", "ResourceClaim"): ResourceClaim,
    ("resource.k8s.io", "ResourceClaimTemplate"): ResourceClaimTemplate,
    ("resource.k8s.io", "ResourceSlice"): ResourceSlice,
    ("resource.k8s.io", "DeviceClass"): DeviceClass,
}
"""(API group, kind) → shape; the version behind the group does not matter for the fields read here."""

FORMER_GROUPS = {"extensions": "apps", "scheduling.incubator.k8s.io": "scheduling.volcano.sh"}
"""API groups whose kinds were renamed, with their fields unchanged: former name → today's."""

UNREAD_VERSIONS = frozenset({"resource.k8s.io/v1alpha1", "resource.k8s.io/v1alpha2"})
"""The exceptions: there a claim names a class and parameters, and asks for no devices."""

CLUSTER_WIDE = frozenset(
    {
        "Node",
        "Namespace",
        "PersistentVolume",
        "Queue",
        "PriorityClass",
        "StorageClass",
        "CSINode",
        "CSIDriver",
        "VolumeAttachment",
        "ResourceSlice",
        "DeviceClass",
        "HyperNode",
        "Numatopology",
    }
)
"""Kinds without a namespace."""
