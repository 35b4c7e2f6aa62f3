"""Seeded sessions to measure on: random contended clusters, gangs and queues, and pools of one-GPU jobs."""

from __future__ import annotations

import random
from typing import Any

Instance = dict[str, Any]
CLASSES = {"p0": 0, "p10": 10, "p100": 100, "p1000": 1000, "p10000": 10000}
ONE_TIER = [
    {"plugins": [{"name": n} for n in ("priority", "gang", "conformance", "proportion", "predicates", "nodeorder")]}
]
CONF = {"actions": "enqueue, allocate, preempt, reclaim, backfill", "tiers": ONE_TIER}


def contended(nodes: int, gangs: int, shapes: int, queues: int, seed: int) -> Instance:
    """Random shapes; running pods fill the nodes, gangs of about 25 of five priorities want in."""
    r = random.Random(seed)
    sizes = [(r.choice([1, 2, 4, 8]) * 500, r.choice([1, 2, 4, 8, 16]), r.choice([0, 0, 1, 2])) for _ in range(shapes)]
    free = {
        f"n{i}": [r.choice([16, 32, 64]) * 1000, r.choice([64, 128, 256]), r.choice([0, 4, 8]), 110]
        for i in range(nodes)
    }
    instance = _empty(free, queues)
    victims = 0
    while victims < nodes * 8:
        size = r.randint(1, 20)
        job = _job(
            f"run{len(instance['jobs'])}",
            r.choice(sizes),
            size,
            r.randint(1, size),
            r.choice(list(CLASSES)[:4]),
            r,
            queues,
        )
        places = [node for _ in range(size) if (node := _first_fit(free, job["tasks"][0], r))]
        if not places:
            continue
        job["tasks"][0] |= {
            "replicas": len(places),
            "running": places,
            "startTime": f"2026-01-01T00:{len(instance['jobs']) % 60:02d}:00Z",
        }
        job["minMember"] = min(job["minMember"], len(places))
        instance["jobs"].append(job)
        victims += len(places)
    for g in range(gangs):
        size = r.randint(5, 45)
        instance["jobs"].append(
            _job(
                f"gang{g}",
                r.choice(sizes),
                size,
                r.randint(max(1, size // 2), size),
                r.choice(list(CLASSES)),
                r,
                queues,
            )
        )
    return instance


def gpu_pool(nodes: int, jobs_per_node: int, seed: int) -> Instance:
    """Identical nodes full of one-GPU jobs of one queue, and as many waiting in another one."""
    del seed
    free = {f"n{i}": [64000, 256, jobs_per_node, 110] for i in range(nodes)}
    instance = _empty(free, 2)
    task = {"requests": {"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": "1"}, "role": "w"}
    for i in range(nodes * jobs_per_node):
        at = {"running": f"n{i % nodes}", "startTime": "2026-01-01T00:00:00Z"}
        instance["jobs"].append(
            {"name": f"run{i}", "queue": "q0", "minMember": 0, "priorityClassName": "p0", "tasks": [task | at]}
        )
        instance["jobs"].append(
            {"name": f"new{i}", "queue": "q1", "minMember": 1, "priorityClassName": "p0", "tasks": [dict(task)]}
        )
    return instance


def _empty(free: dict[str, list[int]], queues: int) -> Instance:
    return {
        "apiVersion": "cpsched/v1",
        "kind": "Instance",
        "conf": CONF,
        "nodes": [{"name": name, "allocatable": _quantities(room) | {"pods": "110"}} for name, room in free.items()],
        "queues": [{"name": f"q{i}", "weight": i + 1} for i in range(queues)],
        "priorityClasses": dict(CLASSES),
        "jobs": [],
    }


def _quantities(room: list[int] | tuple[int, ...]) -> dict[str, str]:
    found = {"cpu": f"{room[0]}m", "memory": f"{room[1]}Gi"}
    return found | {"nvidia.com/gpu": str(room[2])} if room[2] else found


def _job(
    name: str, shape: tuple[int, int, int], size: int, minimum: int, priority: str, r: random.Random, queues: int
) -> Instance:
    task = {"replicas": size, "role": "w", "requests": _quantities(shape)}
    return {
        "name": name,
        "queue": f"q{r.randrange(queues)}",
        "minMember": minimum,
        "priorityClassName": priority,
        "tasks": [task],
    }


def _first_fit(free: dict[str, list[int]], task: Instance, r: random.Random) -> str | None:
    wants = task["requests"]
    need = [int(wants["cpu"][:-1]), int(wants["memory"][:-2]), int(wants.get("nvidia.com/gpu", 0)), 1]
    for node in r.sample(list(free), min(len(free), 12)):
        if all(have >= want for have, want in zip(free[node], need, strict=True)):
            free[node] = [have - want for have, want in zip(free[node], need, strict=True)]
            return node
    return None
