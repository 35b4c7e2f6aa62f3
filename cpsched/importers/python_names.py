"""Objects as Kubernetes' Python client writes them by `to_dict()`: `node_name` for `nodeName`, times with a space."""

from __future__ import annotations

import collections.abc
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from cpsched.importers.raw import Raw
from cpsched.objects import KINDS
from cpsched.workloads.registry import WORKLOADS

_MARKS = frozenset(
    {
        "creation_timestamp",
        "deletion_grace_period_seconds",
        "deletion_timestamp",
        "generate_name",
        "managed_fields",
        "owner_references",
        "resource_version",
        "self_link",
    }
)
"""Names in metadata by which such an object is known; the client writes all of them, those without a value too."""
_SELECTOR = frozenset({"match_labels", "match_expressions"})
_TIME = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)(Z|[+-]\d\d:\d\d)?", re.ASCII)


def is_of_client(raw: Any) -> bool:
    """Whether the object's fields are spelt as the Python client spells them."""
    metadata = raw.get("metadata") if isinstance(raw, Mapping) else None
    return isinstance(metadata, Mapping) and not _MARKS.isdisjoint(metadata)


def as_of_server(raw: Raw) -> Raw:
    """The object as the API server spells it, as far as anything here reads it."""
    found: Raw = _respelt(raw)
    version = raw.get("api_version")
    return {**found, "apiVersion": version} if version and not found.get("apiVersion") else found


def _respelt(value: Any) -> Any:
    if isinstance(value, Mapping):
        names, maps = _names()
        named = ((str(names.get(key, key)), item) for key, item in value.items())
        return {name: item if _is_the_users(name, item, maps) else _respelt(item) for name, item in named}
    if isinstance(value, list):
        return [_respelt(item) for item in value]
    if isinstance(value, str) and (time := _TIME.fullmatch(value)):
        return f"{time[1]}T{time[2]}{time[3] or 'Z'}"
    return value


def _is_the_users(name: str, value: Any, maps: frozenset[str]) -> bool:
    """Whether the keys of a field are labels or resources; a selector is a mapping of labels only in old kinds."""
    return name in maps and isinstance(value, Mapping) and _SELECTOR.isdisjoint(value)


@cache
def _names() -> tuple[dict[str, str], frozenset[str]]:
    """The client's name of every field that is read, with the API's; and the fields whose keys are the user's own."""
    fields = [
        (field.alias or name, field.annotation) for shape in _shapes() for name, field in shape.model_fields.items()
    ]
    names = {_by_client(alias): alias for alias, _ in fields}
    return names, frozenset(alias for alias, kind in fields if any(map(_is_map, (kind, *get_args(kind)))))


def _is_map(kind: Any) -> bool:
    return get_origin(kind) in (dict, collections.abc.Mapping)


def _shapes() -> set[type[BaseModel]]:
    """Of every kind that is read, and of its parts."""
    found: set[type[BaseModel]] = set()
    waiting: list[Any] = [*KINDS.values(), *(workload.shape for workload in WORKLOADS.values())]
    while waiting:
        kind = waiting.pop()
        waiting += get_args(kind)
        if isinstance(kind, type) and issubclass(kind, BaseModel) and kind not in found:
            found.add(kind)
            waiting += [field.annotation for field in kind.model_fields.values()]
    return found


def _by_client(name: str) -> str:
    """As the client's generator writes it: `podIPs` is `pod_i_ps`."""
    name = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower()
