"""Kubernetes objects: from parsed documents to validated shapes, with a count of what was not understood."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from pydantic import ValidationError

from cpsched.aside import Aside
from cpsched.complaints import complaint, named
from cpsched.errors import InputError
from cpsched.importers.gaps import Gaps
from cpsched.importers.raw import text_at
from cpsched.importers.unread import unread_fields
from cpsched.objects import CLUSTER_WIDE, FORMER_GROUPS, KINDS, UNREAD_VERSIONS
from cpsched.objects.base import Object, Shape
from cpsched.objects.event import FAILED, Event
from cpsched.objects.storage import StorageClass

Known = dict[tuple[type[Shape], str], Shape]
"""Every spec and status that was read, by how it is written."""


@dataclass
class ReadReport:
    """What an import understood and what it left aside."""

    read: Counter[str] = field(default_factory=Counter)
    other_kinds: Counter[str] = field(default_factory=Counter)
    unread: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    """What another program's snapshot says that was read with a change."""
    aside: Aside = field(default_factory=Aside)
    """Files and objects that could not be read, and what else was set aside on the way to the objects."""
    gaps: Gaps = field(default_factory=lambda: Gaps(tolerant=True))
    """References that lead nowhere."""
    format: str = "kubernetes"
    count_fields: bool = False
    known: Known = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Found:
    """One object with the place it came from."""

    kind: str
    object: Object
    file: str
    place: str
    uid: str = ""
    """As given; the object's own may be made up."""
    version: int = 0
    """Its resourceVersion: of two states of an object, the newer one has the higher."""
    by_hand: bool = False
    """Whether a compact job made it: there a name that leads nowhere is a slip, in a cluster it is usual."""

    def error(self, wrong: str, right: str | None = None) -> InputError:
        """What is wrong with it, with its place."""
        return InputError(wrong, file=self.file, place=self.place, right=right)


def no_object(raw: Any, file: str, place: str) -> InputError | None:
    """Why this is no object of any kind; None if it is one."""
    if isinstance(raw, InputError):
        return raw
    if not isinstance(raw, Mapping):
        return InputError(f"{named(raw)} where an object was expected", file=file, place=place, right=EXPECTED)
    if not isinstance(raw.get("kind"), str) or not raw["kind"]:
        return InputError("an object without a kind", file=file, place=place, right=EXPECTED)
    return None


def read_object(raw: Any, file: str, place: str, report: ReadReport) -> Found | None:
    """Validate one object; None for a kind that scheduling does not look at (counted in the report)."""
    if (wrong := no_object(raw, file, place)) is not None:
        raise wrong
    kind, api_version = raw["kind"], raw.get("apiVersion")
    api_version = "v1" if api_version is None else api_version
    if not isinstance(api_version, str):
        raise InputError(f"apiVersion is {named(api_version)}", file=file, place=place, right="write for example v1")
    group = api_version.rpartition("/")[0]
    shape = KINDS.get((FORMER_GROUPS.get(group, group), kind))
    if shape is None or (shape is Event and raw.get("reason") != FAILED):
        report.other_kinds[f"{api_version} {kind}"] += 1
        return None
    where = _title(kind, raw, place)
    if api_version in UNREAD_VERSIONS:
        right = "read the objects with a newer version of the API"
        raise InputError(f"{api_version} has other fields than newer versions", file=file, place=where, right=right)
    found = _validated(shape, _with_known_parts(shape, raw, report.known), file, where)
    found = _with_identity(found, kind, file, where)
    report.read[kind] += 1
    if report.count_fields:
        report.unread.update(unread_fields(raw, shape, kind))
    return Found(kind, found, file, where, *_identity(raw))


EXPECTED = "give Kubernetes objects (kind: List, Node, Pod, ...) or kind: Instance of apiVersion cpsched/v1"


