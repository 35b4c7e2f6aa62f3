"""Find devices on a node for claims; mirrors `structured/internal/incubating/allocator_incubating.go`.

Depth first, requests in order, devices in pool order: the first complete allocation is the one upstream finds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property

from cpsched.errors import InputError
from cpsched.filters import devices
from cpsched.filters.cel_errors import CelError
from cpsched.filters.device_constraints import AllocatorConstraint, constraint
from cpsched.filters.device_pools import device_is_for, gather_pools
from cpsched.filters.device_request import (
    AllocationError,
    AllocatorRequest,
    DeviceCandidate,
    GivenDevice,
    parsed_requests,
)
from cpsched.filters.device_selection import Selections
from cpsched.filters.devices import DeviceId
from cpsched.filters.state import ClusterState, NodeState
from cpsched.objects.devices import Device, ExactRequest, ResourceClaim
from cpsched.objects.node import Taint
from cpsched.selectors import tolerates

LARGEST_CLAIM = 32
MOST_LOOKS = 1_000_000
"""So many times a device is looked at on one node: some seconds. Upstream stops after ten seconds; a count keeps the
answer the same on every machine."""


class InvalidPoolError(Exception):
    """Nothing found, and some pool is broken."""


class Allocator:
    """One search on one node."""

    def __init__(
        self, cluster: ClusterState, node: NodeState, claims: Sequence[ResourceClaim], taken: Collection[DeviceId]
    ):
        self._cluster, self._node, self._claims, self._taken = cluster, node, claims, taken
        self._pools = gather_pools(cluster.devices, node)
        self._requests = [
            [[self._with_all(claim, one) for one in alternatives] for alternatives in parsed_requests(claim)]
            for claim in claims
        ]
        self._check_sizes()
        self._constraints = [[constraint(stated) for stated in claim.spec.devices.constraints] for claim in claims]
        self._given: list[GivenDevice] = []
        self._looks = 0

    def allocate(self) -> list[GivenDevice] | None:
        """Devices for every claim, or None."""
        if self._next_claim(0):
            return self._given
        if any(pool.is_invalid for pool in self._pools):
            raise InvalidPoolError
        return None

    def wishes(self, claim: int) -> list[tuple[int, list[DeviceCandidate]]]:
        """Per request that takes devices for its claim alone: at least how many, and the free ones that would do."""
        found = []
        for alternatives in self._requests[claim]:
            if not any(request.asked.admin_access for request in alternatives):
                ways = [(request.count, self._suitable(claim, request)) for request in alternatives]
                possible = [(count, fit) for count, fit in ways if 0 < count <= len(fit)]
                candidates = {one.id: one for _, fit in possible for one in fit}
                found.append((min((count for count, _ in possible), default=1), list(candidates.values())))
        return found

    def _suitable(self, claim: int, request: AllocatorRequest) -> list[DeviceCandidate]:
        all_there_are = self._candidates() if request.all_devices is None else request.all_devices
        free = (c for c in all_there_are if c.id not in self._taken and not _tainted(c.device, request.asked))
        return [candidate for candidate in free if self._selectable(claim, request, candidate)]

    def _next_claim(self, claim: int) -> bool:
        return claim == len(self._claims) or self._next_request(claim, 0)

    def _next_request(self, claim: int, number: int) -> bool:
        if number == len(self._requests[claim]):
            return self._next_claim(claim + 1)
        held = sum(given.claim == claim for given in self._given)
        for request in self._requests[claim][number]:
            fits = request.all_devices != () and held + request.count <= LARGEST_CLAIM
            if fits and self._next_device(claim, number, request, 0, 0):
                return True
        return False

    def _next_device(self, claim: int, number: int, request: AllocatorRequest, done: int, start: int) -> bool:
        """Give the request its remaining devices, from the candidate at `start` on, then go to the next request."""
        if done == request.count:
            return self._next_request(claim, number + 1)
        self._look()
        if request.all_devices is not None:
            return self._take(claim, number, request, done, request.all_devices[done], 0)
        for place in range(start, len(self._every_candidate)):
            self._look()
            candidate = self._every_candidate[place]
            if self._in_use(claim, request, candidate.id):
                continue
            selectable = self._selectable(claim, request, candidate)
            if selectable and self._take(claim, number, request, done, candidate, place + 1):
                return True
        return False

    def _look(self) -> None:
        self._looks += 1
        if self._looks > MOST_LOOKS:
            raise AllocationError(f"node {self._node.name}: timed out trying to allocate devices")

    @cached_property
    def _every_candidate(self) -> list[DeviceCandidate]:
        return list(self._candidates())

    def _take(
        self, claim: int, number: int, request: AllocatorRequest, done: int, candidate: DeviceCandidate, start: int
    ) -> bool:
        if self._in_use(claim, request, candidate.id) or _tainted(candidate.device, request.asked):
            return False
        joined = self._join(claim, request, candidate)
        if joined is None:
            return False
        self._given.append(GivenDevice(claim, request, candidate))
        if self._next_device(claim, number, request, done + 1, start):
            return True
        self._given.pop()
        _leave(joined, request)
        return False

    def _join(
        self, claim: int, request: AllocatorRequest, candidate: DeviceCandidate
    ) -> list[AllocatorConstraint] | None:
        """Enter the device into the claim's constraints; None if one objects."""
        joined: list[AllocatorConstraint] = []
        for one in self._constraints[claim]:
            if not one.add(request.name, request.alternative, candidate.device, candidate.id):
                _leave(joined, request)
                if request.all_devices is None:
                    return None
                device, why = "/".join(candidate.id), "because a claim constraint would not be satisfied"
                shown = f"claim {self._claims[claim].key}, request {request.short_name}"
                raise AllocationError(f"{shown}: cannot add device {device} {why}")
            joined.append(one)
        return joined

    def _in_use(self, claim: int, request: AllocatorRequest, device: DeviceId) -> bool:
        """A device serves one claim; with admin access it serves any claim, but one claim only once."""
        same = [given for given in self._given if given.candidate.id == device]
        if request.asked.admin_access:
            return any(given.claim == claim for given in same)
        return device in self._taken or bool(same)

    def _with_all(self, claim: ResourceClaim, request: AllocatorRequest) -> AllocatorRequest:
        """The request, with its devices if it wants all there are."""
        device_class = self._cluster.devices.classes[request.asked.device_class_name]
        request = request.of_class(device_class)
        mode = request.asked.allocation_mode or "ExactCount"
        if mode == "ExactCount":
            return request
        shown = f"claim {claim.key}, request {request.short_name}"
        if mode != "All":
            raise AllocationError(f"{shown}: unsupported count mode {mode}")
        for pool in self._pools:
            if pool.is_incomplete or pool.is_invalid:
                state = "being updated" if pool.is_incomplete else "invalid"
                raise AllocationError(
                    f"{shown}: asks for all devices, but resource pool {pool.key} is currently {state}"
                )
        number = self._claims.index(claim)
        return request.with_all(tuple(c for c in self._candidates() if self._selectable(number, request, c)))

    def _check_sizes(self) -> None:
        for claim, requests in zip(self._claims, self._requests, strict=True):
            least = sum(min(one.count for one in alternatives) for alternatives in requests)
            if least > LARGEST_CLAIM:
                text = f"number of requested devices {least} exceeds the claim limit of {LARGEST_CLAIM}"
                raise AllocationError(f"claim {claim.key}: {text}")

    def _candidates(self) -> Iterator[DeviceCandidate]:
        for pool in self._pools:
            if not pool.is_incomplete and not pool.is_invalid:
                for one in pool.slices:
                    for device in one.spec.devices:
                        yield DeviceCandidate(DeviceId(pool.driver, pool.name, device.name), device, one)

    def _selectable(self, claim: int, request: AllocatorRequest, candidate: DeviceCandidate) -> bool:
        """Whether class and request select the device, and the node reaches it."""
        expressions = (request.class_expressions, request.expressions)
        key = ("selected", candidate.slice.metadata.name, candidate.id, expressions)
        memo = self._cluster.memo
        if key not in memo:
            owners = (f"class {request.asked.device_class_name}", f"claim {self._claims[claim].key}")
            known = Selections.of(self._cluster.instance)
            memo[key] = all(_meets(known, candidate, *one) for one in zip(owners, expressions, strict=True))
        if not memo[key] or not device_is_for(candidate.slice, candidate.device, self._node):
            return False
        _check_understood(candidate)
        return True


