"""The openb trace as one Volcano session: gangs of equal pods in four queues, some running, the rest pending."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cpsched.lab.families.shared_cards import deviceshare
from cpsched.lab.generate import generate

DATA = Path(__file__).parent / "data"
CONF: dict[str, Any] = {
    "actions": "enqueue, allocate, backfill, preempt, reclaim",
    "tiers": [
        {
            "plugins": [
                {"name": name}
                for name in ("priority", "gang", "conformance", "proportion", "predicates", "nodeorder", "binpack")
            ]
        }
    ],
}


CONFS = {"whole": CONF, "shared": {**CONF, "tiers": [{"plugins": [*CONF["tiers"][0]["plugins"], deviceshare()]}]}}
"""GPUs are whole, or cards are shared."""


def session(nodes: int, fill: float, seed: int, cards: str = "whole") -> dict[str, Any]:
    """So many nodes and the same share of the pods; `fill` of the gangs run already, placed first fit."""
    given = {"nodes": nodes, "fill": round(fill * 100), "cards": cards}
    return generate("openb", given, seed=seed, trace=DATA)
