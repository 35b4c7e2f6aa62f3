"""Constraints between the devices of a claim; mirrors `structured/internal/incubating/constraint.go`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cpsched.filters import devices
from cpsched.filters.devices import DeviceId
from cpsched.objects.devices import Device, DeviceConstraint

Value = tuple[str, Any]


@dataclass
class AllocatorConstraint:
    """All devices of some requests agree in an attribute, or differ in it."""

    requests: frozenset[str]
    attribute: str
    distinct: bool
    values: list[Value] = field(default_factory=list)
    last_by_request: dict[str, Value] = field(default_factory=dict)

    def add(self, request: str, alternative: str, device: Device, device_id: DeviceId) -> bool:
        """Whether the device may join; it has then joined."""
        if not self._applies(request, alternative):
            return True
        value = _value(device, device_id, self.attribute)
        if value is None:
            return False
        if self.values and self._clashes(value):
            return False
        self.values.append(value)
        self.last_by_request[request] = value
        return True

    def remove(self, request: str, alternative: str) -> None:
        """Take the last device of the request out again."""
        if self._applies(request, alternative):
            self.values.pop()
            self.last_by_request.pop(request, None)

    def _applies(self, request: str, alternative: str) -> bool:
        names = {request, f"{request}/{alternative}"} if alternative else {request}
        return not self.requests or not names.isdisjoint(self.requests)

    def _clashes(self, value: Value) -> bool:
        if not self.distinct:
            return value != self.values[0]
        # Upstream remembers one device per request, so devices of one request are not distinguished.
        return value in self.last_by_request.values()


def constraint(stated: DeviceConstraint) -> AllocatorConstraint:
    """The constraint, with nothing joined yet."""
    distinct = not stated.match_attribute
    name = stated.distinct_attribute if distinct else stated.match_attribute
    return AllocatorConstraint(frozenset(stated.requests), name, distinct)


def _value(device: Device, device_id: DeviceId, name: str) -> Value | None:
    """The attribute with its type; a name in the driver's own domain may be stated without it."""
    stated: Mapping[str, Any] | None = devices.attributes(device).get(name)
    domain, slash, identifier = name.partition("/")
    if stated is None and slash and domain == device_id.driver:
        stated = devices.attributes(device).get(identifier)
    if stated is None:
        return None
    return next(
        ((kind, stated[kind]) for kind in ("string", "int", "bool", "version") if stated.get(kind) is not None), None
    )
