"""Virtual GPUs (HAMi): cards with so many sharers, so much memory and 100 cores; mirrors `api/devices/nvidia/vgpu`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from cpsched.greedy.volcano.devices.contract import Cards
from cpsched.greedy.volcano.devices.gpu_share import amount
from cpsched.instance import Node, Task

REGISTER = "volcano.sh/node-vgpu-register"
NUMBER, MEMORY, CORES = "volcano.sh/vgpu-number", "volcano.sh/vgpu-memory", "volcano.sh/vgpu-cores"
IDS, MODE, SPREAD = "volcano.sh/vgpu-ids-new", "volcano.sh/vgpu-mode", "volcano.sh/vgpu-podgroup-policy"
USE_TYPE, NO_TYPE = "nvidia.com/use-gputype", "nvidia.com/nouse-gputype"
USE_UUID, NO_UUID = "volcano.sh/vgpu-use-gpuuuid", "volcano.sh/vgpu-nouse-gpuuuid"
GROUPS = ("scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name")
HAMI_CORE = "hami-core"
"""How a node shares its cards; without configured geometries of MIG there is no other way."""
_REFUSED = "hami-vgpuDeviceSharing error"
_FIELDS = 6

Rule = tuple[tuple[str, str], ...]
"""Labels of pods that keep a card from others with the same labels."""


@dataclass
class Card:
    """One card and what is taken of it."""

    index: int
    uuid: str
    count: int
    memory: int
    type: str
    sharers: int = 0
    used_memory: int = 0
    used_cores: int = 0
    pods: dict[str, Task] = field(default_factory=dict)
    """Those that are listed on it with memory or cores."""

    def take(self, memory: int, cores: int, sign: int = 1) -> None:
        """One sharer more, or less."""
        self.sharers += sign
        self.used_memory += sign * memory
        self.used_cores += sign * cores


@dataclass(frozen=True)
class Want:
    """What a container wants: so many cards, of each so much; no memory is all of it."""

    number: int
    memory: int
    cores: int


@dataclass(frozen=True)
class VGpu:
    """Virtual GPUs, with the order in which cards are tried and the rules of exclusion."""

    policy: str = ""
    rules: tuple[Rule, ...] = ()

    def asks(self, task: Task) -> bool:
        """Whether some container limits such cards."""
        return any(name in one.resources.limits for one in task.spec.containers for name in (MEMORY, NUMBER))

    def cards(self, node: Node) -> Cards | None:
        """The cards that the node registers; nothing unless all of it can be read."""
        text, allocatable = node.node.metadata.annotations.get(REGISTER), node.node.status.allocatable
        if text is None or any(amount(allocatable, name) <= 0 for name in (NUMBER, CORES, MEMORY)):
            return None
        found = _registered(text)
        return VGpuCards(found, self) if found else None


class VGpuCards:
    """The cards of one node."""

    def __init__(self, cards: list[Card], kind: VGpu):
        self._list, self._kind = cards, kind
        self._score = 0.0
        self._reserved: dict[Rule, set[int]] = {rule: set() for rule in kind.rules}

    def refusal(self, task: Task) -> str | None:
        """Tried and taken back; what was found is remembered for the score."""
        before = self._charges()
        chosen = self._choose(task)
        if chosen is not None:
            self._score = sum(self._rated(card) for card in chosen)
        self._charge(before)
        return _REFUSED if chosen is None else None

    def score(self) -> float:
        """Of the task that last found cards here, for all tasks."""
        return self._score

    def book(self, task: Task) -> bool:
        """Charge the cards and list the task on them."""
        before = self._charges()
        chosen = self._choose(task)
        if chosen is None:
            self._charge(before)
            return False
        for card in chosen:
            self._list_on(card, task)
        return True

    def release(self, task: Task) -> None:
        """The rules forget it. The cards do not: upstream looks for an annotation that the pod does not have yet."""
        for card in self._list:
            if task.key in card.pods:
                self._unreserve(card, task)

    def enter(self, task: Task) -> None:
        """Charge what the annotation names; of two containers on one card only the first."""
        for card, memory, cores in self._annotated(task):
            if task.key not in card.pods:
                card.take(memory, cores)
                self._list_on(card, task)

    def leave(self, task: Task) -> None:
        """Give it back; a card stays reserved while any pod of any rule is on it."""
        for card, memory, cores in self._annotated(task):
            if card.pods.pop(task.key, None) is None:
                continue
            card.take(memory, cores, -1)
            self._unreserve(card, task)

    def linger(self, task: Task) -> None:
        """A terminating pod holds nothing, but its cards stay reserved."""
        for card, _, _ in self._annotated(task):
            for rule in self._rules_of(task):
                self._reserved[rule].add(card.index)

    def copied(self) -> VGpuCards:
        """The cards with their pods; a trial does not know the policy."""
        cards = [replace(card, pods=dict(card.pods)) for card in self._list]
        copy = VGpuCards(cards, replace(self._kind, policy=""))
        copy._reserved = {rule: set(indexes) for rule, indexes in self._reserved.items()}
        return copy

    def _charges(self) -> list[tuple[int, int, int]]:
        return [(card.sharers, card.used_memory, card.used_cores) for card in self._list]

    def _charge(self, charges: list[tuple[int, int, int]]) -> None:
        for card, charge in zip(self._list, charges, strict=True):
            card.sharers, card.used_memory, card.used_cores = charge

    def _list_on(self, card: Card, task: Task) -> None:
        card.pods[task.key] = task
        for rule in self._rules_of(task):
            self._reserved[rule].add(card.index)

    def _unreserve(self, card: Card, task: Task) -> None:
        """The card is no longer the rules' of the task, unless another pod of any rule is on it."""
        if not any(self._rules_of(other) for key, other in card.pods.items() if key != task.key):
            for rule in self._rules_of(task):
                self._reserved[rule].discard(card.index)

    def _choose(self, task: Task) -> list[Card] | None:
        """The cards, charged already; None if a container finds too few, whatever is charged by then."""
        annotations = task.pod.metadata.annotations
        if annotations.get(MODE, HAMI_CORE) != HAMI_CORE:
            return None
        closed = {index for rule in self._rules_of(task) for index in self._reserved[rule]}
        taken: list[Card] = []
        for want in _wants(task):
            if want.number > len(self._list):
                return None
            left = want.number
            for card in self._in_order():
                if card.index in closed or not _suits(card, want, task):
                    continue
                card.take(want.memory or card.memory, want.cores)
                if left:
                    taken.append(card)
                left -= 1
                if left <= 0:
                    break
            if left > 0:
                return None
        return taken

    def _in_order(self) -> list[Card]:
        if self._kind.policy == "binpack":
            return sorted(self._list, key=lambda card: -card.used_memory)
        if self._kind.policy == "spread":
            return sorted(self._list, key=lambda card: card.sharers)
        return self._list[::-1]

    def _rated(self, card: Card) -> float:
        # spread would give 100 to a card without sharers, and asks when the card is charged already.
        return 100 * card.used_memory / card.memory if self._kind.policy == "binpack" and card.memory else 0.0

    def _annotated(self, task: Task) -> list[tuple[Card, int, int]]:
        found = []
        for text in task.pod.metadata.annotations.get(IDS, "").replace(";", ":").split(":"):
            parts = text.split(",")
            if len(parts) >= 4:
                card = next((one for one in self._list if one.uuid in parts[0]), None)
                if card is not None:
                    found.append((card, _number(parts[2]), _number(parts[3])))
        return found

    def _rules_of(self, task: Task) -> list[Rule]:
        return [rule for rule in self._kind.rules if all(task.labels.get(key) == value for key, value in rule)]


