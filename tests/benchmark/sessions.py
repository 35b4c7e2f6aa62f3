"""Seeded sessions to measure on, from the generated families: contended clusters, and pools of one-GPU jobs."""

from __future__ import annotations

from typing import Any

from cpsched.lab.generate import generate

Instance = dict[str, Any]
ONE_TIER = [
    {"plugins": [{"name": n} for n in ("priority", "gang", "conformance", "proportion", "predicates", "nodeorder")]}
]
CONF = {"actions": "enqueue, allocate, preempt, reclaim, backfill", "tiers": ONE_TIER}


def contended(nodes: int, gangs: int, shapes: int, queues: int, seed: int) -> Instance:
    """Random shapes; running pods fill the nodes, gangs of about 25 of five priorities want in."""
    parameters = {"nodes": nodes, "gangs": gangs, "shapes": shapes, "queues": queues}
    return generate("contended", parameters, seed=seed) | {"conf": CONF}


def gpu_pool(nodes: int, jobs_per_node: int, seed: int) -> Instance:
    """Identical nodes full of one-GPU jobs of one queue, and as many waiting in another one."""
    return generate("kai-reclaim", {"nodes": nodes, "gpus_per_node": jobs_per_node}, seed=seed) | {"conf": CONF}
