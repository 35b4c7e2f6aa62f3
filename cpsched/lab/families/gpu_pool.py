"""Homogeneous GPU pools: identical nodes, jobs of one to all GPUs of a node, part running, part waiting."""

from __future__ import annotations

from pydantic import Field

from cpsched.lab.draw import Draw
from cpsched.lab.families.family import Parameters, Raw
from cpsched.lab.families.pieces import CLASSES, NodesLeft, Placement, frame, gang, node, quantities, workers

_CPU_PER_GPU, _MEMORY_PER_GPU = 8000, 64


class GpuPool(Parameters):
    """One shape of node, and how much of the pool is asked for."""

    nodes: int = Field(8, ge=1, le=5000)
    """identical nodes; cpu and memory go with the GPUs: 8 cores and 64 Gi each"""
    gpus_per_node: int = Field(8, ge=1, le=16)
    """GPUs of a node"""
    fill: int = Field(90, ge=0, le=100)
    """percent of the GPUs that running jobs ask for"""
    waiting: int = Field(40, ge=0, le=400)
    """percent of the GPUs that waiting jobs ask for"""
    queues: int = Field(2, ge=1, le=100)
    """queues q0, q1, ... of equal weight"""
    placement: Placement = "random-fit"
    """how the running jobs were placed"""


def gpu_pool(given: GpuPool, draw: Draw) -> Raw:
    """A job asks for 1, 2, 4, ... GPUs of one node; a third of the waiting ones are pairs that start together."""
    amounts = _amounts(given.gpus_per_node)
    names = [f"n{number}" for number in range(given.nodes)]
    queues = ({"name": f"q{number}", "weight": 1} for number in range(given.queues))
    instance = frame((node(name, quantities(*amounts)) for name in names), queues, CLASSES)
    room = NodesLeft(dict.fromkeys(names, (*amounts, 110)))
    sizes = [size for size in (1, 2, 4, 8, 16) if size <= given.gpus_per_node]
    total, asked = given.nodes * given.gpus_per_node, 0
    jobs: list[Raw] = instance["jobs"]
    while (asked + 1) * 100 <= total * given.fill:
        size = draw.choice(sizes)
        home = room.place((*_amounts(size), 1), given.placement, draw)
        asked += size
        if home is not None:
            task = workers(1, quantities(*_amounts(size)), [home], start=60 * len(jobs))
            jobs.append(gang(f"run{len(jobs)}", _queue(given, draw), draw.choice(["low", "low", "mid"]), 1, task))
    asked = 0
    while (asked + 1) * 100 <= total * given.waiting:
        size, pair = draw.choice(sizes), draw.below(3) == 0
        replicas = 1 + pair
        asked += size * replicas
        task = workers(replicas, quantities(*_amounts(size)))
        jobs.append(gang(f"new{len(jobs)}", _queue(given, draw), draw.choice(list(CLASSES)), replicas, task))
    return instance


def _amounts(gpus: int) -> tuple[int, int, int]:
    return _CPU_PER_GPU * gpus, _MEMORY_PER_GPU * gpus, gpus


def _queue(given: GpuPool, draw: Draw) -> str:
    return f"q{draw.below(given.queues)}"
