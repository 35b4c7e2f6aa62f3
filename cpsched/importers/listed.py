"""The objects in a document: a List, lists in lists, an array, objects under keys, or one object, with their places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cpsched.complaints import named
from cpsched.errors import InputError
from cpsched.importers.kubernetes import no_object
from cpsched.importers.stripped import Kind, kind_of, names_a_kind
from cpsched.objects import KINDS
from cpsched.parsing import Document

MOST_KEYS_DEEP = 4
"""Levels of keys above the objects: {"cluster": {"namespaces": {"default": {"pods": [...]}}}} has as many."""
_LISTS = frozenset({"List", *(f"{kind}List" for _, kind in KINDS)})


def objects_in(document: Document, *, strict: bool = True) -> Iterator[tuple[str, Any]]:
    """(place, raw object) of a document: a List, a typed list such as PodList, an array of either, or one object.

    A List whose items are no array is an InputError in place of an object. Unless `strict`, objects and lists that do
    not say what they are, are what their file is called, and an array without any object is one such error.
    """
    file, data = document
    if isinstance(data, list):
        return _items(data, "", file, {}, strict)
    return _objects(_with_kind(data, file, {}, strict), "", file, strict)


def _objects(data: Any, place: str, file: str, strict: bool) -> Iterator[tuple[str, Any]]:
    if isinstance(data, Mapping) and data.get("kind") == "Table" and isinstance(data.get("rows"), list):
        # What the API server gives to those who ask for columns; a row may hold its whole object.
        rows = [row.get("object") for row in data["rows"] if isinstance(row, Mapping)]
        yield from ((f"{place}.rows[{at}].object".removeprefix("."), one) for at, one in enumerate(rows) if one)
        return
    if not isinstance(data, Mapping) or not _is_list(data, strict):
        keyed = [] if strict else list(_under_keys(data, place, file, MOST_KEYS_DEEP))
        yield from (
            keyed
            if any(_may_be_object(one) for _, one in keyed)
            else [(place, _watched(data, file) if not strict else data)]
        )
        return
    items = data.get("items")
    place = f"{place}.items" if place else "items"
    if not isinstance(items, list | None):
        right = "a List holds an array of objects"
        yield place, InputError(f"items is {named(items)}", file=file, place=place, right=right)
        return
    yield from _items(items or [], place, file, _of_items(data), strict)


def _items(
    items: list[Any], place: str, file: str, default: Mapping[str, Any], strict: bool
) -> Iterator[tuple[str, Any]]:
    complete = [_with_kind(item, file, default, strict) for item in items]
    if items and not strict and not any(map(_may_be_object, complete)):
        keyed = [list(_under_keys(item, f"{place}[{at}]", file, MOST_KEYS_DEEP)) for at, item in enumerate(complete)]
        found = [one for each in keyed for one in each]
        yield from (
            found
            if any(_may_be_object(one) for _, one in found)
            else [(place, no_object(complete[0], file, f"{place}[0]"))]
        )
        return
    for index, item in enumerate(complete):
        yield from _objects(item, f"{place}[{index}]", file, strict)


def _under_keys(data: Any, place: str, file: str, deep: int) -> Iterator[tuple[str, Any]]:
    """What stands under keys in a document that is no object: objects by name or path, lists under `pods`, `nodes`."""
    if not isinstance(data, Mapping) or data.get("kind") or "metadata" in data:
        return
    for key, value in data.items():
        here = f"{place}.{key}".removeprefix(".")
        values = value.get("items") if isinstance(value, Mapping) and not value.get("kind") else value
        if isinstance(values, list) and (names_a_kind(str(key)) or any(map(_is_object, values))):
            yield from _items(values, here, file, _of_key(values, str(key)), strict=False)
        elif _is_object(value):
            yield from _objects(value, here, file, strict=False)
        elif deep > 1:
            yield from _under_keys(value, here, file, deep - 1)


def _of_key(values: list[Any], key: str) -> Mapping[str, Any]:
    """What the values under a key are, if they do not say it themselves, as the first one shows."""
    known = next((kind_of(one, key) for one in values if isinstance(one, Mapping)), None)
    return {} if known is None else {"apiVersion": _api_version(known), "kind": known[1]}


def _api_version(kind: Kind) -> str:
    return f"{kind[0]}/v1" if kind[0] else "v1"


def _watched(data: Any, file: str) -> Any:
    """The object of an event as `kubectl get --watch --output-watch-events` prints it; anything else as it is."""
    is_event = isinstance(data, Mapping) and not data.get("kind") and data.get("type") in ("ADDED", "MODIFIED")
    return _with_kind(data["object"], file, {}, strict=False) if is_event and "object" in data else data


def _may_be_object(item: Any) -> bool:
    return isinstance(item, Mapping) and (bool(item.get("kind")) or _is_list(item, strict=False))


def _is_object(item: Any) -> bool:
    return isinstance(item, Mapping) and bool(item.get("kind")) and isinstance(item.get("metadata"), Mapping)


def _is_list(data: Mapping[str, Any], strict: bool) -> bool:
    kind = data.get("kind")
    if not kind:
        return not strict and isinstance(data.get("items"), list)
    return isinstance(kind, str) and kind.endswith("List") and ("items" in data or kind in _LISTS)


def _of_items(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the items of a typed list are."""
    kind = str(data.get("kind") or "").removesuffix("List")
    version = data.get("apiVersion") or data.get("api_version") or "v1"
    return {"apiVersion": version, "kind": kind} if kind else {}


def _with_kind(item: Any, file: str, default: Mapping[str, Any], strict: bool) -> Any:
    """The object with the kind that its list or its file gives it, if it has none itself."""
    if not isinstance(item, Mapping) or item.get("kind") or _is_list(item, strict):
        return item
    if not default and not strict and (known := kind_of(item, file)) is not None:
        default = {"apiVersion": _api_version(known), "kind": known[1]}
    return {**item, **default}
