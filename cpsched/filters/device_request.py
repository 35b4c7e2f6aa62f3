"""What a claim asks for, alternative by alternative, and what it is given."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cpsched.errors import InputError
from cpsched.filters.devices import DeviceId
from cpsched.objects.devices import Device, DeviceClass, DeviceSelector, ExactRequest, ResourceClaim, ResourceSlice


class AllocationError(Exception):
    """Upstream would give the attempt up with this text."""


@dataclass(frozen=True)
class DeviceCandidate:
    """A device of a slice for the node."""

    id: DeviceId
    device: Device
    slice: ResourceSlice


@dataclass(frozen=True)
class AllocatorRequest:
    """A request, or one of its alternatives; `all_devices` is None unless it wants every device there is."""

    name: str
    alternative: str
    asked: ExactRequest
    expressions: tuple[str, ...]
    class_expressions: tuple[str, ...] = ()
    all_devices: tuple[DeviceCandidate, ...] | None = None

    @property
    def count(self) -> int:
        """How many devices; an absent count is one, as the API server fills in."""
        return (self.asked.count or 1) if self.all_devices is None else len(self.all_devices)

    @property
    def short_name(self) -> str:
        """How messages name it."""
        return self.alternative or self.name

    @property
    def full_name(self) -> str:
        """How results name it."""
        return f"{self.name}/{self.alternative}" if self.alternative else self.name

    def of_class(self, device_class: DeviceClass) -> AllocatorRequest:
        """The request with its class's selectors."""
        return replace(self, class_expressions=_expressions(device_class.spec.selectors, device_class.key))

    def with_all(self, found: tuple[DeviceCandidate, ...]) -> AllocatorRequest:
        """The request with all devices it wants."""
        return replace(self, all_devices=found)


@dataclass(frozen=True)
class GivenDevice:
    """A device given to a request of a claim."""

    claim: int
    request: AllocatorRequest
    candidate: DeviceCandidate


def parsed_requests(claim: ResourceClaim) -> list[list[AllocatorRequest]]:
    """For each request its alternatives in order of preference; most have one."""
    parsed = []
    for stated in claim.spec.devices.requests:
        if stated.first_available:
            parsed.append([_parsed(claim, stated.name, sub.name, sub) for sub in stated.first_available])
        else:
            # v1beta1 states the fields of `exactly` inline.
            parsed.append([_parsed(claim, stated.name, "", stated.exactly or stated)])
    return parsed


def _parsed(claim: ResourceClaim, name: str, alternative: str, asked: ExactRequest) -> AllocatorRequest:
    if asked.capacity is not None and asked.capacity.requests:
        wrong = f"claim {claim.key} asks for a share of a device"
        raise InputError(wrong, right="consumable capacity is not understood")
    shown = f"claim {claim.key}, request {alternative or name}"
    return AllocatorRequest(name, alternative, asked, _expressions(asked.selectors, shown))


def _expressions(selectors: tuple[DeviceSelector, ...], owner: str) -> tuple[str, ...]:
    for number, selector in enumerate(selectors):
        if selector.cel is None:
            text = f"selector #{number}: CEL expression empty (unsupported selector type?)"
            raise AllocationError(f"{owner}, {text}")
    return tuple(selector.cel.expression for selector in selectors if selector.cel is not None)
