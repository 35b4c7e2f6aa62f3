"""`python docs/studies/openb/collect.py RUN...`: from the folders of studies to the small tables beside this file.

instances.csv has the recipe of each instance, cells.csv a row per decision, open.csv a row per level not proved.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tables import HERE, table

import cpsched
from cpsched.files import write_whole
from cpsched.lab.study.results import Results, read

GPU = "nvidia.com/gpu"
RECIPE = ("nodes", "fill", "seed")
INSTANCES = (
    *RECIPE,
    "jobs",
    "tasks_pending",
    "tasks_running",
    "gpus",
    "gpus_running",
    "gpus_pending",
    "sha256",
    "trace_sha256",
)
CELLS = (
    *(*RECIPE, "model", "engine", "status", "solution", "findings", "rules"),
    *("admitted", "starts", "waits", "victims", "gpus_held", "levels", "proved"),
    *("compared", "first_difference", "its_value", "optimal_value", "cpu_seconds"),
)
OPEN = (*RECIPE, "model", "rank", "level", "sense", "value", "bound")


def recipe(row: dict[str, Any]) -> tuple[str, str, str]:
    """Which instance it is: size, load, seed."""
    return row["recipe.parameters.nodes"], row["recipe.parameters.fill"], row["recipe.seed"]


def gpus(tasks: Any, keys: Any) -> int:
    """GPUs that these tasks ask for."""
    return sum(tasks[key].requests.get(GPU, 0) for key in keys) // 1000


def instances(results: Results) -> Iterator[tuple[Any, ...]]:
    """One row per instance."""
    seen = set()
    for row in results.cells():
        if row["instance_sha256"] not in seen:
            seen.add(row["instance_sha256"])
            instance = cpsched.load(results.instance(row["instance_sha256"]))
            total = sum(node.allocatable.get(GPU, 0) for node in instance.nodes.values()) // 1000
            running = gpus(instance.tasks, (key for key, task in instance.tasks.items() if task.node))
            waiting = gpus(instance.tasks, (key for key, task in instance.tasks.items() if not task.node))
            sizes = (row["jobs"], row["tasks_pending"], row["tasks_running"], total, running, waiting)
            yield (*recipe(row), *sizes, row["instance_sha256"], row["recipe.trace_sha256"])


def cells(results: Results) -> Iterator[tuple[Any, ...]]:
    """One row per decision."""
    for row, levels in results.rows():
        instance, solution = cpsched.load(results.instance(row["instance_sha256"])), results.solution(row["key"])
        admitted = sum(level["value"] for level in levels if level["name"] == "jobs_admitted")
        placed = [*solution["binds"], *solution.get("allocated", ()), *solution.get("pipelined", ())]
        running = gpus(instance.tasks, (key for key, task in instance.tasks.items() if task.node))
        gone = gpus(instance.tasks, (one["task"] for one in solution.get("evictions", ())))
        yield (
            *(
                *recipe(row),
                row["model"],
                row["engine"],
                row["status"],
                row["solution"],
                row["findings"],
                row["findings_by_rule"],
            ),
            *(admitted, row["binds"], row["pipelined"] + row["allocated"], row["evictions"]),
            *(running - gone + gpus(instance.tasks, placed), row["levels"], row["levels_proved"]),
            *(row["compared"], row["first_difference"], row["first_difference_value"], row["first_difference_optimal"]),
            f"{row['cpu_seconds']:.2f}",
        )


def unproved(results: Results) -> Iterator[tuple[Any, ...]]:
    """One row per level of the optimum that stayed open."""
    for row, levels in results.rows():
        for level in levels:
            if row["engine"] == "optimal" and not level["proved"]:
                shown = (level["level"], level["sense"], level["value_text"], level["bound_text"])
                yield (*recipe(row), row["model"], level["rank"], *shown)


def main(folders: Sequence[str]) -> None:
    """The three tables."""
    runs = [read(folder) for folder in folders]
    order = lambda row: tuple(map(int, row[:3]))  # noqa: E731 - the recipe's numbers are text
    for name, header, rows in (
        ("instances.csv", INSTANCES, sorted(instances(runs[0]), key=order)),
        ("cells.csv", CELLS, [row for run in runs for row in sorted(cells(run), key=order)]),
        ("open.csv", OPEN, [row for run in runs for row in sorted(unproved(run), key=order)]),
    ):
        write_whole(Path(HERE / name), table(header, rows))


if __name__ == "__main__":
    main(sys.argv[1:])
