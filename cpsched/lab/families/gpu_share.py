"""Shared cards: small shares lie on many cards; a task for a whole card needs one without any share."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from cpsched.lab.draw import Draw
from cpsched.lab.families.family import Parameters, Raw
from cpsched.lab.families.pieces import CLASSES, configuration, frame, gang, node, quantities, workers
from cpsched.lab.families.shared_cards import WHOLE, CardsLeft, asking, deviceshare, with_cards

_CPU, _MEMORY = 8000, 64
_SHARES = (200, 250, 330, 400, 500)


class SharedGpus(Parameters):
    """How many cards, how full, who wants what."""

    nodes: int = Field(3, ge=1, le=2000)
    """identical nodes; 8 cores and 64 Gi for each card"""
    cards_per_node: int = Field(4, ge=1, le=16)
    """cards of a node, each a thousand thousandths"""
    fill: int = Field(40, ge=0, le=100)
    """percent of the cards that running jobs hold, each on a card drawn from those with room"""
    waiting: int = Field(80, ge=0, le=400)
    """percent of the cards that waiting jobs ask for"""
    whole: int = Field(30, ge=0, le=100)
    """percent of the waiting jobs that ask for one or two whole cards, the others for a fifth to a half of one"""
    policy: Literal["none", "binpack", "spread"] = "spread"
    """the order in which deviceshare tries cards"""
    queues: int = Field(2, ge=1, le=100)
    """queues q0, q1, ... of equal weight"""


def gpu_share(given: SharedGpus, draw: Draw) -> Raw:
    """Running jobs hold a share of one card; waiting ones want a share or whole cards."""
    names = [f"n{number}" for number in range(given.nodes)]
    room = quantities(_CPU * given.cards_per_node, _MEMORY * given.cards_per_node)
    nodes = (with_cards(node(name, room), given.cards_per_node) for name in names)
    instance = frame(nodes, ({"name": f"q{number}", "weight": 1} for number in range(given.queues)), CLASSES)
    instance["conf"] = configuration(
        "enqueue, allocate, backfill, preempt, reclaim", deviceshare("" if given.policy == "none" else given.policy)
    )
    jobs: list[Raw] = instance["jobs"]
    left, total = CardsLeft(dict.fromkeys(names, given.cards_per_node)), WHOLE * given.nodes * given.cards_per_node
    asked = 0
    while (asked + min(_SHARES)) * 100 <= total * given.fill:
        share = draw.choice(_SHARES)
        asked += share
        places = [(name, card) for name in names for card in left.fitting(name, share)]
        if places:
            home, card = draw.choice(places)
            task = workers(1, quantities(*_beside(share)), [home], start=60 * len(jobs))
            task = asking(task, 1, share) | {"annotations": left.take(home, [card], share)}
            jobs.append(gang(f"run{len(jobs)}", _queue(given, draw), draw.choice(["low", "low", "mid"]), 1, task))
    asked = 0
    while (asked + min(_SHARES)) * 100 <= total * given.waiting:
        count, share = (draw.choice([1, 1, 2]), WHOLE) if draw.chance(given.whole) else (1, draw.choice(_SHARES))
        count = min(count, given.cards_per_node)
        asked += count * share
        task = asking(workers(1, quantities(*_beside(count * share))), count, share)
        jobs.append(gang(f"new{len(jobs)}", _queue(given, draw), draw.choice(list(CLASSES)), 1, task))
    return instance


def _beside(thousandths: int) -> tuple[int, int]:
    """Half of the cores and memory that go with such a part of a card, so that cards are what is short."""
    return _CPU * thousandths // 2000, max(1, _MEMORY * thousandths // 2000)


def _queue(given: SharedGpus, draw: Draw) -> str:
    return f"q{draw.below(given.queues)}"