def _meets(known: Selections, candidate: DeviceCandidate, owner: str, expressions: tuple[str, ...]) -> bool:
    for number, expression in enumerate(expressions):
        try:
            if not known.matches(expression, candidate.id.driver, candidate.device):
                return False
        except CelError as failed:
            raise AllocationError(f"{owner}: selector #{number}: CEL runtime error: {failed}") from None
        except InputError as refused:
            raise refused.within(place=owner) from None
    return True


def _leave(joined: list[AllocatorConstraint], request: AllocatorRequest) -> None:
    for one in reversed(joined):
        one.remove(request.name, request.alternative)


def _check_understood(candidate: DeviceCandidate) -> None:
    device = "/".join(candidate.id)
    if candidate.device.consumes_counters:
        raise InputError(f"device {device} consumes shared counters", right="partitionable devices are not understood")
    if candidate.device.allow_multiple_allocations:
        raise InputError(f"device {device} can be shared", right="consumable capacity is not understood")


def _tainted(device: Device, asked: ExactRequest) -> bool:
    for taint in devices.taints(device):
        if taint.effect in ("NoSchedule", "NoExecute"):
            mark = Taint.model_validate({"key": taint.key, "value": taint.value, "effect": taint.effect})
            if not any(tolerates(toleration, mark) for toleration in asked.tolerations):
                return True
    return False
