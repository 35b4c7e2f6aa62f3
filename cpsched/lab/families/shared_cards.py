"""Cards that tasks share, as Volcano's plugin deviceshare knows virtual GPUs: a card is a thousand thousandths."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cpsched.hardware.vgpu import CORES, IDS, MEMORY, NUMBER, REGISTER
from cpsched.lab.families.family import Raw

WHOLE = 1000
_SHARERS = 20


def deviceshare(policy: str = "") -> Raw:
    """The plugin, with the order in which it tries cards."""
    arguments: Raw = {"deviceshare.VGPUEnable": True}
    return {"name": "deviceshare", "arguments": arguments | ({"deviceshare.SchedulePolicy": policy} if policy else {})}


def with_cards(node: Raw, count: int, model: str = "") -> Raw:
    """The node with so many cards of a model; without any it stays as it is."""
    if not count:
        return node
    cards = [
        f"{_name(node['name'], card)},{_SHARERS},{WHOLE},NVIDIA-{model or 'GPU'},true,hami-core"
        for card in range(count)
    ]
    sizes = {NUMBER: str(_SHARERS * count), MEMORY: str(WHOLE * count), CORES: str(100 * count)}
    return {
        **node,
        "allocatable": {**node["allocatable"], **sizes},
        "annotations": {REGISTER: ":".join([*cards, ""])},
    }


def asking(task: Raw, cards: int, thousandths: int) -> Raw:
    """The task with so many cards, of each so much; none is none."""
    if not cards:
        return task
    limits = {NUMBER: str(cards)} | ({MEMORY: str(thousandths)} if thousandths < WHOLE else {})
    return {**task, "requests": {**task["requests"], **limits}, "limits": limits}


class CardsLeft:
    """What is left of the cards while running tasks are placed: each takes the first cards that will do."""

    def __init__(self, cards: Mapping[str, int]):
        self._free = {name: [WHOLE] * count for name, count in cards.items()}

    def having(self, names: Iterable[str], cards: int, thousandths: int) -> Iterable[str]:
        """Those of the nodes with so much left on so many cards."""
        return (name for name in names if len(self.fitting(name, thousandths)) >= cards) if cards else names

    def take(self, node: str, cards: Sequence[int], thousandths: int) -> Raw:
        """The annotation that says which cards a task has there."""
        for card in cards:
            self._free[node][card] -= thousandths
        shares = (f"{_name(node, card)},NVIDIA,{thousandths},0:" for card in cards)
        return {IDS: "".join(shares)} if cards else {}

    def fitting(self, node: str, thousandths: int) -> Sequence[int]:
        """Cards of a node with so much left."""
        return [card for card, free in enumerate(self._free[node]) if free >= thousandths]


def _name(node: str, card: int) -> str:
    # An annotation names the first card whose id it contains, so no id may begin another.
    return f"{node}-card{card:02}"