def _with_known_parts(shape: type[Object], raw: Mapping[str, Any], known: Known) -> dict[str, Any]:
    """The object with its spec and status read already, once for all that are written the same."""
    parts: dict[str, Shape] = {}
    for name, inner in _shared_parts(shape):
        if not raw.get(name):
            continue
        written = (inner, repr(raw[name]))
        try:
            parts[name] = known.get(written) or known.setdefault(written, inner.model_validate(raw[name]))
        except ValidationError:
            # The object as a whole is read next, and says what is wrong and where.
            continue
    return {**raw, **parts}


@cache
def _shared_parts(shape: type[Object]) -> tuple[tuple[str, type[Shape]], ...]:
    """Which of spec and status objects of the shape have."""
    inner = ((name, shape.model_fields[name].annotation) for name in ("spec", "status") if name in shape.model_fields)
    return tuple((name, part) for name, part in inner if isinstance(part, type) and issubclass(part, Shape))


def _validated(shape: type[Object], raw: Mapping[str, Any], file: str, where: str) -> Object:
    try:
        return shape.model_validate(raw)
    except ValidationError:
        pass
    try:
        return shape.model_validate(without_nulls(raw))
    except ValidationError as error:
        raise input_error(error, file=file, place=where) from None


def without_nulls(value: Any) -> Any:
    """The value with every null field left out: to Kubernetes null and absent are the same."""
    if isinstance(value, dict | Mapping):
        present = ((key, item) for key, item in value.items() if item is not None)
        return {key: item if type(item) in _PLAIN else without_nulls(item) for key, item in present}
    if isinstance(value, list):
        return [item if type(item) in _PLAIN else without_nulls(item) for item in value]
    return value


_PLAIN = frozenset({str, int, float, bool})
"""Most of what a document holds; nothing is in it."""


def input_error(error: ValidationError, *, file: str | None, place: str | None) -> InputError:
    """The first complaint of pydantic as one line of ours."""
    first, *others = error.errors(include_url=False)
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"]).removeprefix(".")
    wrong = complaint(first)
    if others:
        wrong += f" (and {len(others)} more like it)"
    right = "cpsched schema instance shows the fields" if first["type"] == "extra_forbidden" else None
    return InputError(wrong, file=file, place=": ".join(part for part in (place, path) if part), right=right)


def _with_identity(found: Object, kind: str, file: str, where: str) -> Object:
    """Fill in what the API server would have: a namespace, a uid, and when a storage class binds."""
    metadata = found.metadata
    if not metadata.name:
        raise InputError("metadata.name is missing", file=file, place=where, right="every object needs a name")
    update: dict[str, Any] = {}
    if kind in CLUSTER_WIDE:
        if metadata.namespace:
            update["namespace"] = ""
    elif not metadata.namespace:
        update["namespace"] = "default"
    if kind == "Pod" and not metadata.uid:
        update["uid"] = f"{update.get('namespace', metadata.namespace)}-{metadata.name}"
    if isinstance(found, StorageClass) and not found.volume_binding_mode:
        found = found.model_copy(update={"volume_binding_mode": "Immediate"})
    if not update:
        return found
    return found.model_copy(update={"metadata": metadata.model_copy(update=update)})


def _identity(raw: Mapping[str, Any]) -> tuple[str, int]:
    """uid and resourceVersion; the latter is officially opaque, but has been a number in every release."""
    metadata = raw.get("metadata")
    if not isinstance(metadata, Mapping):
        return "", 0
    uid, version = text_at(metadata, "uid"), text_at(metadata, "resourceVersion")
    return uid, int(version) if version.isascii() and version.isdecimal() and len(version) < 20 else 0


def _title(kind: str, raw: Mapping[str, Any], place: str) -> str:
    metadata = raw.get("metadata")
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    if not isinstance(name, str) or not name:
        return f"{place} {kind}".strip()
    namespace = metadata.get("namespace") if isinstance(metadata, Mapping) else None
    return f"{kind} {namespace}/{name}" if isinstance(namespace, str) and namespace else f"{kind} {name}"
