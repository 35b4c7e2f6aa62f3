"""Objects as JSON again: every field that was understood and is not its default."""

from __future__ import annotations

from typing import Any

from cpsched.objects import KINDS
from cpsched.objects.base import Object, Shape

_VERSIONS = {
    ("scheduling.volcano.sh", "PodGroup"): "v1beta1",
    ("scheduling.volcano.sh", "Queue"): "v1beta1",
    ("topology.volcano.sh", "HyperNode"): "v1alpha1",
    ("nodeinfo.volcano.sh", "Numatopology"): "v1alpha1",
    ("scheduling.k8s.io", "PodGroup"): "v1alpha2",
}
"""Kinds whose API version is not v1 in the releases that are mirrored."""
_NAMES_BY_SHAPE = {
    shape: (f"{group}/{_VERSIONS.get((group, kind), 'v1')}" if group else "v1", kind)
    for (group, kind), shape in KINDS.items()
}
_SHARED = {"spec": True, "status": True}


def object_dict(item: Object) -> dict[str, Any]:
    """The object; loading it gives it again."""
    return _named(item) | item.model_dump(mode="json", exclude_defaults=True)


def shared_dict(item: Object, known: dict[int, Any]) -> dict[str, Any]:
    """The same, to be read only: objects share what their specs and statuses say as they share these."""
    content = _named(item) | item.model_dump(mode="json", exclude_defaults=True, exclude=_SHARED)
    for name in _SHARED:
        part = item.__dict__.get(name)
        if isinstance(part, Shape):
            if id(part) not in known:
                is_default = part == type(item).model_fields[name].default
                known[id(part)] = None if is_default else part.model_dump(mode="json", exclude_defaults=True)
            if known[id(part)] is not None:
                content[name] = known[id(part)]
    return content


def unversioned_dict(item: Object, known: dict[int, Any]) -> dict[str, Any]:
    """The same without the resourceVersion, which changes with every heartbeat of a node, and with every group at v1.

    No field that is read depends on the API version, and a hash does not change when a kind is promoted.
    """
    content = shared_dict(item, known)
    group, slash, _ = content["apiVersion"].rpartition("/")
    content["apiVersion"] = f"{group}{slash}v1"
    if item.metadata.resource_version:
        content["metadata"] = {name: one for name, one in content["metadata"].items() if name != "resourceVersion"}
    return content


def _named(item: Object) -> dict[str, Any]:
    api_version, kind = _NAMES_BY_SHAPE[type(item)]
    return {"apiVersion": api_version, "kind": kind}
