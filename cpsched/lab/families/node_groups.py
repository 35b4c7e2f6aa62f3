"""Groups of nodes that queues may use: some queues have nodes of their own, and limits in those that they share."""

from __future__ import annotations

import json

from pydantic import Field

from cpsched.lab.draw import Draw
from cpsched.lab.families.family import Parameters, Raw
from cpsched.lab.families.pieces import CLASSES, NodesLeft, configuration, frame, gang, node, quantities, workers
from cpsched.snapshot.node_rules.queue_groups import LABEL, LIMITS

_CORES, _MEMORY = 16, 64
_REQUIRED, _PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)


class GroupedNodes(Parameters):
    """How many groups and queues, and how much is asked for."""

    groups: int = Field(3, ge=2, le=100)
    """groups of nodes g0, g1, ...; queue q0 must use g0, q1 g1, and so on; the last group is for all"""
    nodes_per_group: int = Field(2, ge=1, le=500)
    """identical nodes of 16 cores, 64 Gi"""
    fill: int = Field(40, ge=0, le=100)
    """percent of the cores that running jobs of low priority ask for, where their queues may run"""
    waiting: int = Field(90, ge=0, le=400)
    """percent of the cores that waiting jobs ask for"""
    busy: int = Field(60, ge=0, le=100)
    """percent of the jobs that are of queue q0, the others of any queue"""
    limit: int = Field(50, ge=0, le=100)
    """percent of the cores of the last group that each queue may use there; 100: no limits"""
    largest_gang: int = Field(3, ge=1, le=100)
    """tasks of the largest waiting gang"""


def node_groups(given: GroupedNodes, draw: Draw) -> Raw:
    """Each queue has its own group and the last one; the busy queue's jobs do not fit into both."""
    count = given.groups * given.nodes_per_group
    group_of = {f"n{number}": f"g{number // given.nodes_per_group}" for number in range(count)}
    own = {f"q{number}": f"g{number}" for number in range(given.groups - 1)}
    common = f"g{given.groups - 1}"
    nodes = (node(name, quantities(1000 * _CORES, _MEMORY), {LABEL: group}) for name, group in group_of.items())
    instance = frame(nodes, (_queue(given, name, group, common) for name, group in own.items()), CLASSES)
    instance["conf"] = configuration("enqueue, allocate, backfill, preempt, reclaim", {"name": "nodegroup"})
    room = NodesLeft(dict.fromkeys(group_of, (1000 * _CORES, _MEMORY, 110)))
    jobs: list[Raw] = instance["jobs"]
    total = _CORES * len(group_of)
    asked = 0
    while (asked + 1) * 100 <= total * given.fill:
        cores, queue = draw.choice([1, 2, 4]), draw.choice(list(own))
        asked += cores
        among = [name for name, group in group_of.items() if group == own[queue]]
        home = room.place((1000 * cores, 2 * cores, 1), "first-fit", draw, among)
        if home is not None:
            task = workers(1, quantities(1000 * cores, 2 * cores), [home], start=60 * len(jobs))
            jobs.append(gang(f"run{len(jobs)}", queue, "low", 1, task))
    asked = 0
    while (asked + 1) * 100 <= total * given.waiting:
        cores, size = draw.choice([2, 4, 8]), draw.between(1, given.largest_gang)
        queue = "q0" if draw.chance(given.busy) else draw.choice(list(own))
        asked += cores * size
        task = workers(size, quantities(1000 * cores, 2 * cores))
        jobs.append(gang(f"new{len(jobs)}", queue, draw.choice(["mid", "high"]), size, task))
    return instance


def _queue(given: GroupedNodes, name: str, own: str, common: str) -> Raw:
    affinity = {_REQUIRED: [own], _PREFERRED: [common]}
    made: Raw = {"name": name, "weight": 1, "affinity": {"nodeGroupAffinity": affinity}}
    if given.limit == 100:
        return made
    cores = _CORES * given.nodes_per_group * given.limit // 100
    return made | {"annotations": {LIMITS: json.dumps({common: {"cpu": str(cores)}})}}
