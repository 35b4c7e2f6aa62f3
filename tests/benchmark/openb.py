"""The openb trace as one Volcano session: gangs of equal pods in four queues, some running, the rest pending."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cpsched.lab.generate import generate

DATA = Path(__file__).parent / "data"
CONF = {
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


def session(nodes: int, fill: float, seed: int) -> dict[str, Any]:
    """So many nodes and the same share of the pods; `fill` of the gangs run already, placed first fit."""
    return generate("openb", {"nodes": nodes, "fill": round(fill * 100)}, seed=seed, trace=DATA)
