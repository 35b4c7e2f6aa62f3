"""Clusters and study rows to report on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cpsched
from cpsched.checker import checked_from_outside
from cpsched.importers.policy import load_policy
from cpsched.report.scene import Scene
from cpsched.solution import Solution

HEAD = {"apiVersion": "cpsched/v1", "kind": "Instance", "priorityClasses": {"high": 1000, "low": 10}}


def node(name: str, **size: str) -> dict[str, Any]:
    return {"name": name, "allocatable": {"cpu": "8", "memory": "16Gi", "pods": "10", **size}}


def job(name: str, cpu: str, *, running: str | None = None, priority: str = "low", replicas: int = 1) -> dict[str, Any]:
    task: dict[str, Any] = {"requests": {"cpu": cpu, "memory": "1Gi"}, "replicas": replicas}
    if running is not None:
        task |= {"running": running, "startTime": "2026-01-01T01:00:00Z"}
    return {"name": name, "minMember": 0 if running else replicas, "priorityClassName": priority, "tasks": [task]}


def scene(nodes: Sequence[dict[str, Any]], jobs: Sequence[dict[str, Any]], *decisions: dict[str, Any]) -> Scene:
    """The cluster under model volcano with decisions named a, b, …"""
    instance = cpsched.load({**HEAD, "nodes": list(nodes), "jobs": list(jobs)})
    policy = load_policy("volcano", instance=instance)
    solutions = [checked_from_outside(instance, policy, Solution.parse(one)) for one in decisions]
    return Scene.of(instance, policy, solutions, list("abc"[: len(decisions)]))


def level(name: str, value: int | None, optimum: int | None, sense: str = "min") -> dict[str, Any]:
    return {"name": name, "level": name, "sense": sense, "value": value, "optimal_value": optimum}


def cell(instance: str, engine: str = "volcano", levels: Sequence[dict[str, Any]] = (), **changes: Any) -> Any:
    """A row of `cells` with its rows of `levels`, as docs/study.md has them; the levels say what differs."""
    first = next((number for number, one in enumerate(levels) if one["value"] != one["optimal_value"]), None)
    row: dict[str, Any] = {
        "key": f"{instance}-{engine}",
        "instance": instance,
        "instance_sha256": instance,
        "nodes": 2,
        "jobs": 3,
        "queues": 1,
        "tasks_pending": 4,
        "tasks_running": 6,
        "model": "volcano",
        "model_by": None,
        "engine": engine,
        "seed": 1,
        "status": "ok",
        "error": None,
        "solution": "optimal" if engine == "optimal" else "heuristic",
        "findings": 0,
        "findings_by_rule": "{}",
        "wall_seconds": 0.5,
        "compared": None if engine == "optimal" else "same" if first is None else "behind",
        "first_difference": None,
        "first_difference_rank": None,
        "doubts": None,
        "first_difference_value": None,
        "first_difference_optimal": None,
    }
    if first is not None and engine != "optimal":
        one = levels[first]
        row |= {"first_difference": one["level"], "first_difference_rank": first + 1}
        row |= {"first_difference_value": str(one["value"]), "first_difference_optimal": str(one["optimal_value"])}
    row |= changes
    return row, [{**one, "engine": engine, "model": row["model"], "seed": 1} for one in levels]
