"""How long `cpsched --help` takes, from the start of the process to its end."""

from __future__ import annotations

import subprocess
import sys
import time
from statistics import median

from rich.console import Console
from rich.table import Table

RUNS = 10


def main() -> None:
    """Print a table; nothing is checked."""
    seconds = [_once() for _ in range(RUNS)]
    table = Table("processes", "median s", "worst s", caption="target: < 0.3 s")
    table.add_row(str(RUNS), f"{median(seconds):.2f}", f"{max(seconds):.2f}")
    Console().print(table)


def _once() -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "cpsched", "--help"], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start
