"""A scheduler in forty lines: the most important pod takes the first node with room; no task is evicted.

Reads an Instance on stdin, prints a Solution. Run it as an engine:

    cpsched compare instances/tiny/gang-all-or-nothing.json --engines "exec:python docs/examples/first_fit.py,optimal"

It reads the Instance with cpsched itself, which any program may do that is written in Python; others find Kubernetes
objects under `objects`, as kubectl prints them.
"""

import json
import sys

import cpsched

instance = cpsched.load("-")
idle = {name: dict(node.allocatable) for name, node in instance.nodes.items()}
for name, tasks in instance.tasks_by_node.items():
    for task in tasks:
        for resource, amount in {**task.requests, "pods": 1}.items():
            idle[name][resource] = idle[name].get(resource, 0) - amount

binds = {}
for job in sorted(instance.jobs.values(), key=lambda job: -job.priority):
    trial = {name: dict(room) for name, room in idle.items()}
    placed = {}
    for key in job.tasks:
        task = instance.tasks[key]
        if task.status.value != "Pending" or task.gated:
            continue
        asked = {**task.requests, "pods": 1}
        for name, room in trial.items():
            if all(room.get(resource, 0) >= amount for resource, amount in asked.items()):
                placed[key] = name
                for resource, amount in asked.items():
                    room[resource] -= amount
                break
    running = sum(instance.tasks[key].status.value in ("Running", "Bound") for key in job.tasks)
    if running + len(placed) >= job.min_available:
        idle, binds = trial, {**binds, **placed}

json.dump({"kind": "Solution", "binds": binds}, sys.stdout)
