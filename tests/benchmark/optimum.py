"""The optimum beside the plain model and the class model as they come: who proves what, how long, how much memory.

Every run is a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

LIMIT = 60
ALTERNATIVE_LIMIT = 30
Recipe = tuple[str, dict[str, Any]]
Case = tuple[Recipe, int]

SMALL: dict[str, Recipe] = {
    "contended": ("contended", {"nodes": 30, "gangs": 10, "shapes": 6, "queues": 2, "largest_gang": 20}),
    "gang-heavy": ("gang-heavy", {"nodes": 30, "gangs": 15, "largest_gang": 16}),
    "queue-borrowing": ("queue-borrowing", {"nodes": 40, "lenders": 3}),
}
LARGE: Recipe = ("contended", {"nodes": 100, "gangs": 40, "shapes": 12, "queues": 1})
LARGE_QUEUES: Recipe = ("contended", {"nodes": 100, "gangs": 40, "shapes": 12, "queues": 2})
REPLICAS: Recipe = ("gang-heavy", {"nodes": 12, "gangs": 10, "smallest_gang": 4, "largest_gang": 8})

MEASURED = """
import json, resource, sys, time
from cpsched.importers.load import load
from cpsched.importers.policy import load_policy
from cpsched.lab.generate import generate
from tests.benchmark.optimum import grown
family, parameters, seed, engine, limit, factor = json.loads(sys.argv[1])
instance = load(grown(generate(family, parameters, seed=seed), factor))
policy = load_policy("volcano", None, instance=instance)
wall, cpu = time.perf_counter(), time.process_time()
if engine == "ours":
    from cpsched.engines import run
    from cpsched.options import Options
    levels = run("optimal", instance, policy, Options(time_limit=limit)).levels
else:
    from cpsched.optimum.model.symmetry import build_classes
    from cpsched.snapshot import Snapshot
    from tests.benchmark.alternatives import by_default, one_by_one
    levels = by_default(Snapshot(instance, policy), one_by_one if engine == "plain" else build_classes, limit)
wall = time.perf_counter() - wall
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
early = [l.proved for l in levels if l.name == "jobs_admitted" or l.name == "victim_max_priority"]
pending = sum(not task.node for task in instance.tasks.values())
print(json.dumps({
    "wall": wall, "cpu": sum(u.ru_utime + u.ru_stime for u in used), "peak": max(u.ru_maxrss for u in used) // 1024,
    "proved": sum(l.proved for l in levels), "levels": len(levels), "early": sum(early), "earlier": len(early),
    "nodes": len(instance.nodes), "pending": pending, "running": len(instance.tasks) - pending,
}))
"""


class Run(NamedTuple):
    """One engine on one session."""

    wall: float
    cpu: float
    peak: int
    proved: int
    levels: int
    early: int
    earlier: int
    nodes: int
    pending: int
    running: int


def grown(instance: dict[str, Any], factor: int) -> dict[str, Any]:
    """The same classes with `factor` times the replicas, on nodes of that many times the size."""
    if factor == 1:
        return instance
    for node in instance["nodes"]:
        node["allocatable"] = {name: _times(amount, factor) for name, amount in node["allocatable"].items()}
    for job in instance["jobs"]:
        job["minMember"] = job.get("minMember", 1) * factor
        for task in job["tasks"]:
            running = task.get("running")
            task["replicas"] = task.get("replicas", 1) * factor
            if running:
                task["running"] = [
                    node for node in ([running] if isinstance(running, str) else running) for _ in range(factor)
                ]
    return instance


def _times(amount: str | int, factor: int) -> str:
    digits = "".join(c for c in str(amount) if c.isdigit())
    return f"{int(digits) * factor}{str(amount)[len(digits) :]}"


def main(arguments: Sequence[str] = ()) -> None:
    """Print one table per question; nothing is checked."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmark optimum", description=__doc__)
    parser.add_argument("--seeds", type=int, default=10, help="how many seeds")
    seeds, console = range(parser.parse_args(arguments).seeds), Console(width=130)
    console.print(
        f"load of the machine: {os.getloadavg()[0]:.1f}; limits: {LIMIT} s, others {ALTERNATIVE_LIMIT} s a session"
    )
    console.print(_side_by_side())
    console.print(_over_seeds("a", SMALL, seeds, "admission and max-priority levels proved on all, median < 2 s"))
    queues = {"1 queue": LARGE, "2 queues": LARGE_QUEUES}
    console.print(_over_seeds("b", queues, seeds, "every level proved, median < 5 s"))
    console.print(_pools())
    console.print(_replicas(seeds[:3]))