def _wants(task: Task) -> list[Want]:
    found = []
    for container in task.spec.containers:
        limits, requests = container.resources.limits, container.resources.requests
        if NUMBER not in limits and MEMORY not in limits:
            continue
        stated = {**requests, **limits}
        number = amount(limits, NUMBER) if NUMBER in limits else 1
        found.append(Want(number, amount(stated, MEMORY), amount(stated, CORES)))
    return found


def _suits(card: Card, want: Want, task: Task) -> bool:
    annotations = task.pod.metadata.annotations
    if not _uuid_allowed(card.uuid, annotations) or card.sharers >= card.count:
        return False
    group = _group(task) if annotations.get(SPREAD) == "spread" else None
    if group and any(_group(other) == group for other in card.pods.values()):
        return False
    if card.memory - card.used_memory < (want.memory or card.memory) or card.used_cores + want.cores > 100:
        return False
    if (want.cores == 100 and card.sharers > 0) or (card.used_cores == 100 and want.cores == 0):
        return False
    return "NVIDIA" in card.type and _type_allowed(card.type.upper(), annotations)


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


def _group(task: Task) -> tuple[str, str] | None:
    annotations = task.pod.metadata.annotations
    name = next((annotations[key] for key in GROUPS if annotations.get(key)), "")
    return (task.namespace, name) if name else None


def _registered(text: str) -> list[Card]:
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
        cards.append(Card(index, parts[0], _number(parts[1]), _number(parts[2]), parts[3]))
    return cards


def _number(text: str) -> int:
    return int(text) if re.fullmatch(r"[+-]?\d+", text, re.ASCII) else 0
