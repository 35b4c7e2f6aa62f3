"""Members of HyperNodes by the names of nodes: a pattern would not match pseudonyms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cpsched.capture.fields import Raw
from cpsched.topology.regex import compiled


def by_exact_names(items: list[Raw]) -> list[Raw]:
    """The objects, with an exact member for each node that a pattern matches."""
    nodes = [str(item["metadata"].get("name")) for item in items if item.get("kind") == "Node"]
    return [_with_names(item, nodes) if item.get("kind") == "HyperNode" else item for item in items]


def _with_names(item: Raw, nodes: list[str]) -> Raw:
    spec = item.get("spec") or {}
    members = [one for member in spec.get("members") or () for one in _members(member, nodes)]
    return {**item, "spec": {**spec, "members": members}}


def _members(member: Mapping[str, Any], nodes: list[str]) -> Iterator[Any]:
    selector = member.get("selector") or {}
    if member.get("type") != "Node" or not selector.get("regexMatch"):
        yield member
        return
    pattern = compiled(str(selector["regexMatch"].get("pattern") or ""))
    if pattern is None:
        # Such a pattern empties the member, and so does an empty name.
        yield {**member, "selector": {"exactMatch": {"name": ""}}}
        return
    others = {key: value for key, value in selector.items() if key != "regexMatch"}
    if others:
        yield {**member, "selector": others}
    for name in nodes:
        if pattern.found_in(name):
            yield {**member, "selector": {"exactMatch": {"name": name}}}