def _side_by_side() -> Table:
    table = _table(
        "side by side, seed 0", "session", "engine", "pending", "running", "early levels", "all levels", "s", "MB"
    )
    for name, recipe in {**SMALL, "large": LARGE, "large, 2 queues": LARGE_QUEUES}.items():
        for engine in ("ours", "class", "plain"):
            run = once(recipe, 0, engine, LIMIT if engine == "ours" else ALTERNATIVE_LIMIT)
            if run is None:
                table.add_row(name, engine, "", "", "", "", "stopped", "")
                continue
            counts = (f"{run.early}/{run.earlier}", f"{run.proved}/{run.levels}", f"{run.wall:.2f}", str(run.peak))
            table.add_row(name, engine, str(run.pending), str(run.running), *counts)
    return table


def _over_seeds(key: str, recipes: dict[str, Recipe], seeds: range, target: str) -> Table:
    columns = ("family", "nodes", "tasks", "early proved", "all proved", "median s", "worst s", "median cpu s", "MB")
    table = _table(f"({key}) ours over {len(seeds)} seeds; target: {target}", *columns)
    for name, recipe in recipes.items():
        runs = [run for seed in seeds if (run := once(recipe, seed, "ours", LIMIT))]
        table.add_row(
            name,
            str(runs[0].nodes),
            str(max(run.pending + run.running for run in runs)),
            f"{sum(run.early == run.earlier for run in runs)}/{len(seeds)}",
            f"{sum(run.proved == run.levels for run in runs)}/{len(seeds)}",
            f"{statistics.median(run.wall for run in runs):.2f}",
            f"{max(run.wall for run in runs):.2f}",
            f"{statistics.median(run.cpu for run in runs):.2f}",
            str(max(run.peak for run in runs)),
        )
    return table


def _pools() -> Table:
    table = _table(
        "(c) one-GPU jobs, 2 queues; target: < 2 s at 500 nodes, twice that at 2,000",
        "nodes",
        "tasks",
        "proved",
        "s",
        "cpu s",
        "MB",
        "growth",
    )
    first = None
    for nodes in (500, 2000):
        run = once(("kai-reclaim", {"nodes": nodes}), 0, "ours", 300)
        if run is None:
            table.add_row(str(nodes), "", "", "stopped", "", "", "")
            continue
        first = first or run
        tasks, growth = str(run.pending + run.running), f"{run.wall / first.wall:.1f}"
        table.add_row(
            str(nodes), tasks, f"{run.proved}/{run.levels}", f"{run.wall:.2f}", f"{run.cpu:.2f}", str(run.peak), growth
        )
    return table


def _replicas(seeds: range) -> Table:
    table = _table(
        "(d) ten times the replicas of the same classes; target: ≤ 1.5 times the time",
        "seed",
        "tasks",
        "proved",
        "s",
        "cpu s",
        "ten times: tasks",
        "proved",
        "s",
        "cpu s",
        "ratio",
    )
    for seed in seeds:
        one, ten = (once(REPLICAS, seed, "ours", LIMIT, factor) for factor in (1, 10))
        if one and ten:
            cells = [
                (str(run.pending + run.running), f"{run.proved}/{run.levels}", f"{run.wall:.2f}", f"{run.cpu:.2f}")
                for run in (one, ten)
            ]
            table.add_row(str(seed), *cells[0], *cells[1], f"{ten.wall / one.wall:.2f}")
    return table


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left")
    for column in columns:
        table.add_column(column, justify="right")
    return table


def once(recipe: Recipe, seed: int, engine: str, limit: float, factor: int = 1) -> Run | None:
    """One engine in a fresh process; None if it did not end in time by far."""
    asked = json.dumps([*recipe, seed, engine, limit, factor])
    try:
        done = subprocess.run(
            [sys.executable, "-c", MEASURED, asked],
            capture_output=True,
            text=True,
            check=True,
            timeout=10 * limit + 120,
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
        return None
    return Run(**json.loads(done.stdout))
