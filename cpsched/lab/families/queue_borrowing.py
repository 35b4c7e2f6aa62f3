"""Queue borrowing: one queue fills the cluster beyond its share while the others sleep; then they claim theirs back."""

from __future__ import annotations

from pydantic import Field

from cpsched.lab.draw import Draw
from cpsched.lab.families.family import Parameters, Raw
from cpsched.lab.families.pieces import NodesLeft, frame, gang, node, quantities, workers

_CPU_PER_GPU, _MEMORY_PER_GPU = 4000, 32


class QueueBorrowing(Parameters):
    """How much is borrowed, and how much of it is claimed."""

    nodes: int = Field(4, ge=1, le=5000)
    """identical GPU nodes, 4 cores and 32 Gi per GPU"""
    gpus_per_node: int = Field(8, ge=2, le=16)
    """GPUs of a node"""
    lenders: int = Field(2, ge=1, le=50)
    """queues beside the borrower, all of equal weight"""
    borrowed: int = Field(100, ge=1, le=100)
    """percent of the GPUs that the borrower holds"""
    claimed: int = Field(60, ge=1, le=200)
    """percent of its equal share that each lender asks for"""
    largest_gang: int = Field(3, ge=1, le=100)
    """tasks of the largest waiting gang"""


def queue_borrowing(given: QueueBorrowing, draw: Draw) -> Raw:
    """All of one priority: only reclaim between queues can make room."""
    names = [f"n{number}" for number in range(given.nodes)]
    queues = ["borrower", *(f"lender{number}" for number in range(given.lenders))]
    shape = _amounts(given.gpus_per_node)
    instance = frame(
        (node(name, quantities(*shape)) for name in names),
        ({"name": name, "weight": 1, "reclaimable": True} for name in queues),
        {"batch": 100},
    )
    room = NodesLeft(dict.fromkeys(names, (*shape, 110)))
    total = given.nodes * given.gpus_per_node
    jobs: list[Raw] = instance["jobs"]
    held = 0
    while (held + 1) * 100 <= total * given.borrowed:
        size = draw.choice([1, 1, 2])
        home = room.place((*_amounts(size), 1), "first-fit", draw) if size <= given.gpus_per_node else None
        if home is None:
            size, home = 1, room.place((*_amounts(1), 1), "first-fit", draw)
        held += size
        assert home is not None, "a GPU is free as long as fewer are held than there are"
        task = workers(1, quantities(*_amounts(size)), [home], start=30 * len(jobs) + draw.below(30))
        jobs.append(gang(f"run{len(jobs)}", "borrower", "batch", 0, task))
    share = total * given.claimed // (100 * len(queues))
    for queue in queues[1:]:
        asked = 0
        while asked < max(1, share):
            size = draw.between(1, min(given.largest_gang, max(1, share - asked)))
            asked += size
            jobs.append(gang(f"new{len(jobs)}", queue, "batch", size, workers(size, quantities(*_amounts(1)))))
    return instance


def _amounts(gpus: int) -> tuple[int, int, int]:
    return _CPU_PER_GPU * gpus, _MEMORY_PER_GPU * gpus, gpus
