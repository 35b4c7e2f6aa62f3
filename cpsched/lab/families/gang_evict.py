"""Gang-evict: a full cluster in racks, and gangs that gangpreempt and gangreclaim are to make room for."""

from __future__ import annotations

from pydantic import Field

from cpsched.lab.draw import Draw
from cpsched.lab.families.family import Parameters, Raw
from cpsched.lab.families.pieces import CLASSES, GPU, NodesLeft, frame, gang, node, quantities, workers
from cpsched.lab.families.racks import EVICTING, configuration, demand, hyper_nodes

_CPU_PER_GPU, _MEMORY_PER_GPU = 4000, 32


class GangEvict(Parameters):
    """The racks, who runs in them, and who wants in."""

    racks: int = Field(3, ge=1, le=250)
    """racks: HyperNodes of tier 1; two of them are a block of tier 2"""
    nodes_per_rack: int = Field(2, ge=1, le=20)
    """identical GPU nodes of a rack, 4 cores and 32 Gi per GPU"""
    gpus_per_node: int = Field(4, ge=1, le=16)
    """GPUs of a node; every one is taken"""
    largest_victim: int = Field(8, ge=1, le=100)
    """tasks of the largest running gang"""
    whole: int = Field(40, ge=0, le=100)
    """percent of the running gangs that need all of their tasks; the others need one"""
    preemptors: int = Field(2, ge=0, le=1000)
    """waiting gangs of high priority in the queue of those who run: gangpreempt"""
    reclaimers: int = Field(1, ge=0, le=1000)
    """waiting gangs in the other queue, which has nothing of its half yet: gangreclaim"""
    largest_gang: int = Field(3, ge=1, le=100)
    """tasks of the largest waiting gang"""
    hard: int = Field(50, ge=0, le=100)
    """percent of the waiting gangs that must stay in one rack or one block"""


def gang_evict(given: GangEvict, draw: Draw) -> Raw:
    """One-GPU tasks of gangs of low and mid priority fill the nodes one after the other; each queue deserves half."""
    names = [f"n{number}" for number in range(given.racks * given.nodes_per_rack)]
    shape, total = _amounts(given.gpus_per_node), len(names) * given.gpus_per_node
    half = {"cpu": f"{_CPU_PER_GPU * total // 2}m", "memory": f"{_MEMORY_PER_GPU * total // 2}Gi", GPU: str(total // 2)}
    queues = ({"name": name, "deserved": half, "reclaimable": True} for name in ("busy", "late"))
    instance = frame((node(name, quantities(*shape)) for name in names), queues, CLASSES)
    instance["hyperNodes"] = hyper_nodes(names, given.nodes_per_rack, 2)
    instance["conf"] = configuration(EVICTING, "capacity")
    room = NodesLeft(dict.fromkeys(names, (*shape, 110)))
    jobs: list[Raw] = instance["jobs"]
    request, left = quantities(*_amounts(1)), total
    while left:
        size = min(left, draw.between(1, given.largest_victim))
        homes = [home for _ in range(size) if (home := room.place((*_amounts(1), 1), "first-fit", draw))]
        minimum = size if draw.chance(given.whole) else 1
        task = workers(size, request, homes, start=60 * len(jobs))
        jobs.append(gang(f"run{len(jobs)}", "busy", draw.choice(["low", "mid"]), minimum, task))
        left -= size
    waiting = [("busy", "high")] * given.preemptors + [("late", "mid")] * given.reclaimers
    for number, (queue, priority) in enumerate(waiting):
        size = draw.between(1, given.largest_gang)
        made = gang(f"gang{number}", queue, priority, size, workers(size, request))
        wanted = demand(draw, given.hard, 0)
        jobs.append(made if wanted is None else made | {"networkTopology": wanted})
    return instance


def _amounts(gpus: int) -> tuple[int, int, int]:
    return _CPU_PER_GPU * gpus, _MEMORY_PER_GPU * gpus, gpus
