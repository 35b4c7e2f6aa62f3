"""The small cluster that the tests of the explorer look at, and its page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cpsched
from cpsched.checker import checked_from_outside
from cpsched.importers.policy import load_policy
from cpsched.report.decisions import decision_report
from cpsched.report.html import html
from cpsched.report.scene import Scene
from cpsched.solution import Solution


def cluster(gpu_node: str = "gpu-node") -> dict[str, Any]:
    """Six nodes in two zones; an urgent job needs one pod's room, and there are three ways to make it."""
    sizes = {"cpu": "8", "memory": "32Gi", "nvidia.com/gpu": "8", "pods": "20"}
    nodes = [
        {"name": gpu_node, "allocatable": sizes, "labels": {"topology.kubernetes.io/zone": "east"}},
        *(
            {
                "name": f"cpu-{n}",
                "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "20"},
                "labels": {"topology.kubernetes.io/zone": "east" if n % 2 else "west"},
            }
            for n in range(5)
        ),
    ]
    gpu = {"cpu": "1", "nvidia.com/gpu": "1"}

    def job(name: str, priority: int, least: int, **task: Any) -> dict[str, Any]:
        return {"name": name, "priorityClassName": f"p{priority}", "minMember": least, "tasks": [task]}

    six = {"cpu": "6", "nvidia.com/gpu": "6"}
    jobs = [
        job("finetune", 100, 0, requests=six, running=gpu_node),
        job("notebook", 10, 0, replicas=2, requests=gpu, running=gpu_node),
        job("urgent", 1000, 1, requests=six),
        job("web", 50, 3, replicas=3, requests={"cpu": "2", "memory": "1Gi"}),
        job("large", 20, 1, requests={"cpu": "64"}),
    ]
    classes = {f"p{value}": value for value in (10, 20, 50, 100, 1000)}
    source = {"apiVersion": "cpsched/v1", "kind": "Instance", "priorityClasses": classes, "nodes": nodes, "jobs": jobs}
    return source | {"hyperNodes": hyper_nodes()}


def hyper_nodes() -> list[dict[str, Any]]:
    """Two leaves under a spine; the large node is in none."""
    leaves = {"leaf-0": ["cpu-0", "cpu-1", "cpu-2"], "leaf-1": ["cpu-3", "cpu-4"]}
    found = [{"name": name, "tier": 1, "nodes": nodes} for name, nodes in leaves.items()]
    return [*found, {"name": "spine", "tier": 2, "hyperNodes": list(leaves)}]


def page_for(folder: Path, source: dict[str, Any]) -> Path:
    """The report on two decisions that differ in whom they evict."""
    instance = cpsched.load(source)
    node = source["nodes"][0]["name"]
    web = {f"web/task-{n}": f"cpu-{n}" for n in range(3)}
    heuristic = {
        "engine": "volcano",
        "binds": web,
        "pipelined": {"urgent/task-0": node},
        "evictions": [
            {"task": task, "node": node, "action": "preempt", "for": "default/urgent"}
            for task in ("finetune/task-0", "notebook/task-0", "notebook/task-1")
        ],
        "unplaced": {"large/task-0": ["no node has 64 cpu"]},
    }
    optimum = heuristic | {"evictions": heuristic["evictions"][:1]}  # type: ignore[index]
    policy = load_policy("volcano", instance=instance)
    scene = Scene.of(
        instance,
        policy,
        [checked_from_outside(instance, policy, Solution.parse(one)) for one in (heuristic, optimum)],
        ["volcano", "optimal"],
    )
    file = folder / "explorer.html"
    file.write_text(html(decision_report(scene)))
    return file
