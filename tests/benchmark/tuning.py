"""Every tuning constant of the optimum as it is, halved and doubled: CPU seconds and proved levels.

`python -m tests.benchmark tuning` with `--deterministic`, so that only the work counts.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import cpsched
from cpsched.importers.load import load
from cpsched.optimum import params
from tests.benchmark.sessions import contended

CONSTANTS = (
    "SINGLE_EFFORT",
    "FIND_EFFORT",
    "IMPROVE_EFFORT",
    "SMALL_MODEL",
    "SMALL_RELAXATION",
    "LP_EFFORT",
    "ROUNDS",
    "EXACT_EFFORT_FACTOR",
    "BOUNDING_SHARE",
    "NODE_CLASS_SHARE",
    "NODE_SHARE",
    "MOST_VARIABLES",
    "DESTRUCTIVE_STEPS",
    "HEURISTIC_SHARE",
    "REPAIR_SHARE",
)
LIMIT = 10.0


def sessions() -> list[cpsched.Instance]:
    """Contended clusters of 8 to 30 nodes, two queues, every gang of its own shape: packing is hard there."""
    sizes = [(8, 8), (8, 8), (12, 10), (12, 10), (30, 12), (30, 12)]
    return [load(contended(nodes, gangs, gangs, 2, seed)) for seed, (nodes, gangs) in enumerate(sizes, 1)]


def solved(instances: list[cpsched.Instance]) -> tuple[float, int, int]:
    """CPU seconds, levels proved, and all levels."""
    start, proved, levels = time.process_time(), 0, 0
    for instance in instances:
        solution = cpsched.solve(instance, deterministic=True, time_limit=LIMIT)
        proved += sum(level.proved for level in solution.levels)
        levels += len(solution.levels)
    return time.process_time() - start, proved, levels


def scaled(name: str, factor: float) -> Iterator[None]:
    """Multiply the constant in every module that imported it; the second step puts it back."""
    usual = getattr(params, name)
    changed = type(usual)(usual * factor) or usual
    users = [
        module for key, module in sys.modules.items() if key.startswith("cpsched.optimum") and hasattr(module, name)
    ]
    for value in (changed, usual):
        for module in users:
            setattr(module, name, value)
        yield


def main() -> None:
    """Print the table."""
    instances = sessions()
    solved(instances[:1])
    seconds, proved, levels = solved(instances)
    print("| constant | value | half | as it is | double |\n|---|---|---|---|---|")
    print(f"| all | | | {seconds:.1f} s, {proved} of {levels} | |", flush=True)
    for name in CONSTANTS:
        cells = []
        for factor in (0.5, 2):
            steps = scaled(name, factor)
            next(steps)
            seconds, proved, _ = solved(instances)
            next(steps)
            cells.append(f"{seconds:.1f} s, {proved}")
        print(f"| `{name}` | {getattr(params, name)} | {cells[0]} | | {cells[1]} |", flush=True)


if __name__ == "__main__":
    main()
