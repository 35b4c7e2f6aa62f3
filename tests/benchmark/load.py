"""How long a large `kubectl get -o json` takes to load, and how much memory: a fresh process per run."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.benchmark.dump import cluster

MEGABYTES = 50
RUNS = 3

MEASURED = """
import resource, sys, time
from cpsched import load
load({"kind": "List", "items": []})
wall, cpu = time.perf_counter(), time.process_time()
instance = load(sys.argv[1])
print(time.perf_counter() - wall, time.process_time() - cpu)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, len(instance.tasks), len(instance.nodes))
"""


def main() -> None:
    """Print a table; nothing is checked."""
    table = Table("run", "MB", "pods", "nodes", "s", "cpu s", "MB/s", "peak RSS MB", caption="target: < 5 s, < 1.5 GB")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cluster.json"
        path.write_text(json.dumps(cluster(MEGABYTES * 10**6)), encoding="utf-8")
        size = path.stat().st_size / 10**6
        for run in range(1, RUNS + 1):
            wall, cpu, kilobytes, pods, nodes = _once(path)
            times = (f"{wall:.2f}", f"{cpu:.2f}", f"{size / wall:.1f}")
            table.add_row(f"{run}", f"{size:.0f}", f"{pods:.0f}", f"{nodes:.0f}", *times, f"{kilobytes / 1024:.0f}")
    Console().print(table)


def _once(path: Path) -> list[float]:
    command = [sys.executable, "-c", MEASURED, str(path)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [float(number) for number in printed.split()]


if __name__ == "__main__":
    main()
