"""The numbers of the page, from the tables beside this file."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import groupby
from statistics import mean, median

from tables import markdown, read_table

Row = dict[str, str]
MIRRORS = {"volcano": "volcano", "kube": "kube"}
"""Model → the engine that is the mirror of its scheduler."""


def size_and_load(row: Row) -> tuple[int, int]:
    """What the page's tables group by."""
    return int(row["nodes"]), int(row["fill"])


def groups(rows: list[Row]) -> Iterator[tuple[tuple[int, int], list[Row]]]:
    """Rows by size and load, in order."""
    for key, some in groupby(sorted(rows, key=size_and_load), key=size_and_load):
        yield key, list(some)


def of(cells: list[Row], model: str, engine: str) -> list[Row]:
    """The decisions of one engine under one model."""
    return [row for row in cells if (row["model"], row["engine"]) == (model, engine)]


def is_proved(row: Row) -> bool:
    """Whether every level is."""
    return row["levels"] == row["proved"]


def outcome(row: Row) -> str:
    """How a decision stands to the optimum."""
    return "breaks rules" if int(row["findings"]) else {"same": "as good"}.get(row["compared"], row["compared"])


def total(rows: list[Row], column: str) -> int:
    """A column added up."""
    return sum(int(row[column]) for row in rows)


def corpus() -> str:
    """What was decided on."""
    rows = [
        (
            *(*key, len(some)),
            *(f"{median(int(row[name]) for row in some):.0f}" for name in ("jobs", "tasks_running", "tasks_pending")),
            *(f"{100 * total(some, name) / total(some, 'gpus'):.0f} %" for name in ("gpus_running", "gpus_pending")),
        )
        for key, some in groups(read_table("instances.csv"))
    ]
    header = ("nodes", "fill", "instances", "jobs", "running pods", "waiting pods", "GPUs in use", "GPUs wanted")
    return markdown(header, rows, words=0)


def proofs() -> str:
    """How many optima are proved, and what that took."""
    cells, rows = read_table("cells.csv"), []
    for key, _ in groups(read_table("instances.csv")):
        line: list[object] = [*key]
        for model in MIRRORS:
            some = [row for row in of(cells, model, "optimal") if size_and_load(row) == key]
            seconds = [float(row["cpu_seconds"]) for row in some]
            line += [f"{sum(map(is_proved, some))} of {len(some)}", f"{median(seconds):.1f}", f"{max(seconds):.1f}"]
        rows.append(line)
    parts = [f"{model}: {what}" for model in MIRRORS for what in ("proved", "median s", "longest s")]
    return markdown(("nodes", "fill", *parts), rows, words=0)


def standings() -> str:
    """How the mirrors stand to the optimum, by size and load."""
    cells, rows = read_table("cells.csv"), []
    for key, _ in groups(read_table("instances.csv")):
        line: list[object] = [*key]
        for model, engine in MIRRORS.items():
            found = Counter(outcome(row) for row in of(cells, model, engine) if size_and_load(row) == key)
            line += [found["as good"], found["behind"], found["breaks rules"]]
        rows.append(line)
    rows.append(["all", "all", *(sum(int(str(row[column])) for row in rows) for column in range(2, 8))])
    parts = [f"{engine}: {what}" for engine in MIRRORS.values() for what in ("as good", "behind", "breaks rules")]
    return markdown(("nodes", "fill", *parts), rows, words=0)


def first_levels() -> str:
    """Where decisions that break no rule are first behind, and which rules the others break."""
    cells, rows = read_table("cells.csv"), []
    for model, engine in MIRRORS.items():
        own = of(cells, model, engine)
        behind = Counter(row["first_difference"] for row in own if outcome(row) == "behind")
        rows += [(engine, f"`{level}`", number) for level, number in behind.most_common()]
        rules = Counter(rule for row in own if int(row["findings"]) for rule in json.loads(row["rules"]))
        rows += [(engine, f"breaks rule `{rule}`", number) for rule, number in rules.most_common()]
    return markdown(("mirror", "first behind at, or", "decisions"), rows, words=2)


def clean_pairs(cells: list[Row], model: str, engine: str) -> list[Row]:
    """Decisions of all engines under the model, for the instances on which this one breaks no rule."""
    own = of(cells, model, engine)
    clean = {(row["nodes"], row["fill"], row["seed"]) for row in own if not int(row["findings"])}
    return [row for row in cells if row["model"] == model and (row["nodes"], row["fill"], row["seed"]) in clean]


def gaps() -> str:
    """What the mirrors and the optimum do, added up over the instances of a size and load."""
    cells, rows = read_table("cells.csv"), []
    for model, engine in MIRRORS.items():
        here = clean_pairs(cells, model, engine)
        for key, both in groups(here):
            mirror, best = of(both, model, engine), of(both, model, "optimal")
            columns = ("admitted", "starts", "waits", "victims", "gpus_held")
            pairs = (f"{total(mirror, column)} / {total(best, column)}" for column in columns)
            rows.append((engine, *key, len(mirror), *pairs))
    header = (
        "mirror / optimum",
        "nodes",
        "fill",
        "decisions",
        "jobs admitted",
        "pods start",
        "pods wait",
        "victims",
        "GPUs held",
    )
    return markdown(header, rows)


