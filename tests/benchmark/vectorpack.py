"""Published vector packing instances as clusters of equal nodes: is the fewest number of nodes proved?

    python -m tests.benchmark vectorpack                     139 instances, 10 CPU s each: minutes
    python -m tests.benchmark vectorpack --every 20 --pages  a few of them, as the table of docs/vector-packing.md

The exit code is 1 if a published optimum is not reached, or something proved contradicts what is published.
"""

from __future__ import annotations

import argparse
import csv
import io
import statistics
import tarfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cpsched.engines import run
from cpsched.importers.load import load
from cpsched.options import Options
from cpsched.policy import load_model, policy_for
from cpsched.solution import Level, Solution
from tests.benchmark.cpu_time import count_cpu

DATA = Path(__file__).parent / "data" / "vectorpack.tar.xz"
MODEL: dict[str, Any] = {
    "name": "fewest-nodes",
    "scheduler": "kube",
    "kube_version": "1.36",
    "conf": {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"},
    "jobs": "pods",
    "rules": {
        **dict.fromkeys(("assignment", "capacity", "filters", "charge", "actions"), "on"),
        **dict.fromkeys(("nodegroup", "cards", "numa", "usage", "protect.cooldown"), "auto"),
        **dict.fromkeys(("gang", "queue", "deserved", "eviction", "enqueue"), "off"),
        **dict.fromkeys(("protect.gang", "protect.conformance", "protect.pdb", "protect.guarantee"), "off"),
        "eviction.scope": "node",
    },
    "levels": ["jobs_admitted", "nodes_used"],
}
"""All pods, then on the fewest nodes; nothing else counts."""


class Published(NamedTuple):
    """An instance and what is published of it."""

    benchmark: str
    name: str
    capacity: tuple[int, ...]
    items: tuple[tuple[int, ...], ...]
    lower: int
    optimum: int | None
    heuristic: int


class Row(NamedTuple):
    """An instance with what came of it."""

    published: Published
    level: Level
    cpu: float

    @property
    def is_wrong(self) -> bool:
        """Whether the published optimum is missed, or what is proved contradicts what is published."""
        value, bound, optimum = self.level.value, self.level.bound, self.published.optimum
        assert isinstance(value, int)
        beyond = isinstance(bound, int) and bound > (optimum or self.published.heuristic)
        return beyond or value < self.published.lower or (optimum is not None and value != optimum)


def instances() -> Iterator[Published]:
    """All of them, in the order of the published list."""
    with tarfile.open(DATA) as archive:
        texts = {one.name: _text(archive, one) for one in archive if one.name.endswith(".vbp")}
        listed = list(csv.DictReader(io.StringIO(_text(archive, archive.getmember("instances.csv")))))
    for row in listed:
        numbers = [int(word) for word in texts[f"{row['benchmark']}/{row['name']}.vbp"].split()]
        dims = numbers[0]
        capacity, rest = tuple(numbers[1 : dims + 1]), numbers[dims + 2 :]
        lines = [rest[at : at + dims + 1] for at in range(0, len(rest), dims + 1)]
        items = tuple(tuple(line[:dims]) for line in lines for _ in range(line[dims]))
        optimum = int(row["optimum"]) if row["optimum"] else None
        yield Published(
            row["benchmark"], row["name"], capacity, items, int(row["lower"]), optimum, int(row["heuristic"])
        )


def _text(archive: tarfile.TarFile, member: tarfile.TarInfo) -> str:
    file = archive.extractfile(member)
    assert file is not None
    return file.read().decode()


def cluster(one: Published) -> dict[str, Any]:
    """A node for every item, and a pod for it: a dimension is an extended resource."""
    names = [f"example.com/d{number}" for number in range(len(one.capacity))]
    room = {name: str(amount) for name, amount in zip(names, one.capacity, strict=True)} | {"pods": "1000"}
    nodes = [{"name": f"n{number}", "allocatable": room} for number in range(len(one.items))]
    jobs = [
        {"name": f"item{number}", "tasks": [{"requests": dict(zip(names, map(str, item), strict=True))}]}
        for number, item in enumerate(one.items)
    ]
    return {"apiVersion": "cpsched/v1", "kind": "Instance", "nodes": nodes, "jobs": jobs}


def solved(one: Published, limit: float, **options: Any) -> Solution:
    """The cluster decided."""
    return run("optimal", load(cluster(one)), policy_for(load_model(MODEL), None), Options(time_limit=limit, **options))


def main(arguments: Sequence[str] = ()) -> int:
    """A line per instance that is open, with --pages a table of all, then counts; 1 if something is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmark vectorpack", description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="only each so many-th instance")
    parser.add_argument("--limit", type=float, default=10.0, help="CPU seconds for one")
    parser.add_argument("--pages", action="store_true", help="print the table of docs/vector-packing.md")
    options = parser.parse_args(arguments)
    count_cpu()
    rows = []
    for one in list(instances())[:: options.every]:
        begun = time.process_time()
        rows.append(Row(one, solved(one, options.limit).levels[-1], time.process_time() - begun))
        if options.pages or rows[-1].is_wrong or not rows[-1].level.proved:
            print(_line(rows[-1]), flush=True)
    without = [row for row in rows if row.published.optimum is None]
    gaps = [row for row in without if row.published.lower < row.published.heuristic]
    fewer = [row for row in rows if isinstance(row.level.value, int) and row.level.value < row.published.heuristic]
    print(
        f"{sum(row.level.proved for row in rows)} of {len(rows)} proved ({options.limit:g} CPU s each; target ≥ 97 %),"
    )
    print(f"{sum(row.level.proved for row in without)} of {len(without)} without a published optimum,")
    print(f"{sum(row.level.proved for row in gaps)} of {len(gaps)} whose published bounds differ;")
    print(f"{len(fewer)} on fewer nodes than the best published heuristic; {sum(r.is_wrong for r in rows)} wrong;")
    cpu = [row.cpu for row in rows]
    print(f"median {statistics.median(cpu):.2f} CPU s, longest {max(cpu):.2f}")
    return int(any(row.is_wrong for row in rows))


def _line(row: Row) -> str:
    one, level = row.published, row.level
    nodes = f"{level.value}" if level.proved else f"{level.value}, at least {level.bound}"
    shown = (one.benchmark, one.name, len(one.items), len(one.capacity), one.lower, one.optimum or "", one.heuristic)
    return "| " + " | ".join(map(str, (*shown, nodes, f"{row.cpu:.1f}"))) + " |" + " WRONG" * row.is_wrong


if __name__ == "__main__":
    raise SystemExit(main())
