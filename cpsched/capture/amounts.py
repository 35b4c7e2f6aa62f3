"""Fields that hold amounts, times or words of the API, derived from the shapes that read them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from cpsched.capture.kinds import TAKEN


@cache
def amounts() -> frozenset[str]:
    """Names of fields that map names of resources to amounts."""
    return frozenset(name for name, one in _fields() if _is_amount(one.get("additionalProperties")))


@cache
def plain() -> frozenset[str]:
    """Names of fields with one amount, one time, or one of a few words."""
    return frozenset(
        name for name, one in _fields() if _is_quantity(one) or one.get("format") == "date-time" or "enum" in one
    )


@cache
def texts() -> frozenset[str]:
    """Names of all fields with any text or texts, or with texts by name."""
    return frozenset(name for name, one in _fields() if _is_text(one))


def _is_quantity(schema: Any) -> bool:
    return isinstance(schema, dict) and schema.get("title") == "Quantity"


def _is_amount(schema: Any) -> bool:
    """The schema of a mapping's values has no title."""
    return isinstance(schema, dict) and schema.get("type") == ["string", "number"]


def _is_text(schema: Any) -> bool:
    if not isinstance(schema, dict) or _is_quantity(schema) or "enum" in schema or "format" in schema:
        return False
    return schema.get("type") == "string" or any(_is_text(schema.get(k)) for k in ("items", "additionalProperties"))


def _fields() -> Iterator[tuple[str, dict[str, Any]]]:
    for shape in {shape for shapes in TAKEN.values() for shape in shapes}:
        schema = shape.model_json_schema()
        for part in (schema, *schema.get("$defs", {}).values()):
            for name, field in part.get("properties", {}).items():
                for one in (field, *field.get("anyOf", ())):
                    yield name, one
