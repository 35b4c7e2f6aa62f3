"""KAI's reclaim benchmark: one-GPU jobs of one queue on every GPU, and another queue that wants its share."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from cpsched.lab.draw import Draw
from cpsched.lab.families.family import Parameters, Raw
from cpsched.lab.families.pieces import frame, gang, node, quantities, stamp


class KaiReclaim(Parameters):
    """The size; nothing is random."""

    nodes: int = Field(500, ge=1, le=5000)
    """identical nodes of 64 cores, 256 Gi"""
    gpus_per_node: int = Field(8, ge=1, le=16)
    """GPUs of a node, each taken by a running job of queue q0"""
    waiting: Literal["jobs", "gang"] = "jobs"
    """what waits in queue q1: as many one-GPU jobs as there are GPUs, or one gang of whole nodes, a tenth of them"""


def kai_reclaim(given: KaiReclaim, draw: Draw) -> Raw:
    """Queue q1 has twice the weight of q0, and nothing runs in it."""
    del draw
    amounts = quantities(64_000, 256, given.gpus_per_node)
    nodes = (node(f"n{number}", amounts) for number in range(given.nodes))
    instance = frame(nodes, ({"name": f"q{i}", "weight": i + 1} for i in range(2)), {"p0": 0})
    task = {"requests": quantities(1000, 1, 1), "role": "w"}
    for number in range(given.nodes * given.gpus_per_node):
        place = {"running": f"n{number % given.nodes}", "startTime": stamp(0)}
        instance["jobs"].append(gang(f"run{number}", "q0", "p0", 0, task | place))
        if given.waiting == "jobs":
            instance["jobs"].append(gang(f"new{number}", "q1", "p0", 1, dict(task)))
    if given.waiting == "gang":
        size = max(1, given.nodes // 10)
        whole = {"requests": quantities(1000, 1, given.gpus_per_node), "role": "w", "replicas": size}
        instance["jobs"].append(gang("large", "q1", "p0", size, whole))
    return instance
