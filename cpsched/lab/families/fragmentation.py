"""Fragmentation: free GPUs lie scattered, a few nodes have a hole that is large enough, and small jobs come first."""

from __future__ import annotations

from pydantic import Field

from cpsched.lab.draw import Draw
from cpsched.lab.families.family import Parameters, Raw
from cpsched.lab.families.pieces import frame, gang, node, quantities, stamp, workers

_CPU_PER_GPU, _MEMORY_PER_GPU = 4000, 32
CLASSES = {"batch": 100}


class Fragmentation(Parameters):
    """How the free GPUs lie, and who wants them."""

    nodes: int = Field(8, ge=2, le=5000)
    """identical nodes, 4 cores and 32 Gi per GPU"""
    gpus_per_node: int = Field(8, ge=2, le=16)
    """GPUs of a node"""
    large: int = Field(4, ge=2, le=16)
    """GPUs that each large job asks for, on one node; at most a node's"""
    holes: int = Field(2, ge=0, le=5000)
    """nodes with exactly that many free; all others have fewer, some or none"""
    stranded: int = Field(1, ge=0, le=5000)
    """large jobs beyond the number of holes: together the free GPUs would do, on no node do they"""
    small: int = Field(100, ge=0, le=100)
    """percent of the scattered GPUs that one-GPU jobs, the first to come, ask for"""


def fragmentation(given: Fragmentation, draw: Draw) -> Raw:
    """All of one priority: no task is evicted, where the small jobs go decides."""
    large = min(given.large, given.gpus_per_node)
    holes = min(given.holes, given.nodes - 1)
    names = [f"n{number}" for number in range(given.nodes)]
    nodes = (node(name, quantities(*_amounts(given.gpus_per_node))) for name in names)
    instance = frame(nodes, [{"name": "default", "weight": 1}], CLASSES)
    jobs: list[Raw] = instance["jobs"]
    order = list(names)
    draw.shuffle(order)
    free = dict.fromkeys(order[:holes], large) | {name: draw.between(1, large - 1) for name in order[holes:]}
    for number, name in enumerate(names):
        held = given.gpus_per_node - free[name]
        if held:
            task = workers(held, quantities(*_amounts(1)), [name] * held, start=60 * number)
            jobs.append(gang(f"run{number}", "default", "batch", held, task))
    scattered = sum(free[name] for name in order[holes:])
    for number in range(scattered * given.small // 100):
        jobs.append(_new(f"small{number}", 1, number))
    for number in range(holes + given.stranded):
        jobs.append(_new(f"large{number}", large, 100_000 + number))
    return instance


def _new(name: str, gpus: int, second: int) -> Raw:
    job = gang(name, "default", "batch", 1, workers(1, quantities(*_amounts(gpus))))
    return job | {"creationTimestamp": stamp(second)}


def _amounts(gpus: int) -> tuple[int, int, int]:
    return _CPU_PER_GPU * gpus, _MEMORY_PER_GPU * gpus, gpus
