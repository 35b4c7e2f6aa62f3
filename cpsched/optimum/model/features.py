"""Features of pods, each as a number: equal specs get equal numbers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from cpsched.objects.pod import PodSpec

_DEFAULTS = {name: field.default for name, field in PodSpec.model_fields.items()}
_NOT_PLACEMENT = ("containers", "init_containers", "resources", "overhead", "priority_class_name", "node_name")
_PLACEMENT = {name: default for name, default in _DEFAULTS.items() if name not in _NOT_PLACEMENT}
_INTERACTION = {
    name: _DEFAULTS[name] for name in ("affinity", "topology_spread_constraints", "volumes", "resource_claims")
}


class FeatureIds:
    """Numbers for features of the tasks of one instance; a spec or vector that many share is read once."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self.private: set[int] = set()
        """Placement features with volumes or claims in them, which no two pods share."""
        self._placement: dict[int, int] = {}
        self._interaction: dict[int, int] = {}
        self._requests: dict[int, int] = {}
        self._read: list[object] = []
        """What was read stays, or another object might come to be where it was."""

    def placement(self, spec: PodSpec) -> int:
        """Placement constraints: where a pod may run, and beside which pods."""
        number = self._placement.get(id(spec))
        if number is None:
            number = self._placement[id(spec)] = self._number(spec, (_stated(spec, _PLACEMENT), _ports(spec)))
            if spec.volumes or spec.resource_claims:
                self.private.add(number)
        return number

    def interaction(self, spec: PodSpec) -> int:
        """What other pods see of a running one: its priority, and its affinity, ports and volumes."""
        number = self._interaction.get(id(spec))
        if number is None:
            rank = (spec.priority or 0, spec.priority_class_name)
            features = (rank, _stated(spec, _INTERACTION), _ports(spec))
            number = self._interaction[id(spec)] = self._number(spec, features)
        return number

    def requests(self, vector: Mapping[str, int]) -> int:
        """What a task requests."""
        number = self._requests.get(id(vector))
        if number is None:
            number = self._requests[id(vector)] = self._number(vector, sorted_items(vector))
        return number

    def _number(self, source: object, features: Hashable) -> int:
        self._read.append(source)
        return self._numbers.setdefault(features, len(self._numbers))


def sorted_items(vector: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    """The same for vectors that are equal."""
    return tuple(sorted(vector.items()))


def _stated(spec: PodSpec, fields: dict[str, Any]) -> Hashable:
    """The values of these fields beyond their defaults; as text where they are more than a word or a number."""
    values = spec.__dict__
    features = [name for name, default in fields.items() if values[name] is not default and values[name] != default]
    if not features:
        return ()
    words = tuple((name, values[name]) for name in features if isinstance(values[name], str | int))
    rest = {name for name in features if not isinstance(values[name], str | int)}
    return (words, spec.model_dump_json(include=rest)) if rest else words


def _ports(spec: PodSpec) -> tuple[str, ...]:
    """The ports of all that keeps running, sidecars as well."""
    running = (*(one for one in spec.init_containers if one.is_sidecar), *spec.containers)
    return tuple([port.model_dump_json() for container in running for port in container.ports])
