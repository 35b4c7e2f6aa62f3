"""Which fields of an object nothing here reads: found by walking the object along its shape."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel

_EVERYWHERE = {"apiVersion", "kind"}
_NO_BEARING = {
    "metadata": {
        "managedFields",
        "generation",
        "selfLink",
        "generateName",
        "finalizers",
        "deletionGracePeriodSeconds",
    }
}
"""Fields that cannot bear on a scheduling decision; they are not worth a line in the report."""


def unread_fields(raw: Mapping[str, Any], shape: type[BaseModel], path: str) -> Iterator[str]:
    """Paths such as `Pod.spec.dnsPolicy`, once per occurrence."""
    fields = {info.alias or name: info.annotation for name, info in shape.model_fields.items()}
    silent = _EVERYWHERE | _NO_BEARING.get(path.rpartition(".")[2], set())
    for key, value in raw.items():
        if key not in fields:
            if key not in silent and value is not None:
                yield f"{path}.{key}"
            continue
        inner = _shape_within(fields[key])
        if inner is None:
            continue
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, Mapping):
                yield from unread_fields(item, inner, f"{path}.{key}")


def _shape_within(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if get_origin(annotation) in (Union, types.UnionType, tuple) or hasattr(annotation, "__metadata__"):
        for part in get_args(annotation):
            if (inner := _shape_within(part)) is not None:
                return inner
    return None
