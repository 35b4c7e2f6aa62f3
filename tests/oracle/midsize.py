"""Seeded sessions too large for the oracle, small enough for either solver to prove in a fraction of a second."""

from __future__ import annotations

import random
from typing import Any

from tests.judge import PRIORITIES, conf

Raw = dict[str, Any]
PLUGINS = ("priority", "gang", "conformance", "predicates")
ACTIONS = "enqueue, allocate, preempt, reclaim, backfill"


def midsize(seed: int) -> Raw:
    """Three to five nodes of one or two pools, up to fifteen running pods, two or three gangs of up to four."""
    r = random.Random(seed)
    shapes = [{"cpu": r.choice([1, 2, 3, 4]), "memory": f"{r.choice([1, 2, 4])}Gi"} for _ in range(r.randint(2, 3))]
    room = {f"n{number}": r.choice([4, 6, 8]) for number in range(r.randint(3, 5))}
    nodes = [
        {
            "name": name,
            "allocatable": {"cpu": cpu, "memory": "16Gi", "pods": 20},
            "labels": {"pool": r.choice(["a", "a", "b"])},
        }
        for name, cpu in room.items()
    ]
    jobs: list[Raw] = []
    for number in range(r.randint(2, 5)):
        shape, places = r.choice(shapes), []
        for _ in range(r.randint(1, 3)):
            free = [name for name in room if room[name] >= shape["cpu"]]
            if free:
                places.append(r.choice(free))
                room[places[-1]] -= shape["cpu"]
        if places:
            start = f"2026-01-01T0{r.randint(0, 5)}:00:00Z"
            task = {"requests": shape, "replicas": len(places), "running": places, "startTime": start, "role": "t"}
            jobs.append(_job(r, f"r{number}", task, r.choice([0, 1, len(places)]), (10, 50, 100)))
    for number in range(r.randint(2, 3)):
        size = r.randint(1, 4)
        task = {"requests": r.choice(shapes), "replicas": size, "role": "t"}
        if r.random() < 0.2:
            task["nodeSelector"] = {"pool": "a"}
        jobs.append(_job(r, f"w{number}", task, r.randint(1, size), (50, 100, 1000)))
    return {
        "apiVersion": "cpsched/v1",
        "kind": "Instance",
        "now": "2026-01-01T12:00:00Z",
        "nodes": nodes,
        "priorityClasses": {f"p{value}": value for value in PRIORITIES},
        "queues": [{"name": "q0", "weight": 1}, {"name": "q1", "weight": r.randint(1, 3)}],
        "jobs": jobs,
        "conf": conf(ACTIONS, *PLUGINS, *(["proportion"] if r.random() < 0.4 else [])),
    }


def _job(r: random.Random, name: str, task: Raw, minimum: int, priorities: tuple[int, ...]) -> Raw:
    priority = f"p{r.choice(priorities)}"
    queue = f"q{r.randint(0, 1)}"
    return {"name": name, "queue": queue, "minMember": minimum, "priorityClassName": priority, "tasks": [task]}
