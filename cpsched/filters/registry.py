"""The one list of filters."""

from __future__ import annotations

from collections.abc import Iterable

from cpsched.errors import InputError
from cpsched.filters import (
    dynamic_resources,
    inter_pod_affinity,
    node_affinity,
    node_name,
    node_ports,
    node_resources_fit,
    node_unschedulable,
    node_volume_limits,
    pod_topology_spread,
    taint_toleration,
    volume_binding,
    volume_restrictions,
    volume_zone,
)
from cpsched.filters.contract import Filter

FILTERS: dict[str, Filter] = {
    "NodeUnschedulable": node_unschedulable.FILTER,
    "NodeName": node_name.FILTER,
    "TaintToleration": taint_toleration.FILTER,
    "NodeAffinity": node_affinity.FILTER,
    "NodePorts": node_ports.FILTER,
    "NodeResourcesFit": node_resources_fit.FILTER,
    "VolumeRestrictions": volume_restrictions.FILTER,
    "NodeVolumeLimits": node_volume_limits.FILTER,
    "VolumeBinding": volume_binding.FILTER,
    "VolumeZone": volume_zone.FILTER,
    "PodTopologySpread": pod_topology_spread.FILTER,
    "InterPodAffinity": inter_pod_affinity.FILTER,
    "DynamicResources": dynamic_resources.FILTER,
}
"""In kube-scheduler 1.36's default order."""

ALWAYS_PASS = frozenset({"NodeDeclaredFeatures"})
"""Filters of the default profile that no field read here can make fail."""


def chosen(names: Iterable[str]) -> list[Filter]:
    """The filters of these names, in the order given."""
    found = []
    for name in names:
        if name in FILTERS:
            found.append(FILTERS[name])
        elif name not in ALWAYS_PASS:
            raise InputError(f"unknown filter {name}", right=f"known: {', '.join(FILTERS)}")
    return found
