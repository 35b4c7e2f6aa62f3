"""Dynamic resource allocation: claims, slices, device classes (resource.k8s.io)."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from cpsched.objects.affinity import NodeSelector, Toleration
from cpsched.objects.base import Items, Object, Quantities, Shape


class CelSelector(Shape):
    """A CEL expression over one device."""

    expression: str = ""


class DeviceSelector(Shape):
    """One selector; only CEL exists."""

    cel: CelSelector | None = None


class DeviceCapacityRequest(Shape):
    """How much of a shared device."""

    requests: Quantities = {}


class ExactRequest(Shape):
    """Devices of one class, by count or all."""

    device_class_name: str = ""
    selectors: Items[DeviceSelector] = ()
    allocation_mode: str = ""
    count: int = 0
    admin_access: bool = False
    tolerations: Items[Toleration] = ()
    capacity: DeviceCapacityRequest | None = None


class SubRequest(ExactRequest):
    """One of several alternatives, first that fits."""

    name: str = ""


class DeviceRequest(ExactRequest):
    """A request of a claim: `exactly`, `firstAvailable`, or (v1beta1) the fields of `exactly` inline."""

    name: str = ""
    exactly: ExactRequest | None = None
    first_available: Items[SubRequest] = ()


class DeviceConstraint(Shape):
    """All devices of some requests must agree, or differ, in an attribute."""

    requests: Items[str] = ()
    match_attribute: str = ""
    distinct_attribute: str = ""


class DeviceClaim(Shape):
    """What the claim asks for."""

    requests: Items[DeviceRequest] = ()
    constraints: Items[DeviceConstraint] = ()


class ResourceClaimSpec(Shape):
    """Spec of a claim."""

    devices: DeviceClaim = DeviceClaim()


class AllocatedDevice(Shape):
    """One device given to a request."""

    request: str = ""
    driver: str = ""
    pool: str = ""
    device: str = ""
    admin_access: bool = False
    share_id: str = Field("", alias="shareID")


class DeviceAllocation(Shape):
    """The devices given."""

    results: Items[AllocatedDevice] = ()


class Allocation(Shape):
    """Devices and the nodes from which they can be used."""

    devices: DeviceAllocation = DeviceAllocation()
    node_selector: NodeSelector | None = None


class ConsumerReference(Shape):
    """A pod the claim is reserved for."""

    api_group: str = ""
    resource: str = ""
    name: str = ""
    uid: str = ""


class ResourceClaimStatus(Shape):
    """Allocated, and for whom."""

    allocation: Allocation | None = None
    reserved_for: Items[ConsumerReference] = ()


class ResourceClaim(Object):
    """A ResourceClaim."""

    spec: ResourceClaimSpec = ResourceClaimSpec()
    status: ResourceClaimStatus = ResourceClaimStatus()


class ClaimTemplateSpec(Shape):
    """What claims made from the template look like."""

    spec: ResourceClaimSpec = ResourceClaimSpec()


class ResourceClaimTemplate(Object):
    """A ResourceClaimTemplate."""

    spec: ClaimTemplateSpec = ClaimTemplateSpec()


class DeviceClassSpec(Shape):
    """Which devices belong to the class."""

    selectors: Items[DeviceSelector] = ()
    extended_resource_name: str = ""


class DeviceClass(Object):
    """A DeviceClass."""

    spec: DeviceClassSpec = DeviceClassSpec()


class DeviceTaint(Shape):
    """A mark on a device."""

    key: str = ""
    value: str = ""
    effect: str = ""


class BasicDevice(Shape):
    """v1beta1 nests a device's fields under `basic`."""

    attributes: dict[str, dict[str, Any]] = {}
    capacity: dict[str, Any] = {}
    taints: Items[DeviceTaint] = ()


class Device(Shape):
    """One device a driver offers."""

    name: str = ""
    attributes: dict[str, dict[str, Any]] = {}
    capacity: dict[str, Any] = {}
    taints: Items[DeviceTaint] = ()
    basic: BasicDevice | None = None
    node_name: str = ""
    node_selector: NodeSelector | None = None
    all_nodes: bool = False
    consumes_counters: Items[dict[str, Any]] = ()
    allow_multiple_allocations: bool = False
    binding_conditions: Items[str] = ()
    binds_to_node: bool = False


class Pool(Shape):
    """Slices of one pool and generation belong together."""

    name: str = ""
    generation: int = 0
    resource_slice_count: int = 0


class ResourceSliceSpec(Shape):
    """Devices of a driver, and where they are."""

    driver: str = ""
    pool: Pool = Pool()
    node_name: str = ""
    node_selector: NodeSelector | None = None
    all_nodes: bool = False
    per_device_node_selection: bool = False
    devices: Items[Device] = ()
    shared_counters: Items[dict[str, Any]] = ()


class ResourceSlice(Object):
    """A ResourceSlice."""

    spec: ResourceSliceSpec = ResourceSliceSpec()
