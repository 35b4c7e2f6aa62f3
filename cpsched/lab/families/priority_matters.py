"""The grid of "Priority Matters" (Christensen, Giallorenzo, Mauro, arXiv 2511.08373): ReplicaSets on equal nodes.

As published with its scripts: 4, 8, 16, 32 nodes; 4 or 8 pods per node; 1, 2, 4 priorities; 90, 95, 100, 105 % usage;
100m to 1000m and 100 MB to 1000 MB per pod; 1 to 4 replicas per ReplicaSet. Drawn again here: the seeds are not theirs.
"""

from __future__ import annotations

from pydantic import Field

from cpsched.lab.draw import Draw
from cpsched.lab.families.family import Parameters, Raw
from cpsched.lab.families.pieces import NodesLeft, frame, gang, node, stamp

_MILLI, _MEGABYTES, _REPLICAS = (100, 1000), (100, 1000), (1, 4)
_HALVES = {1: (2, 2, 2, 2), 2: (3, 1, 3, 1), 3: (2, 2, 3, 1)}
"""The sizes of four nodes, in halves of what is usual."""


class PriorityMatters(Parameters):
    """A cell of the grid; the published values are named, others work too."""

    nodes: int = Field(4, ge=1, le=1000)
    """equal nodes; published: 4, 8, 16, 32"""
    pods_per_node: int = Field(4, ge=1, le=100)
    """pods for each node; published: 4, 8"""
    priorities: int = Field(4, ge=1, le=100)
    """priorities, drawn evenly; published: 1, 2, 4"""
    usage: int = Field(105, ge=1, le=400)
    """percent of the cluster that all pods ask for; published: 90, 95, 100, 105"""
    node_sizes: int = Field(1, ge=1, le=3)
    """3: of four nodes one has 1.5 and one 0.5 times the size; 2: all nodes have one of these sizes; published: 1"""
    running: int = Field(0, ge=0, le=100)
    """percent of the pods that run already, spread out as kube-scheduler does; published: 0"""


def priority_matters(given: PriorityMatters, draw: Draw) -> Raw:
    """The nodes are as large as the pods that were drawn need them to be for the usage asked for."""
    sets, left = [], given.nodes * given.pods_per_node
    while left:
        replicas = min(left, draw.between(*_REPLICAS))
        sets.append((replicas, draw.between(*_MILLI), draw.between(*_MEGABYTES), draw.between(1, given.priorities)))
        left -= replicas
    cpu, memory = (
        -(-100 * sum(replicas * one[kind] for replicas, *one, _ in sets) // (given.usage * given.nodes))
        for kind in (0, 1)
    )
    names = [f"n{number}" for number in range(given.nodes)]
    classes = {f"p{number}": number for number in range(1, given.priorities + 1)}
    halves = [_HALVES[given.node_sizes][number % 4] for number in range(given.nodes)]
    sizes = [(cpu * half // 2, memory * half // 2) for half in halves]
    nodes = (node(name, _amounts(*size)) for name, size in zip(names, sizes, strict=True))
    instance = frame(nodes, [{"name": "default", "weight": 1}], classes)
    room = NodesLeft({name: (*size, 0, 110) for name, size in zip(names, sizes, strict=True)})
    to_run = given.nodes * given.pods_per_node * given.running // 100
    for number, (replicas, milli, megabytes, priority) in enumerate(sets):
        task: Raw = {"role": "w", "replicas": replicas, "requests": _amounts(milli, megabytes)}
        asked = min(replicas, to_run)
        to_run -= asked
        homes = [home for _ in range(asked) if (home := room.place((milli, megabytes, 0, 1), "worst-fit", draw))]
        if homes:
            task |= {"running": homes, "startTime": stamp(number)}
        instance["jobs"].append(gang(f"rs{number}", "default", f"p{priority}", 1, task))
    return instance


def _amounts(milli: int, megabytes: int) -> dict[str, str]:
    return {"cpu": f"{milli}m", "memory": f"{megabytes}M"}
