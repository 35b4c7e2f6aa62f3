"""The grid of Priority Matters beside the plain model and the class model: who proves what, whose decision is better.

    python -m tests.benchmark grid                            192 cells of 10 seeds in three variants: hours
    python -m tests.benchmark grid --seeds 2 --every 16       as in make bench-quick: minutes

Every run is a process of its own, and all have the same limit in CPU seconds, so that a busy machine favours no one.
The exit code is 1 if the product is lexicographically worse than the plain model somewhere, or ends in an error.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from cpsched.policy.levels import LevelRef

NODES, PODS, PRIORITIES, USAGE = (4, 8, 16, 32), (4, 8), (1, 2, 4), (90, 95, 100, 105)
VARIANTS: dict[str, tuple[dict[str, int], str]] = {
    "as published": ({}, "≥ 93 %"),
    "a third runs": ({"running": 33}, "≥ 80 %"),
    "three node sizes": ({"node_sizes": 3}, "≥ 85 %"),
}
"""What a variant adds to a cell, and how many of its cells are to be proved."""
ENGINES = ("ours", "plain", "class")

MEASURED = """
import json, resource, sys, time
from tests.benchmark.cpu_time import count_cpu
parameters, seed, engine, limit = json.loads(sys.argv[1])
from cpsched.importers.load import load
from cpsched.importers.policy import load_policy
from cpsched.lab.generate import generate
from cpsched.snapshot import Snapshot
count_cpu()
raw = generate("priority-matters", parameters, seed=seed)
both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
used = lambda: sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, both))
wall, begun = time.perf_counter(), used()
instance = load(raw)
policy = load_policy("kube", None, instance=instance)
broken = []
if engine == "ours":
    from cpsched.engines import run
    from cpsched.options import Options
    solution = run("optimal", instance, policy, Options(time_limit=limit))
    levels = solution.levels
    broken = [one.rule for one in solution.findings]
elif engine == "plain":
    from tests.benchmark.plain import solve
    levels, broken = solve(Snapshot(instance, policy), limit, time.process_time)
else:
    from cpsched.optimum.model.symmetry import build_classes
    from tests.benchmark.alternatives import by_default
    levels = by_default(Snapshot(instance, policy), build_classes, limit, time.process_time)
