"""Objects that say only how their names begin, as manifests for `kubectl create` do: they get numbered names."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from cpsched.importers.kubernetes import Found
from cpsched.importers.raw import Raw, text_at
from cpsched.objects import CLUSTER_WIDE
from cpsched.workloads.expand import Given

Taken = set[tuple[str, str]]
"""Kind and namespace/name of objects that have a name."""


def is_unnamed(raw: Any) -> bool:
    """Whether the API server would draw the end of its name."""
    metadata = raw.get("metadata") if isinstance(raw, Mapping) else None
    if not isinstance(metadata, Mapping) or not isinstance(raw.get("kind"), str):
        return False
    return not metadata.get("name") and bool(text_at(metadata, "generateName"))


def taken_by(found: Iterable[Found], workloads: Iterable[Given]) -> Taken:
    """The names that these have."""
    return {(item.kind, item.object.key) for item in found} | {(one.kind, one.name) for one in workloads}


def named(raw: Raw, taken: Taken) -> Raw:
    """The object with the first number that makes a name of its own; the API server draws letters."""
    kind, metadata = raw["kind"], raw["metadata"]
    prefix = text_at(metadata, "generateName")
    place = "" if kind in CLUSTER_WIDE else f"{text_at(metadata, 'namespace') or 'default'}/"
    names = (f"{prefix}{number}" for number in itertools.count())
    name = next(name for name in names if (kind, f"{place}{name}") not in taken)
    taken.add((kind, f"{place}{name}"))
    return {**raw, "metadata": {**metadata, "name": name}}
