"""How long the Volcano mirror needs for one full cycle over the openb trace: a fresh process per run."""

from __future__ import annotations

import subprocess
import sys
from itertools import product

from rich.console import Console
from rich.table import Table

SIZES = (100, 400, 1523)
FILLS = (0.0, 0.9)
CARDS = ("whole", "shared")

MEASURED = """
import resource, sys, time
from cpsched.greedy.volcano import decide
from cpsched.importers.load import load
from cpsched.policy import load_model, policy_for
from tests.benchmark.openb import CONFS, session
instance = load(session(int(sys.argv[1]), float(sys.argv[2]), 1, sys.argv[3]))
policy = policy_for(load_model("volcano"), CONFS[sys.argv[3]])
wall, cpu = time.perf_counter(), time.process_time()
found = decide(instance, policy)
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
pending = sum(not task.node for task in instance.tasks.values())
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(wall, cpu, peak, pending, len(found.binds), len(found.pipelined), len(found.evictions))
"""


def benchmark() -> Table:
    table = Table(
        title="volcano: one cycle over openb (enqueue, allocate, backfill, preempt, reclaim)",
        caption="targets at 1,523 nodes: < 2 s, with shared cards (deviceshare) < 4 s of CPU, < 1 GB;"
        " the real scheduler (Go, 2 cores) needs 70 s empty, 22 s at 90 %, with whole cards",
        title_justify="left",
    )
    columns = (
        "cards",
        "nodes",
        "full",
        "pending",
        "bound",
        "reserved",
        "evicted",
        "s",
        "cpu s",
        "nodes × tasks / s",
        "growth",
        "peak MB",
    )
    for column in columns:
        table.add_column(column, justify="right")
    for cards, fill in product(CARDS, FILLS):
        before: tuple[float, float] | None = None
        for nodes in SIZES:
            wall, cpu, peak, pending, bound, reserved, evicted = _once(nodes, fill, cards)
            work = nodes * pending
            growth = "" if before is None else f"{wall / before[0]:.1f} for {work / before[1]:.1f}"
            counts = (f"{number:.0f}" for number in (pending, bound, reserved, evicted))
            speed = f"{work / wall:,.0f}"
            table.add_row(
                cards,
                str(nodes),
                f"{fill:.0%}",
                *counts,
                f"{wall:.2f}",
                f"{cpu:.2f}",
                speed,
                growth,
                f"{peak / 1024:.0f}",
            )
            before = wall, work
    return table


def _once(nodes: int, fill: float, cards: str) -> tuple[float, ...]:
    command = [sys.executable, "-c", MEASURED, str(nodes), str(fill), cards]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return tuple(float(word) for word in printed.split())


def main() -> None:
    Console(width=160).print(benchmark())


if __name__ == "__main__":
    main()
