"""Devices, classes and claims of dynamic resource allocation, with the bookings of tasks placed since the snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from cpsched.errors import InputError
from cpsched.instance import Instance
from cpsched.objects.devices import Device, DeviceClass, DeviceTaint, ResourceClaim, ResourceSlice

IMPLICIT_RESOURCE = "deviceclass.resource.kubernetes.io/"


class DeviceId(NamedTuple):
    """What makes a device one of a kind."""

    driver: str
    pool: str
    device: str


@dataclass(frozen=True)
class Devices:
    """The objects DynamicResources looks up; claims change when a task reserves them."""

    claims: dict[str, ResourceClaim]
    slices: tuple[ResourceSlice, ...]
    classes: dict[str, DeviceClass]
    class_by_resource: dict[str, DeviceClass]

    @classmethod
    def of(cls, instance: Instance) -> Devices:
        """What the instance holds."""
        classes = instance.of_kind(DeviceClass)
        return cls(
            claims={item.key: item for item in instance.of_kind(ResourceClaim)},
            slices=instance.of_kind(ResourceSlice),
            classes={item.key: item for item in classes},
            class_by_resource=_class_by_resource(classes),
        )

    def copy(self) -> Devices:
        """A copy whose bookings are its own."""
        return Devices(dict(self.claims), self.slices, self.classes, self.class_by_resource)

    def allocated(self) -> frozenset[DeviceId]:
        """Devices given to some claim; admin access takes none."""
        found = set()
        for claim in self.claims.values():
            for given in claim.status.allocation.devices.results if claim.status.allocation else ():
                if given.share_id:
                    wrong = f"claim {claim.key} holds a share of a device"
                    raise InputError(wrong, right="consumable capacity is not understood")
                if not given.admin_access:
                    found.add(DeviceId(given.driver, given.pool, given.device))
        return frozenset(found)

    def slices_for(self, node: str) -> tuple[ResourceSlice, ...]:
        """Slices of this node, and those of no single node."""
        return (*self._slices_by_node.get(node, ()), *self._slices_by_node.get("", ()))

    @cached_property
    def _slices_by_node(self) -> dict[str, list[ResourceSlice]]:
        by_node: dict[str, list[ResourceSlice]] = {}
        for one in self.slices:
            by_node.setdefault("" if one.spec.shared_counters else one.spec.node_name, []).append(one)
        return by_node


def attributes(device: Device) -> Mapping[str, Mapping[str, Any]]:
    """The device's attributes, wherever its API version keeps them."""
    return device.basic.attributes if device.basic is not None else device.attributes


def capacity(device: Device) -> Mapping[str, Any]:
    """The device's capacities, wherever its API version keeps them."""
    return device.basic.capacity if device.basic is not None else device.capacity


def taints(device: Device) -> tuple[DeviceTaint, ...]:
    """The device's taints, wherever its API version keeps them."""
    return device.basic.taints if device.basic is not None else device.taints


def _class_by_resource(classes: Iterable[DeviceClass]) -> dict[str, DeviceClass]:
    """Extended resource names that a class stands for: of several the youngest, then the first by name, as upstream."""
    found: dict[str, DeviceClass] = {}
    for one in sorted(classes, key=lambda c: (-(c.metadata.creation_timestamp or -(2**63)), c.metadata.name)):
        found.setdefault(IMPLICIT_RESOURCE + one.metadata.name, one)
        if one.spec.extended_resource_name:
            found.setdefault(one.spec.extended_resource_name, one)
    return found
