"""Looking into parsed data that may be anything: lists and mappings, or one clear line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cpsched.errors import InputError

Raw = dict[str, Any]


def mapping_at(data: Mapping[str, Any], key: str, file: str, place: str = "") -> Mapping[str, Any]:
    """The mapping under a key; nothing there is an empty one."""
    value = data.get(key)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InputError(f"{key} is no mapping", file=file, place=place)
    return value


def objects_at(data: Mapping[str, Any], key: str, file: str, place: str = "") -> Iterator[tuple[str, Raw]]:
    """(place, object) of the list under a key; nothing there is an empty one."""
    value = data.get(key)
    if not isinstance(value, list | None):
        raise InputError(f"{key} is no list", file=file, place=place)
    for index, item in enumerate(value or ()):
        where = f"{place}.{key}[{index}]" if place else f"{key}[{index}]"
        if not isinstance(item, Mapping):
            raise InputError("no object", file=file, place=where)
        yield where, dict(item)


def text_at(data: Mapping[str, Any], key: str) -> str:
    """The text under a key; anything else is an empty one."""
    value = data.get(key)
    return value if isinstance(value, str) else ""


def annotated(item: Raw, added: Mapping[str, str]) -> Raw:
    """The object with further annotations."""
    metadata = item.get("metadata")
    metadata = dict(metadata) if isinstance(metadata, Mapping) else {}
    stated = metadata.get("annotations")
    metadata["annotations"] = {**(stated if isinstance(stated, Mapping) else {}), **added}
    return {**item, "metadata": metadata}


def of_kind(item: Mapping[str, Any], version: str, kind: str) -> Raw:
    """The object with its apiVersion and kind, which lists within programs leave out."""
    return {**item, "apiVersion": version, "kind": kind}
