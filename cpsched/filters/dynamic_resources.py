"""DynamicResources: the task's resource claims must get devices the node reaches; mirrors `plugins/dynamicresources`.

What other claims hold stays held: evicting a pod frees no device here, as in upstream's dry runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from cpsched.filters.args import Args
from cpsched.filters.contract import SKIPPED, Filter, PreFilterResult
from cpsched.filters.device_allocation import allocation
from cpsched.filters.device_allocator import Allocator, InvalidPoolError
from cpsched.filters.device_request import AllocationError, GivenDevice
from cpsched.filters.devices import DeviceId
from cpsched.filters.extended_resources import existing_claim, is_mappable, requests
from cpsched.filters.state import ClusterState, NodeState
from cpsched.filters.status import SUCCESS, Status, error, unresolvable
from cpsched.instance import Task
from cpsched.objects.devices import DeviceRequest, ResourceClaim
from cpsched.objects.pod import PodResourceClaim
from cpsched.selectors import NodeTerms, node_selector

NAME = "DynamicResources"
NOT_ALLOCATED = unresolvable(NAME, "cannot allocate all claims")
NOT_AVAILABLE = unresolvable(NAME, "resourceclaim not available on the node")
CANNOT_FIT = unresolvable(NAME, "cannot fit resource")
HAS_EXTENDED_CLAIM = unresolvable(NAME, "cannot schedule extended resource claim")


@dataclass
class DynamicResourcesState:
    """Claims with an allocation and where it can be used, claims without, and what was found for them per node."""

    available_on: list[NodeTerms]
    to_allocate: list[ResourceClaim]
    extended: dict[str, int]
    """Extended resources of the pod that a device class could stand for."""
    extended_claim: ResourceClaim | None
    has_claims: bool
    taken: frozenset[DeviceId]
    found_by_node: dict[str, tuple[list[ResourceClaim], list[GivenDevice]]] = field(default_factory=dict)


class _RefusedError(Exception):
    def __init__(self, status: Status):
        self.status = status


def prefilter(task: Task, cluster: ClusterState, args: Args) -> PreFilterResult:
    """Look up the task's claims; skip a task without any."""
    try:
        claims = [c for stated in task.pod.spec.resource_claims if (c := _claim(task, stated, cluster)) is not None]
        extended = _extended(task, cluster) if args.features.dra_extended_resource else {}
        if not claims and not extended:
            return SKIPPED
        held = [claim.status.allocation for claim in claims if claim.status.allocation is not None]
        to_allocate = [claim for claim in claims if claim.status.allocation is None]
        for claim in to_allocate:
            _check_classes(claim, cluster)
    except _RefusedError as refused:
        return PreFilterResult(refused.status)
    available = [node_selector(one.node_selector) for one in held if one.node_selector is not None]
    extended_claim = existing_claim(task.pod, cluster.devices.claims.values()) if extended else None
    taken = cluster.devices.allocated() if to_allocate or extended else frozenset()
    return PreFilterResult(
        state=DynamicResourcesState(available, to_allocate, extended, extended_claim, bool(claims), taken)
    )


def check(state: DynamicResourcesState, task: Task, node: NodeState, cluster: ClusterState) -> Status:
    """Refuse a node on which a claim cannot be used or allocated."""
    claims = list(state.to_allocate)
    if state.extended:
        by_devices = [name for name in state.extended if _by_devices(name, node, cluster)]
        if state.extended_claim is not None and state.extended_claim.spec.devices.requests:
            return HAS_EXTENDED_CLAIM
        if any(name not in by_devices and name not in node.allocatable for name in state.extended):
            return CANNOT_FIT
        if not by_devices and not state.has_claims:
            return SUCCESS
        claims.append(_made_claim(task, requests(task.pod, by_devices, cluster.devices.class_by_resource)))
    if claims:
        try:
            found = Allocator(cluster, node, claims, state.taken).allocate()
        except InvalidPoolError:
            return unresolvable(NAME, "invalid resource pools were encountered")
        except AllocationError as failed:
            return error(NAME, str(failed))
        if found is None:
            return NOT_ALLOCATED
        state.found_by_node[node.name] = (claims, found)
    if not all(terms.matches(node.labels, node.name) for terms in state.available_on):
        return NOT_AVAILABLE
    return SUCCESS


