"""Random contended clusters: running pods of random shapes fill the nodes, gangs of five priorities want in."""

from __future__ import annotations

from pydantic import Field

from cpsched.lab.draw import Draw
from cpsched.lab.families.family import Parameters, Raw
from cpsched.lab.families.pieces import Need, frame, gang, node, quantities, stamp, workers

CLASSES = {"p0": 0, "p10": 10, "p100": 100, "p1000": 1000, "p10000": 10000}
RUNNING_CLASSES = list(CLASSES)[:4]
_LOOKED_AT, _FRUITLESS = 12, 1000


class Contended(Parameters):
    """How large, how full, how much waits."""

    nodes: int = Field(8, ge=1, le=5000)
    """nodes of random size: 16 to 64 cores, 64 to 256 Gi, 0, 4 or 8 GPUs"""
    gangs: int = Field(4, ge=0, le=5000)
    """waiting gangs"""
    shapes: int = Field(4, ge=1, le=500)
    """different requests; every job has one of them"""
    queues: int = Field(2, ge=1, le=100)
    """queues q0, q1, ... of weight 1, 2, ..."""
    running_per_node: int = Field(8, ge=0, le=100)
    """running pods, on average"""
    smallest_gang: int = Field(5, ge=1, le=1000)
    """tasks of the smallest waiting gang"""
    largest_gang: int = Field(45, ge=1, le=1000)
    """tasks of the largest waiting gang"""


def contended(given: Contended, draw: Draw) -> Raw:
    """Running gangs until the nodes are as full as asked, then the waiting ones."""
    sizes = [
        (draw.choice([1, 2, 4, 8]) * 500, draw.choice([1, 2, 4, 8, 16]), draw.choice([0, 0, 1, 2]))
        for _ in range(given.shapes)
    ]
    free: dict[str, Need] = {
        f"n{i}": (draw.choice([16, 32, 64]) * 1000, draw.choice([64, 128, 256]), draw.choice([0, 4, 8]), 110)
        for i in range(given.nodes)
    }
    nodes = [node(name, quantities(cpu, memory, gpu)) for name, (cpu, memory, gpu, _) in free.items()]
    instance = frame(nodes, ({"name": f"q{i}", "weight": i + 1} for i in range(given.queues)), CLASSES)
    jobs: list[Raw] = instance["jobs"]
    running = fruitless = 0
    while running < given.nodes * given.running_per_node and fruitless < _FRUITLESS:
        size = draw.between(1, 20)
        shape, minimum, priority = draw.choice(sizes), draw.between(1, size), draw.choice(RUNNING_CLASSES)
        queue = f"q{draw.below(given.queues)}"
        places = [home for _ in range(size) if (home := _place(free, (*shape, 1), draw))]
        if not places:
            fruitless += 1
            continue
        fruitless = 0
        task = workers(len(places), quantities(*shape), places)
        task["startTime"] = stamp(len(jobs) % 60 * 60)
        jobs.append(gang(f"run{len(jobs)}", queue, priority, min(minimum, len(places)), task))
        running += len(places)
    largest = max(given.smallest_gang, given.largest_gang)
    for number in range(given.gangs):
        size = draw.between(given.smallest_gang, largest)
        shape, minimum = draw.choice(sizes), draw.between(max(1, size // 2), size)
        priority, queue = draw.choice(list(CLASSES)), f"q{draw.below(given.queues)}"
        jobs.append(gang(f"gang{number}", queue, priority, minimum, workers(size, quantities(*shape))))
    return instance


def _place(free: dict[str, Need], need: Need, draw: Draw) -> str | None:
    """The first of a few random nodes that has room."""
    for name in draw.sample(list(free), min(len(free), _LOOKED_AT)):
        if all(map(int.__ge__, free[name], need)):
            free[name] = tuple(map(int.__sub__, free[name], need))
            return name
    return None
