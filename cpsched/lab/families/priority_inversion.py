"""Priority inversion: the last room goes to the queue with the smaller share, though the other has the urgent jobs."""

from __future__ import annotations

from pydantic import Field

from cpsched.lab.draw import Draw
from cpsched.lab.families.family import Parameters, Raw
from cpsched.lab.families.pieces import frame, gang, node, quantities, stamp, workers

CLASSES = {"low": 10, "high": 1000, "system": 1_000_000}


class PriorityInversion(Parameters):
    """How many slots are fought for."""

    nodes: int = Field(4, ge=1, le=5000)
    """nodes of four slots: one for the system, two taken by the busy queue, one free"""
    urgent: int = Field(100, ge=1, le=100)
    """percent of the free slots that jobs of high priority in the busy queue ask for"""
    fillers: int = Field(100, ge=1, le=100)
    """percent of the free slots that jobs of low priority in the sleeping queue ask for"""
    largest_gang: int = Field(2, ge=1, le=100)
    """tasks of the largest waiting gang"""


def priority_inversion(given: PriorityInversion, draw: Draw) -> Raw:
    """The busy queue has three times the weight, so its urgent jobs are within its share; no task is evicted for them.

    What runs in the busy queue has the high priority too, the sleeping queue holds nothing that runs, and the system's
    pods belong to no queue.
    """
    slot = draw.between(2, 8) * 1000
    amounts, request = quantities(4 * slot, 64), quantities(slot, 1)
    names = [f"n{number}" for number in range(given.nodes)]
    queues = [{"name": "busy", "weight": 3}, {"name": "sleeping", "weight": 1}]
    instance = frame((node(name, amounts) for name in names), queues, CLASSES)
    jobs: list[Raw] = instance["jobs"]
    for number, name in enumerate(names):
        task = workers(2, request, [name, name], start=60 * number)
        jobs.append(gang(f"run{number}", "busy", "high", 2, task))
    waiting = [("urgent", "busy", "high", given.urgent), ("filler", "sleeping", "low", given.fillers)]
    for kind, queue, priority, percent in waiting:
        left, number = max(1, given.nodes * percent // 100), 0
        while left:
            size = draw.between(1, min(left, given.largest_gang))
            jobs.append(gang(f"{kind}{number}", queue, priority, size, workers(size, request)))
            left, number = left - size, number + 1
    draw.shuffle(jobs)
    instance["objects"] = [_system_pod(name, request) for name in names]
    return instance


def _system_pod(home: str, request: dict[str, str]) -> Raw:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"agent-{home}", "namespace": "kube-system"},
        "spec": {
            "schedulerName": "default-scheduler",
            "nodeName": home,
            "priorityClassName": "system",
            "containers": [{"name": "main", "resources": {"requests": request}}],
        },
        "status": {"phase": "Running", "startTime": stamp(0)},
    }
