"""CPUs of NUMA nodes: enough of them are free, but not side by side."""

from __future__ import annotations

from pydantic import Field

from cpsched.hardware.cpus import POLICY
from cpsched.lab.draw import Draw
from cpsched.lab.families.family import Parameters, Raw
from cpsched.lab.families.pieces import CLASSES, configuration, frame, gang, node, quantities, workers

_POLICY = "single-numa-node"


class Numa(Parameters):
    """How nodes are built, how full they are, what waits."""

    nodes: int = Field(3, ge=1, le=1000)
    """identical nodes, policy single-numa-node"""
    numa_nodes: int = Field(2, ge=2, le=8)
    """NUMA nodes of a node, each a socket"""
    cpus: int = Field(8, ge=2, le=64)
    """CPUs of a NUMA node"""
    fill: int = Field(50, ge=0, le=100)
    """percent of the CPUs that running pods hold, as even over the NUMA nodes as can be"""
    waiting: int = Field(50, ge=0, le=400)
    """percent of the CPUs that waiting pods ask for"""
    aligned: int = Field(80, ge=0, le=100)
    """percent of the waiting pods that are Guaranteed and must have their CPUs on one NUMA node"""
    queues: int = Field(2, ge=1, le=100)
    """queues q0, q1, ... of equal weight"""


def numa(given: Numa, draw: Draw) -> Raw:
    """Of each NUMA node the first CPUs are held; who waits asks for a few CPUs or for nearly all of a NUMA node."""
    total = given.numa_nodes * given.cpus
    names = [f"n{number}" for number in range(given.nodes)]
    queues = ({"name": f"q{number}", "weight": 1} for number in range(given.queues))
    instance = frame((node(name, quantities(1000 * total, 2 * total)) for name in names), queues, CLASSES)
    instance["conf"] = configuration("enqueue, allocate, backfill", {"name": "numa-aware"})
    jobs: list[Raw] = instance["jobs"]
    held = total * given.fill // 100
    instance["objects"] = [_topology(name, given, held) for name in names]
    for name in names if held else ():
        task = workers(1, quantities(1000 * held, held), [name])
        jobs.append(gang(f"run{len(jobs)}", f"q{draw.below(given.queues)}", "low", 1, task))
    asked = 0
    while (asked + 1) * 100 <= given.nodes * total * given.waiting:
        few, many = max(1, given.cpus // 4), max(1, given.cpus * 3 // 4)
        cpus = draw.between(1, few) if draw.chance(50) else draw.between(many, given.cpus)
        asked += cpus
        task = workers(1, quantities(1000 * cpus, cpus))
        if draw.chance(given.aligned):
            task |= {"limits": task["requests"], "annotations": {POLICY: _POLICY}}
        jobs.append(gang(f"new{len(jobs)}", f"q{draw.below(given.queues)}", draw.choice(list(CLASSES)), 1, task))
    return instance


def _topology(name: str, given: Numa, held: int) -> Raw:
    """The Numatopology of a node; so many CPUs are held, one of each NUMA node in turn."""
    places = {
        number * given.cpus + cpu: {"numa": number, "socket": number, "core": number * given.cpus + cpu}
        for number in range(given.numa_nodes)
        for cpu in range(given.cpus)
    }
    taken = {turn % given.numa_nodes * given.cpus + turn // given.numa_nodes for turn in range(held)}
    spec = {
        "policies": {"CPUManagerPolicy": "static", "TopologyManagerPolicy": _POLICY},
        "numares": {
            "cpu": {"allocatable": ",".join(str(cpu) for cpu in places if cpu not in taken), "capacity": len(places)}
        },
        "cpuDetail": {str(cpu): place for cpu, place in places.items()},
    }
    return {
        "apiVersion": "nodeinfo.volcano.sh/v1alpha1",
        "kind": "Numatopology",
        "metadata": {"name": name},
        "spec": spec,
    }
