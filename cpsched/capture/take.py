"""One cluster as one document: what to ask, asked, stripped and described."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from cpsched import timestamps
from cpsched.capture.configuration import configurations
from cpsched.capture.fields import Raw, is_pending, kept, without_images
from cpsched.capture.kinds import NEEDED, TAKEN, Discovery, Kind, Resource, discover, known_kind
from cpsched.capture.kubectl import Kubectl, Reading
from cpsched.capture.redaction import redacted
from cpsched.capture.templates import without_templates
from cpsched.errors import InputError
from cpsched.importers.captured import FORBIDDEN, KIND
from cpsched.instance import API_VERSION

VOLCANO = ("scheduling.volcano.sh", "Queue")
ROLE = "docs/capture.md has the ClusterRole that is needed"


@dataclass(frozen=True)
class Capture:
    """What was taken of a cluster."""

    document: Raw
    """When it was, how the schedulers are configured, what could not be read."""
    items: list[Raw]
    absent: tuple[str, ...] = ()
    """Kinds that this cluster does not have."""
    names: Mapping[str, str] = field(default_factory=dict)
    """What each pseudonym stands for."""

    def content(self) -> Raw:
        """The whole, as every command reads it."""
        return {"apiVersion": "v1", "kind": "List", "items": [self.document, *self.items]}

    def counts(self) -> Counter[str]:
        """Objects by kind."""
        return Counter(item["kind"] for item in self.items)

    def redacted(self) -> Capture:
        """The same with pseudonyms."""
        document, items, names = redacted(self.document, self.items)
        return Capture({**document, "redacted": True}, items, self.absent, names)


def take(kubectl: Kubectl, version: str, report: Callable[[str], None] = lambda _: None) -> Capture:
    """Everything that decisions read; InputError if nodes or pods are not to be had.

    Args:
        kubectl: which cluster, and as whom.
        version: of this program.
        report: is given what is asked for next.
    """
    kubectl = kubectl.begun()
    report("Asking which kinds the cluster has")
    found = discover(kubectl)
    report(f"Reading {len(found.resources)} kinds")
    moment = time.time_ns() // 10**9 * 10**9
    raw, missing = _objects(kubectl, found)
    pods = [item for item in raw if item["kind"] == "Pod"]
    report("Looking for the configuration of schedulers")
    has_volcano = any(one.kind == VOLCANO for one in found.resources)
    confs, missed = configurations(kubectl, pods, has_volcano)
    document: Raw = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "time": timestamps.text(moment),
        "cpsched": version,
        "kubernetes": _server_version(kubectl),
        "pending": sum(map(is_pending, pods)),
        "configurations": [{**one, "waiting": _waiting(one, raw)} for one in confs],
        "missing": [*found.missing, *missing, *missed],
    }
    items = without_templates([_kept(item) for item in raw])
    return Capture(document, without_images(items), found.absent)


def _objects(kubectl: Kubectl, found: Discovery) -> tuple[list[Raw], list[str]]:
    """The objects as they are, and which kinds could not be read."""
    names = ",".join(one.full_name for one in found.resources)
    reading = kubectl.read("get", "--all-namespaces", "--output=json", names)
    objects = list(_known_objects(reading))
    missing: list[str] = []
    if reading.failed:
        missing = _missing(reading, found.resources, {item["kind"] for item in objects})
        if not missing:
            raise reading.error()
    return objects, missing


def _missing(reading: Reading, resources: tuple[Resource, ...], there: set[str]) -> list[str]:
    """What this user may not read, and what else kubectl complains of; InputError if nodes or pods are not there."""
    forbidden = reading.forbidden()
    for one in resources:
        if one.kind in NEEDED and one.full_name in forbidden:
            text = " ".join(forbidden[one.full_name].split())
            raise InputError(f"{one.full_name} cannot be read: {text}", file=reading.program, right=ROLE)
    missing = [f"{one.full_name}{FORBIDDEN}" for one in resources if one.full_name in forbidden]
    others = [line for line in reading.complaints if "is forbidden" not in line]
    if others and not {kind for _, kind in NEEDED} <= there:
        raise reading.error()
    return missing + [f"what kubectl says: {line}" for line in others]


def _known_objects(reading: Reading) -> Iterator[Raw]:
    value = reading.value()
    items = value.get("items") if isinstance(value, Mapping) else None
    if not isinstance(items, list):
        raise reading.error() if reading.failed else InputError("printed no List of objects", file=reading.program)
    for item in items:
        if isinstance(item, dict) and isinstance(item.get("metadata"), dict) and _kind(item) is not None:
            yield item


def _kind(item: Mapping[str, Any]) -> Kind | None:
    return known_kind(str(item.get("apiVersion")), str(item.get("kind")))


def _kept(item: Raw) -> Raw:
    kind = _kind(item)
    return {} if kind is None else kept(item, *TAKEN[kind])


def _server_version(kubectl: Kubectl) -> str:
    reading = kubectl.read("version", "--output=json")
    try:
        value = reading.value()
    except InputError:
        return ""
    server = value.get("serverVersion") if isinstance(value, Mapping) else None
    version = server.get("gitVersion") if isinstance(server, Mapping) else None
    return version if isinstance(version, str) else ""


def _waiting(configuration: Mapping[str, Any], items: list[Raw]) -> int:
    """How many pods, and PodGroups of Volcano, wait for a scheduler with this configuration."""
    pods = [item.get("spec") or {} for item in items if item["kind"] == "Pod" and is_pending(item)]
    if configuration["scheduler"] == "volcano":
        held = [item for item in items if item["kind"] == "PodGroup" and _phase(item) == "Pending"]
        return len(held) + len([spec for spec in pods if spec.get("schedulerName") == "volcano"])
    profiles = configuration["conf"].get("profiles") or [{}]
    names = {one.get("schedulerName") or "default-scheduler" for one in profiles}
    return len([spec for spec in pods if (spec.get("schedulerName") or "default-scheduler") in names])


def _phase(item: Mapping[str, Any]) -> object:
    return (item.get("status") or {}).get("phase")
