"""Virtual GPUs (HAMi): the cards that nodes register and what pods want of them; as in `api/devices/nvidia/vgpu`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from cpsched.hardware.gpu_share import amount
from cpsched.instance import Node, Task

REGISTER = "volcano.sh/node-vgpu-register"
NUMBER, MEMORY, CORES = "volcano.sh/vgpu-number", "volcano.sh/vgpu-memory", "volcano.sh/vgpu-cores"
IDS, MODE, SPREAD = "volcano.sh/vgpu-ids-new", "volcano.sh/vgpu-mode", "volcano.sh/vgpu-podgroup-policy"
USE_TYPE, NO_TYPE = "nvidia.com/use-gputype", "nvidia.com/nouse-gputype"
USE_UUID, NO_UUID = "volcano.sh/vgpu-use-gpuuuid", "volcano.sh/vgpu-nouse-gpuuuid"
GROUPS = ("scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name")
CHOICE = (MODE, USE_TYPE, NO_TYPE, USE_UUID, NO_UUID)
"""Annotations that say which cards a pod may have."""
HAMI_CORE = "hami-core"
"""How a node shares its cards; without configured geometries of MIG there is no other way."""
ALL_CORES = 100
_FIELDS = 6

Rule = tuple[tuple[str, str], ...]
"""Labels of pods that keep a card from others with the same labels."""


@dataclass(frozen=True)
class VirtualCard:
    """A card as its node registers it; its health is registered too, and upstream never reads it."""

    index: int
    uuid: str
    count: int
    memory: int
    type: str


class Want(NamedTuple):
    """What a container wants: so many cards, of each so much; no memory is all of it."""

    number: int
    memory: int
    cores: int


class Share(NamedTuple):
    """What an annotation says a pod has of a card."""

    uuid: str
    memory: int
    cores: int


def asks(task: Task) -> bool:
    """Whether some container limits such cards."""
    return any(name in one.resources.limits for one in task.spec.containers for name in (MEMORY, NUMBER))


def node_cards(node: Node) -> list[VirtualCard]:
    """The cards that the node registers; none unless all of it can be read."""
    text, allocatable = node.node.metadata.annotations.get(REGISTER), node.node.status.allocatable
    if text is None or any(amount(allocatable, name) <= 0 for name in (NUMBER, CORES, MEMORY)):
        return []
    return _registered(text)


def shares_mode(annotations: Mapping[str, str]) -> bool:
    """Whether the pod takes cards that are shared as they are."""
    return annotations.get(MODE, HAMI_CORE) == HAMI_CORE


def spreads(task: Task) -> bool:
    """Whether the pod wants no card on which another of its group is."""
    return task.pod.metadata.annotations.get(SPREAD) == "spread"


def annotated(task: Task) -> list[Share]:
    """What the pod's annotation says it has, container by container."""
    found = []
    for text in task.pod.metadata.annotations.get(IDS, "").replace(";", ":").split(":"):
        parts = text.split(",")
        if len(parts) >= 4:
            found.append(Share(parts[0], _number(parts[2]), _number(parts[3])))
    return found


def rules_of(task: Task, rules: Iterable[Rule]) -> list[Rule]:
    """Those of the rules all of whose labels the pod has."""
    return [rule for rule in rules if all(task.labels.get(key) == value for key, value in rule)]


def wants(task: Task) -> list[Want]:
    """What the containers that limit such cards want."""
    found = []
    for container in task.spec.containers:
        limits, requests = container.resources.limits, container.resources.requests
        if NUMBER not in limits and MEMORY not in limits:
            continue
        stated = {**requests, **limits}
        number = amount(limits, NUMBER) if NUMBER in limits else 1
        found.append(Want(number, amount(stated, MEMORY), amount(stated, CORES)))
    return found


def is_allowed(type_: str, uuid: str, annotations: Mapping[str, str]) -> bool:
    """Whether the card is one that the pod's annotations let it have."""
    return _uuid_allowed(uuid, annotations) and "NVIDIA" in type_ and _type_allowed(type_.upper(), annotations)


def _type_allowed(type_: str, annotations: Mapping[str, str]) -> bool:
    if USE_TYPE in annotations:
        return any(part.upper() in type_ for part in annotations[USE_TYPE].split(","))
    if NO_TYPE in annotations:
        return not any(part.upper() in type_ for part in annotations[NO_TYPE].split(","))
    return True


def _uuid_allowed(uuid: str, annotations: Mapping[str, str]) -> bool:
    if USE_UUID in annotations:
        return uuid in _trimmed(annotations[USE_UUID])
    return NO_UUID not in annotations or uuid not in _trimmed(annotations[NO_UUID])


def _trimmed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def group_of(task: Task) -> tuple[str, str] | None:
    """The group of pods that the pod belongs to, None if it names none."""
    annotations = task.pod.metadata.annotations
    name = next((annotations[key] for key in GROUPS if annotations.get(key)), "")
    return (task.namespace, name) if name else None


def _registered(text: str) -> list[VirtualCard]:
    """The cards of a register; none at all if one of them says too little."""
    if ":" not in text:
        return []
    cards = []
    for index, piece in enumerate(text.split(":")):
        if "," not in piece:
            continue
        parts = piece.split(",")
        if len(parts) < _FIELDS:
            return []
        cards.append(VirtualCard(index, parts[0], _number(parts[1]), _number(parts[2]), parts[3]))
    return cards


def _number(text: str) -> int:
    return int(text) if re.fullmatch(r"[+-]?\d+", text, re.ASCII) else 0
