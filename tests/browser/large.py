"""Clusters of any size with two decisions that differ, for tests and for the benchmark of the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cpsched
from cpsched.importers.policy import load_policy
from cpsched.report.decisions import decision_report
from cpsched.report.html import html
from cpsched.report.scene import Scene
from cpsched.solution import Solution


def cluster(nodes: int, running: int, pending: int) -> dict[str, Any]:
    """Nodes in sizes of their own, tasks of one job that run, and tasks of another that are pending."""
    sizes = [
        {"name": f"n{n}", "allocatable": {"cpu": f"{32 + n}", "memory": "64Gi", "pods": "99"}} for n in range(nodes)
    ]
    requests = {"cpu": "500m", "memory": "1Gi"}
    started = {"running": [f"n{n % nodes}" for n in range(running)], "startTime": "2026-01-01T00:00:00Z"}
    jobs = [
        {"name": "old", "minMember": 0, "tasks": [{"replicas": running, "requests": requests, **started}]},
        {"name": "new", "minMember": 1, "tasks": [{"replicas": pending, "requests": requests}]},
    ]
    return {"apiVersion": "cpsched/v1", "kind": "Instance", "nodes": sizes, "jobs": jobs}


def decision(step: int, nodes: int, running: int, pending: int) -> Solution:
    """Spread over the nodes, every `step`th somewhere else."""
    binds = {f"new/task-{n}": f"n{(n * step) % nodes}" for n in range(pending)}
    evictions = [{"task": f"old/task-{n}", "node": f"n{n % nodes}"} for n in range(0, running, 40 * step)]
    return Solution.parse({"binds": binds, "evictions": evictions})


def page_of_size(file: Path, nodes: int, running: int, pending: int) -> None:
    """Write the report on two decisions."""
    instance = cpsched.load(cluster(nodes, running, pending))
    policy = load_policy("throughput", instance=instance)
    decisions = [decision(step, nodes, running, pending) for step in (1, 7)]
    file.write_text(html(decision_report(Scene.of(instance, policy, decisions, ["one", "other"]))))