print(json.dumps({
    "levels": [(l.name, l.priority, getattr(l, "value", None), l.proved) for l in levels],
    "bounds": [getattr(l, "bound", None) for l in levels],
    "broken": broken, "cpu": used() - begun, "whole": used(), "wall": time.perf_counter() - wall,
    "peak": max(resource.getrusage(who).ru_maxrss for who in both) // 1024,
}))
"""


class Run(NamedTuple):
    """One engine on one cell; `levels` are (name, priority, value, proved)."""

    levels: list[tuple[str, int | None, int | None, bool]]
    bounds: list[int | None]
    broken: list[str]
    cpu: float
    whole: float
    wall: float
    peak: int

    @property
    def is_proved(self) -> bool:
        """Whether every level is."""
        return all(proved for *_, proved in self.levels)

    @property
    def ranks(self) -> list[Any]:
        """Sorts a better decision first."""
        return [LevelRef(name, priority).rank(value) for name, priority, value, _ in self.levels]


def cells(seeds: Sequence[int], every: int = 1) -> Iterator[tuple[dict[str, int], int]]:
    """The cells of the grid with their seeds; of a seed each `every`-th, shifted from row to row and seed to seed."""
    shapes = list(product(NODES, PODS))
    rest = list(product(PRIORITIES, USAGE))
    for seed in seeds:
        for row, (nodes, pods) in enumerate(shapes):
            for column, (priorities, usage) in enumerate(rest):
                if (5 * row + column + seed) % every == 0:
                    yield {"nodes": nodes, "pods_per_node": pods, "priorities": priorities, "usage": usage}, seed


def main(arguments: Sequence[str] = ()) -> int:
    """The cells that are open or worse, then a table per variant; 1 if one is worse than plain or fails."""
    options = _options(arguments)
    seeds = range(options.seed, options.seed + options.seeds)
    console, bad = Console(width=130), 0
    for name in options.variant or VARIANTS:
        extra, target = VARIANTS[name]
        runs: dict[str, list[Run | None]] = {engine: [] for engine in options.engine or ENGINES}
        asked = [(cell | extra, seed) for cell, seed in cells(seeds, options.every)]
        for cell, seed in asked:
            for engine, found in runs.items():
                found.append(once(cell, seed, engine, options.limit))
            bad += _line(cell, seed, {engine: found[-1] for engine, found in runs.items()}, verbose=options.verbose)
        console.print(_table(f"{name}: {len(asked)} cells, {options.limit:g} CPU s each; target: {target}", runs))
    return 1 if bad else 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmark grid", description=__doc__)
    parser.add_argument("--seed", type=int, default=100, help="first seed")
    parser.add_argument("--seeds", type=int, default=10, help="how many seeds")
    parser.add_argument("--every", type=int, default=5, help="of the cells of a seed only each so many-th")
    parser.add_argument("--limit", type=float, default=10.0, help="CPU seconds for a cell")
    parser.add_argument("--variant", action="append", choices=list(VARIANTS), help="only this one; may be repeated")
    parser.add_argument("--engine", action="append", choices=list(ENGINES), help="only this one; may be repeated")
    parser.add_argument("--verbose", action="store_true", help="a line for every cell")
    return parser.parse_args(arguments)


def _line(cell: dict[str, int], seed: int, found: dict[str, Run | None], *, verbose: bool) -> bool:
    """Print a cell that is open or worse than plain; whether it is worse, or one of our runs ended in an error."""
    ours, plain = found.get("ours"), found.get("plain")
    is_bad = "ours" in found and (ours is None or bool(ours.broken))
    is_bad |= _compared(ours, plain) == "worse"
    if verbose or is_bad or (ours is not None and not ours.is_proved):
        values = {engine: _stated(run) for engine, run in found.items() if engine != "class"}
        print(f"{cell} seed {seed}: {'WORSE ' * is_bad}{values}", flush=True)
    return is_bad


def _stated(run: Run | None) -> str:
    if run is None:
        return "stopped"
    texts = []
    for (name, priority, value, proved), bound in zip(run.levels, run.bounds, strict=True):
        key = "".join(part[0] for part in name.split("_")) + ("" if priority is None else str(priority))
        if value or not proved:
            texts.append(f"{key}={value}" + ("" if proved else "*" if bound is None else f"/{bound}"))
    return f"{' '.join(texts)} {run.cpu:.1f}s" + f" breaks {run.broken}" * bool(run.broken)


def _compared(ours: Run | None, other: Run | None) -> str:
    """Ours against another decision that breaks no rule."""
    if ours is None or other is None or other.broken:
        return ""
    return "worse" if ours.ranks > other.ranks else "better" if ours.ranks < other.ranks else "same"


def _table(title: str, runs: dict[str, list[Run | None]]) -> Table:
    columns = (
        "proved",
        "of",
        "%",
        "median s",
        "slowest proved s",
        "whole s",
        "MB",
        "ours better",
        "ours worse",
        "ratio",
    )
    table = Table("engine", *columns, title=title, title_justify="left")
    mine = runs.get("ours", [])
    medians = {engine: statistics.median([run.cpu for run in found if run] or [0]) for engine, found in runs.items()}
    for engine, found in runs.items():
        there = [run for run in found if run]
        proved = [run for run in there if run.is_proved]
        against = [_compared(*pair) for pair in zip(mine, found, strict=True)] if engine == "plain" and mine else []
        table.add_row(
            engine,
            str(len(proved)),
            str(len(found)),
            f"{100 * len(proved) / max(1, len(found)):.0f}",
            f"{medians[engine]:.2f}",
            f"{max([run.whole for run in proved] or [0]):.2f}",
            f"{statistics.median([run.whole for run in there] or [0]):.2f}",
            str(max([run.peak for run in there] or [0])),
            str(against.count("better")) if against else "",
            str(against.count("worse")) if against else "",
            f"{medians[engine] / medians['ours']:.1f}" if mine and engine != "ours" and medians["ours"] else "",
        )
    return table


def once(cell: dict[str, int], seed: int, engine: str, limit: float) -> Run | None:
    """One engine in a fresh process; None if it ends in an error or far too late."""
    asked = json.dumps([cell, seed, engine, limit])
    command = [sys.executable, "-c", MEASURED, asked]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=40 * limit + 120)
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
        print(f"{cell} seed {seed}: {engine} failed: {str(error.stderr)[-300:]}", flush=True)
        return None
    return Run(**json.loads(done.stdout.splitlines()[-1]))
