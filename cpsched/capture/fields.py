"""Of every object only what decisions read: the fields of its shape, and annotations of schedulers and volumes."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple, Union, get_args, get_origin

from pydantic import AliasChoices, BaseModel
from pydantic.fields import FieldInfo

from cpsched.hardware import vgpu

Raw = dict[str, Any]

ANNOTATIONS = (
    "volcano.sh/",
    "scheduling.volcano.sh/",
    "scheduling.k8s.io/",
    "topology.volcano.sh/",
    "pv.kubernetes.io/",
    "volume.kubernetes.io/",
    "volume.beta.kubernetes.io/",
    "storage.alpha.kubernetes.io/",
    "resource.kubernetes.io/",
    "cpsched/",
)
"""How the names of annotations begin that schedulers read; `kubectl apply` keeps the whole manifest in another one."""
BARE_ANNOTATIONS = frozenset({"kubernetes.io/config.mirror", "kwok.x-k8s.io/node", "sla-waiting-time", *vgpu.CHOICE})


def kept(raw: Mapping[str, Any], *shapes: type[BaseModel]) -> Raw:
    """The object with the fields of its shapes, as they are written."""
    content = {name: raw[name] for name in ("apiVersion", "kind") if name in raw}
    for shape in shapes:
        content = _both(content, _kept(raw, shape))
    return content


def _both(one: Any, other: Any) -> Any:
    """What is in one of two selections of the same object."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return other
    return one | {name: _both(one[name], value) if name in one else value for name, value in other.items()}


def _kept(raw: Mapping[str, Any], shape: type[BaseModel]) -> Raw:
    inner = _shapes_within(shape)
    content: Raw = {}
    for name, value in raw.items():
        if name in inner and value is not None:
            content[name] = _annotations(value) if name == "annotations" else _value(value, inner[name])
    return content


def _value(value: Any, within: _Within | None) -> Any:
    if within is None:
        return value
    if isinstance(value, list):
        return [_value(item, within) for item in value]
    if not isinstance(value, Mapping):
        return value
    if within.by_name:
        return {name: _value(item, _Within(within.shape)) for name, item in value.items()}
    return _kept(value, within.shape)


def _annotations(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    return {name: text for name, text in value.items() if name.startswith(ANNOTATIONS) or name in BARE_ANNOTATIONS}


class _Within(NamedTuple):
    """The shape of what is in a field, of one or of a list, or of each under a name of its own."""

    shape: type[BaseModel]
    by_name: bool = False


@cache
def _shapes_within(shape: type[BaseModel]) -> dict[str, _Within | None]:
    """The names of the fields as they are written, each with the shape of what is in it."""
    fields = shape.model_fields.items()
    return {written: _within(info.annotation) for name, info in fields for written in _written(name, info)}


def _written(name: str, info: FieldInfo) -> list[str]:
    alias = info.validation_alias
    if isinstance(alias, AliasChoices):
        return [str(one) for one in alias.choices]
    return [info.alias or name]


def _within(annotation: Any) -> _Within | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return _Within(annotation)
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is dict:
        found = _within(parts[1])
        return found and _Within(found.shape, by_name=True)
    if origin in (Union, types.UnionType, tuple) or hasattr(annotation, "__metadata__"):
        return next((found for part in parts if (found := _within(part)) is not None), None)
    return None


def without_images(items: list[Raw]) -> list[Raw]:
    """Images only where they can bear on a choice of node: of pods that wait, and of nodes those of such pods.

    A node's image counts by its size and by how many nodes have it, whatever else these nodes have.
    """
    waiting = [item for item in items if item.get("kind") == "Pod" and is_pending(item)]
    wanted = {normalized(c["image"]) for item in waiting for c in _containers(item) if _is_text(c.get("image"))}
    for item in items:
        if item.get("kind") == "Pod" and not is_pending(item):
            for container in _containers(item):
                container.pop("image", None)
        elif item.get("kind") == "Node" and isinstance(item.get("status"), dict):
            item["status"] |= {"images": _wanted_images(item["status"].get("images"), wanted)}
        elif item.get("kind") != "Pod" and item.get("kind") != "Node":
            for container in containers_within(item.get("spec")):
                container.pop("image", None)
    return items


def containers_within(value: Any) -> Iterator[Raw]:
    """The containers of all pod templates in it."""
    if isinstance(value, dict):
        yield from _containers({"spec": value})
        for item in value.values():
            yield from containers_within(item)
    elif isinstance(value, list):
        for item in value:
            yield from containers_within(item)


def _wanted_images(images: Any, wanted: set[str]) -> list[Raw]:
    found = []
    for image in images if isinstance(images, list) else ():
        names = image.get("names") if isinstance(image, Mapping) else None
        names = [name for name in names if name in wanted] if isinstance(names, list) else []
        if names:
            found.append({**image, "names": names})
    return found


def normalized(image: str) -> str:
    """The name of an image with its tag, as the scheduler compares it."""
    return image if image.rfind(":") > image.rfind("/") else f"{image}:latest"


def is_pending(pod: Mapping[str, Any]) -> bool:
    """Whether the pod has no node and has not ended."""
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    return not spec.get("nodeName") and status.get("phase") not in ("Succeeded", "Failed")


def _containers(pod: Raw) -> list[Raw]:
    spec = pod.get("spec") or {}
    every = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
    return [item for item in every if isinstance(item, dict)]


def _is_text(value: object) -> bool:
    return isinstance(value, str)