def still_open() -> str:
    """The first open level of each optimum that is not proved."""
    rows, seen = [], set()
    for row in read_table("open.csv"):
        place = (row["model"], row["nodes"], row["fill"], row["seed"])
        if place not in seen:
            seen.add(place)
            rows.append((*place, f"{row['rank']}: `{row['level']}`", row["value"] or "none", row["bound"] or "none"))
    return markdown(("model", "nodes", "fill", "seed", "first open level", "value", "bound"), rows)


def allocation() -> str:
    """The optimum of GPU allocation beside what was published, in percent of all GPUs."""
    rows = read_table("allocation.csv")
    columns = ["98" if row["demand"] == "list" else row["demand"].removesuffix(" %") for row in rows]
    policies: dict[str, list[Row]] = {}
    for row in read_table("published.csv"):
        policies.setdefault(row["sc_policy"].partition("-")[2], []).append(row)
    lines: list[list[object]] = [
        [policy, *(f"{mean(float(run[column]) for run in runs):.2f}" for column in columns)]
        for policy, runs in policies.items()
    ]
    for name, what in (
        ("a placement we give", "placed"),
        ("no placement has more than", "bound"),
        ("asked for", "asked"),
    ):
        lines.append([f"**{name}**", *(f"**{100 * int(row[what]) / int(row['gpu_milli']):.2f}**" for row in rows)])
    header = ["the list" if row["demand"] == "list" else row["demand"] for row in rows]
    return markdown(("GPUs allocated, %", *header), lines)


def held() -> str:
    """GPUs in use after the decision, whole GPUs only, by engine, model and size."""
    cells, rows = read_table("cells.csv"), []
    all_gpus = {(row["nodes"], row["fill"], row["seed"]): int(row["gpus"]) for row in read_table("instances.csv")}
    sizes = sorted({int(row["nodes"]) for row in cells})
    for model, engine in sorted({(row["model"], row["engine"]) for row in cells}):
        line: list[object] = [engine, model]
        for size in sizes:
            some = [row for row in of(cells, model, engine) if int(row["nodes"]) == size]
            there = sum(all_gpus[row["nodes"], row["fill"], row["seed"]] for row in some)
            line.append(f"{100 * total(some, 'gpus_held') / there:.1f}")
        rows.append(line)
    return markdown(("engine", "model", *(f"{size} nodes" for size in sizes)), rows, words=2)


def facts() -> dict[str, str]:
    """Single numbers of the text."""
    cells, whole = read_table("cells.csv"), read_table("allocation.csv")[0]
    found = {"instances": str(len(read_table("instances.csv")))}
    for model, engine in MIRRORS.items():
        best, own = of(cells, model, "optimal"), Counter(map(outcome, of(cells, model, engine)))
        found[f"proved_{model}"] = f"{sum(map(is_proved, best))} of {len(best)}"
        both = clean_pairs(cells, model, engine)
        for column in ("admitted", "victims"):
            found[f"{engine}_{column}"] = str(total(of(both, model, engine), column))
            found[f"{engine}_{column}_best"] = str(total(of(both, model, "optimal"), column))
        found |= {f"{engine}_{word}": str(own[what]) for word, what in WORDS.items()}
    found["kube_strange"] = str(sum(outcome(row) == "breaks rules" for row in of(cells, "volcano", "kube")))
    found["volcano_strange"] = str(sum(outcome(row) == "as good" for row in of(cells, "kube", "volcano")))
    gpus = int(whole["gpu_milli"])
    for what in ("placed", "bound"):
        found[f"{what}_list"] = f"{100 * int(whole[what]) / gpus:.2f}"
    for policy in ("FGD", "BestFit"):
        share = mean(float(row["98"]) for row in read_table("published.csv") if row["sc_policy"].endswith(f"-{policy}"))
        found[f"{policy.lower()}_list"] = f"{share:.2f}"
        found[f"{policy.lower()}_gap"] = f"{int(whole['placed']) / 1000 - share * gpus / 100_000:.0f}"
    found["pods_placed"] = f"{int(whole['pods_placed']):,}"
    found["width"] = f"{(int(whole['bound']) - int(whole['placed'])) / 1000:.1f}"
    return found


WORDS = {"same": "as good", "behind": "behind", "broken": "breaks rules"}

FIGURES: dict[str, Callable[[], str]] = {
    "corpus": corpus,
    "proofs": proofs,
    "standings": standings,
    "first_levels": first_levels,
    "gaps": gaps,
    "still_open": still_open,
    "allocation": allocation,
    "held": held,
}
"""Placeholder of the page's frame → what stands there."""
