"""`python docs/studies/openb/allocation.py TRACE PUBLISHED`: GPU allocation at its best, beside what was published.

TRACE is the folder of the openb tables, PUBLISHED the folder with analysis_allo_discrete.csv. Writes, beside this file,
allocation.csv (bounds and placements), published.csv (the runs on the default list), pods.csv (the list itself),
prices.csv (what proves the bound for it) and placement.csv.gz (what reaches it).
"""

from __future__ import annotations

import csv
import gzip
import sys
from collections.abc import Iterable, Mapping
from dataclasses import astuple
from pathlib import Path

from bound import Prices, bound
from pack import Machine, faults, follow
from plan import count, plan, prices
from tables import HERE, table
from workload import COLUMNS, DEVICE, Node, Pod, gpu_nodes, inflated, pod_list

from cpsched.files import write_whole

SHARES = (0.98, 0.97, 0.93, 0.90)
"""Of a size's cores and memory that a plan may use; which loses least between nodes shows only when it is followed."""
DEMANDS = (100, 110, 130)
"""Percent of the GPUs that the inflated lists ask for."""
SEED = 42
ARRIVED = (90, 92, 94, 96, 98, 100, 105, 110, 115, 120, 125, 130)
"""Percent of arrived demand at which published runs are shown; the list itself asks for 97.98."""


def held(placed: Iterable[Machine]) -> int:
    """Thousandths of a GPU that are in use."""
    return sum(pod.gain for machine in placed for pod, _ in machine.held)


def best(demand: Mapping[Pod, int], nodes: Mapping[Node, int]) -> tuple[dict[Node, Prices], list[Machine]]:
    """Prices that prove a bound, and the fullest placement found."""
    found, ways = prices(demand, nodes)
    placements = (follow(plan(demand, nodes, ways, share), nodes, demand) for share in SHARES)
    placed = max(placements, key=held)
    assert not faults(((machine.node, machine.held) for machine in placed), demand)
    return found, placed


def write_evidence(demand: Mapping[Pod, int], found: Mapping[Node, Prices], placed: Iterable[Machine]) -> None:
    """What was asked for, what proves the bound, and what reaches the value."""
    sizes = sorted(next(iter(found.values())).parts)
    header = (
        "cpu_milli",
        "memory_mib",
        "gpus",
        "model",
        "price_cpu",
        "price_memory",
        *(f"price_{size}" for size in sizes),
    )
    lines = [
        (node.cpu, node.memory, node.gpus, node.model, price.cpu, price.memory, *(price.parts[size] for size in sizes))
        for node, price in found.items()
    ]
    write_whole(
        HERE / "pods.csv", table((*COLUMNS, "pods"), ((*astuple(pod), number) for pod, number in demand.items()))
    )
    write_whole(HERE / "prices.csv", table(header, lines))
    where = [
        (
            *(place, machine.node.cpu, machine.node.memory, machine.node.gpus, machine.node.model),
            *("+".join(map(str, devices)), pod.cpu, pod.memory, pod.gpus, pod.milli),
        )
        for place, machine in enumerate(placed)
        for pod, devices in machine.held
    ]
    names = (
        "node",
        "node_cpu",
        "node_memory",
        "node_gpus",
        "model",
        "devices",
        "cpu_milli",
        "memory_mib",
        "gpus",
        "gpu_milli",
    )
    (HERE / "placement.csv.gz").write_bytes(gzip.compress(table(names, where).encode(), 9, mtime=0))


def write_published(folder: Path) -> None:
    """The published allocations on the default list, at the demands that are compared."""
    columns = ("sc_policy", "seed", *map(str, ARRIVED))
    with (folder / "analysis_allo_discrete.csv").open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["workload"] == "openb_pod_list_default"]
    write_whole(HERE / "published.csv", table(columns, ([row[name] for name in columns] for row in rows)))


def main(trace: Path, published: Path) -> None:
    """Everything."""
    nodes, pods = gpu_nodes(trace), pod_list(trace)
    total = DEVICE * sum(size.gpus * number for size, number in nodes.items())
    rows = []
    for percent in (None, *DEMANDS):
        asked = pods if percent is None else inflated(pods, nodes, percent, SEED)
        demand = count(asked)
        found, placed = best(demand, nodes)
        if percent is None:
            write_evidence(demand, found, placed)
        running = sum(len(machine.held) for machine in placed)
        cpu_only = sum(not pod.gpus for machine in placed for pod, _ in machine.held)
        top = bound(demand, nodes, found)
        name = "list" if percent is None else f"{percent} %"
        asks = (len(asked), sum(not pod.gpus for pod in asked), sum(pod.gain for pod in asked))
        rows.append((name, *asks, total, held(placed), top, running, cpu_only))
        print(*rows[-1], file=sys.stderr, flush=True)
    header = ("demand", "pods", "cpu_only", "asked", "gpu_milli", "placed", "bound", "pods_placed", "cpu_only_placed")
    write_whole(HERE / "allocation.csv", table(header, rows))
    write_published(published)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
