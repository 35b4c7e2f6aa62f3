"""Objects that lost their kind: programs in Go write them without it, so the name of the file says what they are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from cpsched.objects import FORMER_GROUPS, KINDS
from cpsched.workloads.registry import WORKLOADS

Kind = tuple[str, str]
"""(API group, kind) as in KINDS."""

MOST_FOLDERS = 3
_SHORT = {
    "no": "nodes", "po": "pods", "ns": "namespaces", "svc": "services", "rc": "replicationcontrollers",
    "pv": "persistentvolumes", "pvs": "persistentvolumes", "pvc": "persistentvolumeclaims",
    "pvcs": "persistentvolumeclaims", "rs": "replicasets", "sts": "statefulsets", "pc": "priorityclasses",
    "sc": "storageclasses", "pdb": "poddisruptionbudgets", "pdbs": "poddisruptionbudgets", "pg": "podgroups",
    "deploy": "deployments", "ds": "daemonsets",
}  # fmt: skip
"""kubectl's short names, and those that support bundles use."""
_COMMON = frozenset({"job", "jobs"})
"""Keys of much else too; a file of such a name is asked what it holds."""
_STEM = re.compile(r"\.(?:jsonl?|ya?ml|ndjson)(?:\.\w+)?$")


def kind_of(raw: Mapping[str, Any], file: str) -> Kind | None:
    """What an object without a kind is by its file's name (pods.json, core_v1_pods.json, pods/default.json); else None.

    The object must have a name, and of several kinds in a path it is the one with which it shares most fields; a
    folder's name counts only if there are such fields. Where no name helps, containers make a pod, and what a kubelet
    reports makes a node.
    """
    metadata = raw.get("metadata")
    if not isinstance(metadata, Mapping) or not isinstance(metadata.get("name"), str):
        return None
    best: Kind | None = None
    most = -1
    for distance, kind in _named_kinds(file):
        shared = _shared_fields(raw, _SHAPES[kind])
        if shared > most and (shared or not distance):
            best, most = kind, shared
    return best or _by_shape(raw)


def names_a_kind(word: str) -> bool:
    """Whether objects of a kind stand under this key: `pods`, `Nodes`, `pvcs`, `queues.scheduling.volcano.sh`."""
    return word.lower() not in _COMMON and next(_named_kinds(word), None) is not None


def _by_shape(raw: Mapping[str, Any]) -> Kind | None:
    spec, status = raw.get("spec"), raw.get("status")
    if isinstance(spec, Mapping) and isinstance(spec.get("containers"), list):
        return "", "Pod"
    if isinstance(status, Mapping) and isinstance(status.get("allocatable"), Mapping):
        return "", "Node"
    return None


def _named_kinds(file: str) -> Iterator[tuple[int, Kind]]:
    """(how many folders further out, kind) for every kind that a part of the path names, from the file's name on."""
    path = re.split(r"[/\\!]", file)
    words = [_STEM.sub("", path[-1]), *path[-2 : -2 - MOST_FOLDERS : -1]]
    for distance, word in enumerate(words):
        group, name = _resource(word.lower())
        for kind in _NAMES.get(name, ()):
            if "." not in group or kind[0] == FORMER_GROUPS.get(group, group):
                yield distance, kind


def _resource(word: str) -> tuple[str, str]:
    """(group, plural) of `pods`, `pod-disruption-budgets`, `podgroups.scheduling.volcano.sh`, `core_v1_pods`."""
    first, _, last = word.rpartition("_")
    name, _, group = last.partition(".")
    name = name.replace("-", "")
    return group or first.partition("_")[0], _SHORT.get(name, name)


def _shared_fields(raw: Mapping[str, Any], shape: type[BaseModel]) -> int:
    """How many fields of spec, status and the top the object shares with the shape; metadata says nothing."""
    count = 0
    for name, field in shape.model_fields.items():
        value = raw.get(field.alias or name)
        if name == "metadata" or value is None:
            continue
        inner = field.annotation
        if name in ("spec", "status") and isinstance(inner, type) and issubclass(inner, BaseModel):
            known = {one.alias or key for key, one in inner.model_fields.items()}
            count += len(known & value.keys()) if isinstance(value, Mapping) else 0
        else:
            count += 1
    return count


def _names() -> dict[str, list[Kind]]:
    found: dict[str, list[Kind]] = {}
    for group, kind in _SHAPES:
        name = kind.lower()
        plural = f"{name}es" if name.endswith("s") else f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"
        for one in (name, plural):
            found.setdefault(one, []).append((group, kind))
    return found


_SHAPES: dict[Kind, type[BaseModel]] = {kind: workload.shape for kind, workload in WORKLOADS.items()} | KINDS
_NAMES = _names()
"""Singular and plural in small letters → the kinds of that name."""
