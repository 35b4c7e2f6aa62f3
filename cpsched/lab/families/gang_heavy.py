"""Gang-heavy: large all-or-nothing gangs that do not all fit, over nodes that are partly taken by small low jobs."""

from __future__ import annotations

from pydantic import Field

from cpsched.lab.draw import Draw
from cpsched.lab.families.family import Parameters, Raw
from cpsched.lab.families.pieces import CLASSES, NodesLeft, frame, gang, node, quantities, workers

_CORES = 32


class GangHeavy(Parameters):
    """How many gangs, how large, and how much of the cluster is free for them."""

    nodes: int = Field(4, ge=1, le=5000)
    """identical nodes of 32 cores, 128 Gi"""
    gangs: int = Field(5, ge=1, le=5000)
    """waiting gangs"""
    smallest_gang: int = Field(4, ge=2, le=1000)
    """tasks of the smallest gang"""
    largest_gang: int = Field(8, ge=2, le=1000)
    """tasks of the largest gang"""
    elastic: int = Field(20, ge=0, le=100)
    """percent of the gangs that can start with half of their tasks"""
    fill: int = Field(50, ge=0, le=100)
    """percent of the cores that running jobs of low priority ask for"""
    queues: int = Field(2, ge=1, le=100)
    """queues q0, q1, ... of equal weight"""


def gang_heavy(given: GangHeavy, draw: Draw) -> Raw:
    """Tasks of 2 to 8 cores; gangs of the three priorities, running pairs of the lowest."""
    names = [f"n{number}" for number in range(given.nodes)]
    queues = ({"name": f"q{number}", "weight": 1} for number in range(given.queues))
    instance = frame((node(name, quantities(_CORES * 1000, 128)) for name in names), queues, CLASSES)
    room = NodesLeft(dict.fromkeys(names, (_CORES * 1000, 128, 0, 110)))
    jobs: list[Raw] = instance["jobs"]
    asked, wanted = 0, given.nodes * _CORES * given.fill // 100
    while asked + 2 <= wanted:
        cores = draw.choice([1, 2, 4])
        need = (cores * 1000, cores * 2, 0, 1)
        homes = [home for _ in range(2) if (home := room.place(need, "worst-fit", draw))]
        asked += 2 * cores
        if homes:
            task = workers(len(homes), quantities(*need[:2]), homes, start=60 * len(jobs))
            jobs.append(gang(f"run{len(jobs)}", f"q{draw.below(given.queues)}", "low", draw.choice([0, 1]), task))
    for number in range(given.gangs):
        size = draw.between(given.smallest_gang, max(given.smallest_gang, given.largest_gang))
        cores = draw.choice([2, 4, 8])
        minimum = (size + 1) // 2 if draw.chance(given.elastic) else size
        priority, queue = draw.choice(list(CLASSES)), f"q{draw.below(given.queues)}"
        jobs.append(gang(f"gang{number}", queue, priority, minimum, workers(size, quantities(cores * 1000, cores * 2))))
    return instance
