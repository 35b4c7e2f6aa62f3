"""How well a study uses two cores: the same hundred cells and more with one worker and with two."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from cpsched.lab.study.results import read
from tests.benchmark.sessions import gpu_pool

INSTANCES, SEEDS = 13, 4
ENGINES = "volcano,optimal"


class Measured(NamedTuple):
    """Seconds of a whole command, from the start of its process to its tables."""

    cells: int
    wall: float
    cpu: float
    cpu_in_cells: float


def main() -> None:
    """Print a table and the ratio; nothing is checked."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(INSTANCES):
            session = gpu_pool(nodes=60 + number % 4, jobs_per_node=8, seed=number)
            (folder / f"{number:02}.json").write_text(json.dumps({**session, "now": f"2027-01-01T00:{number:02}:00Z"}))
        one, two = (_once(folder, workers) for workers in (1, 2))
    table = Table("workers", "cells", "wall s", "cpu s", "of it in cells", "cells/s")
    for workers, run in ((1, one), (2, two)):
        numbers = (f"{seconds:.1f}" for seconds in (run.wall, run.cpu, run.cpu_in_cells))
        table.add_row(str(workers), str(run.cells), *numbers, f"{run.cells / run.wall:.2f}")
    console = Console()
    console.print(table)
    console.print(f"By the clock: {one.wall / (2 * two.wall):.0%} of the ideal speed-up on 2 cores (target: 90 %).")
    console.print(f"By processor time: at least {one.cpu / (2 * _on_free_cores(one, two)):.0%}.")
    console.print(f"The clock tells the truth on an idle machine; the load is {os.getloadavg()[0]:.1f}.")


def _on_free_cores(one: Measured, two: Measured) -> float:
    """What two workers need on two free cores if all that one worker does outside of cells is done before them."""
    return one.cpu - one.cpu_in_cells + two.cpu_in_cells / 2


def _once(folder: Path, workers: int) -> Measured:
    run = folder / f"run-{workers}"
    command = [sys.executable, "-m", "cpsched", "study", str(run), "--workers", str(workers)]
    stated = ["--instances", f"{folder}/*.json", "--engines", ENGINES, "--seeds", f"1..{SEEDS}"]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([*command, *stated], check=True, stdout=subprocess.DEVNULL)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    in_cells = [row["cpu_seconds"] for row in read(run).cells()]
    return Measured(len(in_cells), wall, cpu, sum(in_cells))
