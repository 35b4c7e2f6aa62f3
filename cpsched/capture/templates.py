"""Pod templates of workloads: they are read only where no pod was made of them yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from cpsched.capture.fields import Raw, kept
from cpsched.capture.kinds import Kind, known_kind
from cpsched.importers.kubernetes import without_nulls
from cpsched.objects import KINDS
from cpsched.workloads.registry import WORKLOADS

_OF_TEMPLATES = ("template", "tasks", "replicatedJobs", "volumeClaimTemplates")
_BY_TYPE = "ReplicaSpecs"


def without_templates(items: list[Raw]) -> list[Raw]:
    """The objects without workloads that have their pods or want none, and without templates of those that count pods.

    What schedulers read of a workload stays: the selector of a ReplicaSet.
    """
    owners = {uid for item in items if item["kind"] == "Pod" or _workload(item) for uid in _owners(item)}
    return [one for item in items if (one := _shortened(item, owners)) is not None]


def _shortened(item: Raw, owners: set[str]) -> Raw | None:
    kind = _workload(item)
    if kind is None:
        return item
    counted, makes_pods = (0, False) if item["metadata"].get("uid") in owners else _pods_of(item, kind)
    if not counted and not makes_pods and kind not in KINDS:
        return None
    if makes_pods:
        return item
    return kept(item, KINDS[kind]) if kind in KINDS else _without_templates(item)


def _workload(item: Mapping[str, Any]) -> Kind | None:
    kind = known_kind(str(item.get("apiVersion")), str(item.get("kind")))
    return kind if kind in WORKLOADS else None


def _owners(item: Mapping[str, Any]) -> Iterator[str]:
    for owner in item["metadata"].get("ownerReferences") or ():
        if isinstance(owner, Mapping) and owner.get("uid"):
            yield str(owner["uid"])


def _pods_of(item: Raw, kind: Kind) -> tuple[int, bool]:
    """How many pods it counts, wherever they are; and whether all its pods are still to be made."""
    try:
        found = WORKLOADS[kind].shape.model_validate(without_nulls(item))
    except ValidationError:
        return 0, True
    wants_none = (item.get("spec") or {}).get("replicas") == 0
    return found.counted, not (found.counted or found.ended or wants_none)


def _without_templates(item: Raw) -> Raw:
    spec = item.get("spec") or {}
    kept = {name: value for name, value in spec.items() if name not in _OF_TEMPLATES and not name.endswith(_BY_TYPE)}
    return {**item, "spec": kept}