def reserve(state: DynamicResourcesState, task: Task, node: NodeState, cluster: ClusterState) -> Callable[[], None]:
    """Book the devices found at the node, as upstream's in-flight claims do."""
    stored = cluster.devices.claims
    before: list[tuple[str, ResourceClaim | None]] = []
    claims, found = state.found_by_node.get(node.name, ([], []))
    for number, claim in enumerate(claims):
        given = [one for one in found if one.claim == number]
        status = claim.status.model_copy(update={"allocation": allocation(given, node.name)})
        before.append((claim.key, stored.get(claim.key)))
        stored[claim.key] = claim.model_copy(update={"status": status})
    return lambda: _restore(stored, before)


def booked(state: DynamicResourcesState, node: str) -> tuple[tuple[str, str, DeviceId], ...]:
    """What `reserve` books: the devices of each claim's requests."""
    claims, found = state.found_by_node.get(node, ([], []))
    return tuple((claims[one.claim].key, one.request.full_name, one.candidate.id) for one in found)


def _restore(stored: dict[str, ResourceClaim], before: list[tuple[str, ResourceClaim | None]]) -> None:
    for key, claim in reversed(before):
        if claim is None:
            del stored[key]
        else:
            stored[key] = claim


def _claim(task: Task, stated: PodResourceClaim, cluster: ClusterState) -> ResourceClaim | None:
    """The claim behind an entry of the pod; None if its template turned out to need none."""
    name = stated.resource_claim_name
    if not name and not stated.resource_claim_template_name:
        reason = f'pod "{task.pod.key}", spec.resourceClaim "{stated.name}": none of the supported fields are set'
        raise _RefusedError(unresolvable(NAME, reason))
    if not name:
        made = [s for s in task.pod.status.resource_claim_statuses if s.name == stated.name]
        if not made:
            raise _RefusedError(unresolvable(NAME, f'pod "{task.pod.key}": ResourceClaim not created yet'))
        name = made[0].resource_claim_name
        if not name:
            return None
    claim = cluster.devices.claims.get(f"{task.namespace}/{name}")
    if claim is None:
        raise _RefusedError(unresolvable(NAME, f'could not find ResourceClaim "{task.namespace}/{name}"'))
    if claim.metadata.deletion_timestamp is not None:
        raise _RefusedError(unresolvable(NAME, f'resourceclaim "{name}" is being deleted'))
    owners = claim.metadata.owner_references
    if not stated.resource_claim_name and not any(o.controller and o.uid == task.uid for o in owners):
        reason = f"ResourceClaim {claim.key} was not created for Pod {task.pod.key} (Pod is not owner)"
        raise _RefusedError(unresolvable(NAME, reason))
    return claim


def _check_classes(claim: ResourceClaim, cluster: ClusterState) -> None:
    for request in claim.spec.devices.requests:
        for name, wanted in _classes(claim, request):
            if not wanted:
                raise _RefusedError(error(NAME, f"request {name}: unsupported request type"))
            if wanted not in cluster.devices.classes:
                raise _RefusedError(unresolvable(NAME, f"request {name}: device class {wanted} does not exist"))


def _classes(claim: ResourceClaim, request: DeviceRequest) -> list[tuple[str, str]]:
    if request.exactly is not None:
        return [(request.name, request.exactly.device_class_name)]
    if request.first_available:
        return [(f"{request.name}/{sub.name}", sub.device_class_name) for sub in request.first_available]
    if not request.device_class_name:
        reason = f"resource claim {claim.key}, request {request.name}: unknown request type"
        raise _RefusedError(unresolvable(NAME, reason))
    return [(request.name, request.device_class_name)]


def _extended(task: Task, cluster: ClusterState) -> dict[str, int]:
    asked = {name: amount for name, amount in cluster.facts(task).requests.items() if is_mappable(name)}
    return asked if any(name in cluster.devices.class_by_resource for name in asked) else {}


def _by_devices(name: str, node: NodeState, cluster: ClusterState) -> bool:
    return name in cluster.devices.class_by_resource and not node.allocatable.get(name, 0)


def _made_claim(task: Task, asked: list[DeviceRequest]) -> ResourceClaim:
    metadata: dict[str, Any] = {"namespace": task.namespace, "name": f"<extended-resources>{task.name}"}
    claim = ResourceClaim.model_validate({"metadata": metadata})
    devices = claim.spec.devices.model_copy(update={"requests": tuple(asked)})
    return claim.model_copy(update={"spec": claim.spec.model_copy(update={"devices": devices})})


FILTER = Filter(NAME, prefilter, check, reserve=reserve, booked=booked)
