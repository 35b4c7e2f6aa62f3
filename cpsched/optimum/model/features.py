"""What pods say, each in a number: the same for all that say the same."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from cpsched.objects.pod import PodSpec

_DEFAULTS = {name: field.default for name, field in PodSpec.model_fields.items()}
_NOT_WISHES = ("containers", "init_containers", "resources", "overhead", "priority_class_name", "node_name")
_WISHES = {name: default for name, default in _DEFAULTS.items() if name not in _NOT_WISHES}
_NEIGHBOURHOOD = {
    name: _DEFAULTS[name] for name in ("affinity", "topology_spread_constraints", "volumes", "resource_claims")
}


class FeatureIds:
    """Numbers for what tasks of one instance say; many share a spec or a vector, and what is shared is read once."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self.private: set[int] = set()
        """Wishes with volumes or claims in them, which no two pods share."""
        self._wishes: dict[int, int] = {}
        self._company: dict[int, int] = {}
        self._asked: dict[int, int] = {}
        self._read: list[object] = []
        """What was read stays, or another object might come to be where it was."""

    def wishes(self, spec: PodSpec) -> int:
        """Where a pod may be, and whom it minds there."""
        number = self._wishes.get(id(spec))
        if number is None:
            number = self._wishes[id(spec)] = self._number(spec, (_stated(spec, _WISHES), _ports(spec)))
            if spec.volumes or spec.resource_claims:
                self.private.add(number)
        return number

    def company(self, spec: PodSpec) -> int:
        """What a pod is to others once it runs: how important, and whom it keeps away or draws near."""
        number = self._company.get(id(spec))
        if number is None:
            rank = (spec.priority or 0, spec.priority_class_name)
            said = (rank, _stated(spec, _NEIGHBOURHOOD), _ports(spec))
            number = self._company[id(spec)] = self._number(spec, said)
        return number

    def asked(self, requests: Mapping[str, int]) -> int:
        """What a task asks for."""
        number = self._asked.get(id(requests))
        if number is None:
            number = self._asked[id(requests)] = self._number(requests, sorted_items(requests))
        return number

    def _number(self, source: object, said: Hashable) -> int:
        self._read.append(source)
        return self._numbers.setdefault(said, len(self._numbers))


def sorted_items(vector: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    """The same for vectors that are equal."""
    return tuple(sorted(vector.items()))


def _stated(spec: PodSpec, fields: dict[str, Any]) -> Hashable:
    """What the pod says in these fields, beyond their defaults: a text for all that is more than a word or a number."""
    values = spec.__dict__
    said = [name for name, default in fields.items() if values[name] is not default and values[name] != default]
    if not said:
        return ()
    words = tuple((name, values[name]) for name in said if isinstance(values[name], str | int))
    rest = {name for name in said if not isinstance(values[name], str | int)}
    return (words, spec.model_dump_json(include=rest)) if rest else words


def _ports(spec: PodSpec) -> tuple[str, ...]:
    """The ports of all that keeps running, sidecars as well."""
    running = (*(one for one in spec.init_containers if one.is_sidecar), *spec.containers)
    return tuple([port.model_dump_json() for container in running for port in container.ports])
