"""Topology: gangs that must stay, or would rather stay, in one rack or block of a partly taken cluster."""

from __future__ import annotations

from pydantic import Field

from cpsched.lab.draw import Draw
from cpsched.lab.families.family import Parameters, Raw
from cpsched.lab.families.pieces import CLASSES, NodesLeft, frame, gang, node, quantities, workers
from cpsched.lab.families.racks import PLACING, RACK, configuration, demand, hyper_nodes

_CPU_PER_GPU, _MEMORY_PER_GPU = 4000, 32
_PART = "part"


class Racks(Parameters):
    """The tree, how much of it is taken, and what the gangs ask of it."""

    racks: int = Field(4, ge=1, le=250)
    """racks: HyperNodes of tier 1"""
    nodes_per_rack: int = Field(2, ge=1, le=20)
    """identical GPU nodes of a rack, 4 cores and 32 Gi per GPU"""
    racks_per_block: int = Field(2, ge=1, le=250)
    """racks of a block, a HyperNode of tier 2"""
    gpus_per_node: int = Field(8, ge=1, le=16)
    """GPUs of a node"""
    fill: int = Field(40, ge=0, le=100)
    """percent of the GPUs that running jobs of low priority ask for"""
    gangs: int = Field(6, ge=1, le=5000)
    """waiting gangs of three priorities"""
    smallest_gang: int = Field(2, ge=1, le=1000)
    """tasks of the smallest gang"""
    largest_gang: int = Field(6, ge=1, le=1000)
    """tasks of the largest gang"""
    hard: int = Field(60, ge=0, le=100)
    """percent of the gangs that must stay in one rack or one block"""
    soft: int = Field(50, ge=0, le=100)
    """percent of the others that would rather be near each other"""
    grouped: int = Field(25, ge=0, le=100)
    """percent of the gangs that are sub-groups of two tasks, each of which must stay in one rack"""
    queues: int = Field(2, ge=1, le=100)
    """queues q0, q1, ... of equal weight"""


def topology(given: Racks, draw: Draw) -> Raw:
    """Jobs of one GPU or two run here and there; gangs of tasks of 1, 2, 4 or 8 GPUs wait."""
    names = [f"n{number}" for number in range(given.racks * given.nodes_per_rack)]
    shape = _amounts(given.gpus_per_node)
    queues = ({"name": f"q{number}", "weight": 1} for number in range(given.queues))
    instance = frame((node(name, quantities(*shape)) for name in names), queues, CLASSES)
    instance["hyperNodes"] = hyper_nodes(names, given.nodes_per_rack, given.racks_per_block)
    instance["conf"] = configuration(PLACING)
    room = NodesLeft(dict.fromkeys(names, (*shape, 110)))
    jobs: list[Raw] = instance["jobs"]
    held, wanted = 0, len(names) * given.gpus_per_node * given.fill // 100
    while held < wanted:
        size = min(draw.choice([1, 1, 2]), wanted - held)
        held += size
        home = room.place((*_amounts(size), 1), "random-fit", draw)
        if home is not None:
            task = workers(1, quantities(*_amounts(size)), [home], start=60 * len(jobs))
            jobs.append(gang(f"run{len(jobs)}", f"q{draw.below(given.queues)}", "low", 1, task))
    sizes = [size for size in (1, 2, 4, 8) if size <= given.gpus_per_node]
    for number in range(given.gangs):
        jobs.append(_gang(given, draw, f"gang{number}", sizes))
    return instance


def _gang(given: Racks, draw: Draw, name: str, sizes: list[int]) -> Raw:
    count = draw.between(given.smallest_gang, max(given.smallest_gang, given.largest_gang))
    request = quantities(*_amounts(draw.choice(sizes)))
    queue, priority = f"q{draw.below(given.queues)}", draw.choice(list(CLASSES))
    wanted = demand(draw, given.hard, given.soft)
    if count < 2 or not draw.chance(given.grouped):
        made = gang(name, queue, priority, count, workers(count, request))
        return made if wanted is None else made | {"networkTopology": wanted}
    pairs = count // 2
    tasks = [workers(2, request) | {"labels": {_PART: str(part)}} for part in range(pairs)]
    policy: Raw = {
        "name": "pairs",
        "matchLabelKeys": [_PART],
        "subGroupSize": 2,
        "minSubGroups": pairs,
        "networkTopology": {"mode": "hard", "highestTierAllowed": RACK},
    }
    made = gang(name, queue, priority, 2 * pairs, {}) | {"tasks": _numbered(tasks), "subGroupPolicy": [policy]}
    return made if wanted is None else made | {"networkTopology": wanted}


def _numbered(tasks: list[Raw]) -> list[Raw]:
    return [task | {"role": f"w{number}"} for number, task in enumerate(tasks)]


def _amounts(gpus: int) -> tuple[int, int, int]:
    return _CPU_PER_GPU * gpus, _MEMORY_PER_GPU * gpus, gpus
