"""Which devices a node can reach, pool by pool; mirrors `structured/internal/incubating/pools_incubating.go`."""

from __future__ import annotations

from dataclasses import dataclass

from cpsched.filters.devices import Devices
from cpsched.filters.state import NodeState
from cpsched.objects.affinity import NodeSelector
from cpsched.objects.devices import Device, ResourceSlice
from cpsched.selectors import node_selector


@dataclass(frozen=True)
class DevicePool:
    """Devices of one driver and pool; while it is incomplete or invalid nothing is taken from it."""

    driver: str
    name: str
    slices: tuple[ResourceSlice, ...] = ()
    is_incomplete: bool = False
    is_invalid: bool = False

    @property
    def key(self) -> str:
        """driver/pool."""
        return f"{self.driver}/{self.name}"


def gather_pools(devices: Devices, node: NodeState) -> list[DevicePool]:
    """The pools with a slice for the node, newest generation only; pools that need binding conditions come last."""
    by_pool: dict[tuple[str, str], list[ResourceSlice]] = {}
    for one in devices.slices_for(node.name):
        if not _is_for(one, node):
            continue
        found = by_pool.setdefault((one.spec.driver, one.spec.pool.name), [])
        newest = found[0].spec.pool.generation if found else one.spec.pool.generation
        if one.spec.pool.generation > newest:
            found.clear()
        if one.spec.pool.generation >= newest:
            found.append(one)
    pools = [pool for key in sorted(by_pool) if (pool := _pool(key, by_pool[key], devices.slices)) is not None]
    return sorted(pools, key=_needs_binding)


def device_is_for(one: ResourceSlice, device: Device, node: NodeState) -> bool:
    """Whether the node reaches this device of a slice for it."""
    if not one.spec.per_device_node_selection:
        return True
    return _reaches(node, device.node_name, device.all_nodes, device.node_selector)


def _pool(key: tuple[str, str], found: list[ResourceSlice], slices: tuple[ResourceSlice, ...]) -> DevicePool | None:
    generation, wanted = found[0].spec.pool.generation, found[0].spec.pool.resource_slice_count
    if len(found) != wanted:
        of_pool = [one for one in slices if (one.spec.driver, one.spec.pool.name) == key]
        if any(one.spec.pool.generation > generation for one in of_pool):
            return None
        if sum(one.spec.pool.generation == generation for one in of_pool) != wanted:
            return DevicePool(*key, is_incomplete=True)
    ordered = tuple(sorted(found, key=lambda one: one.metadata.name))
    names = [device.name for one in ordered for device in one.spec.devices]
    return DevicePool(*key, ordered, is_invalid=len(set(names)) < len(names))


def _needs_binding(pool: DevicePool) -> bool:
    return any(device.binding_conditions for one in pool.slices for device in one.spec.devices)


def _is_for(one: ResourceSlice, node: NodeState) -> bool:
    spec = one.spec
    if spec.shared_counters:
        return True
    if spec.node_name or spec.all_nodes or spec.node_selector is not None:
        return _reaches(node, spec.node_name, spec.all_nodes, spec.node_selector)
    return spec.per_device_node_selection and any(device_is_for(one, device, node) for device in spec.devices)


def _reaches(node: NodeState, name: str, all_nodes: bool, selector: NodeSelector | None) -> bool:
    if name:
        return name == node.name
    return all_nodes or (selector is not None and node_selector(selector).matches(node.labels, node.name))
