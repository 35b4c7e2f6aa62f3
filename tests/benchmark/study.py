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

from rich.console import Console
from rich.table import Table

from tests.benchmark.sessions import contended

INSTANCES, SEEDS = 13, 4
ENGINES = "volcano,optimal"


def main() -> None:
    """Print a table and the ratio; nothing is judged."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(INSTANCES):
            session = contended(nodes=10, gangs=4, shapes=4, queues=2, seed=number)
            (folder / f"{number:02}.json").write_text(json.dumps(session))
        seconds = {workers: _once(folder, workers) for workers in (1, 2)}
    table = Table("workers", "cells", "wall s", "cpu s", "cells/s")
    cells = INSTANCES * SEEDS * len(ENGINES.split(","))
    for workers, (wall, cpu) in seconds.items():
        table.add_row(str(workers), str(cells), f"{wall:.1f}", f"{cpu:.1f}", f"{cells / wall:.2f}")
    ratio = seconds[1][0] / (2 * seconds[2][0])
    table.caption = f"{ratio:.0%} of the ideal speed-up on 2 cores (target: 90 %); load was {os.getloadavg()[0]:.1f}"
    Console().print(table)


def _once(folder: Path, workers: int) -> tuple[float, float]:
    """The whole command, from the start of its process to its tables: wall time and processor time."""
    command = [sys.executable, "-m", "cpsched", "study", str(folder / f"run-{workers}"), "--workers", str(workers)]
    told = ["--instances", f"{folder}/*.json", "--engines", ENGINES, "--seeds", f"1..{SEEDS}"]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([*command, *told], check=True, stdout=subprocess.DEVNULL)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
