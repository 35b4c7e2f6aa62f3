"""A study's rows boiled down: how engines fare, where and how far they fall behind, how long proofs take."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from statistics import median, quantiles
from typing import Any

from cpsched.lab.study.summary import StudySummary

Row = dict[str, Any]
OPTIMAL = "optimal"
FINDINGS = "findings"
NANOSECONDS = 10**9


@dataclass(frozen=True)
class LevelGap:
    """One decision on one level, equal to the optimum on all levels above it."""

    engine: str
    model: str
    level: str
    value: int
    optimum: int
    behind: int
    """How much worse; below zero if better."""


@dataclass(frozen=True)
class Time:
    """One search for the optimum."""

    tasks: int
    nodes: int
    seconds: float
    proved: bool


@dataclass
class Study:
    """What a report needs of a study; grows row by row."""

    outcomes: dict[tuple[str, str], Counter[str]] = field(default_factory=dict)
    """(engine, model) → how its decisions stand to the optimum."""
    first: dict[tuple[str, str], Counter[str]] = field(default_factory=dict)
    """(engine, model) → level (or findings) at which it falls behind."""
    rules: dict[tuple[str, str], Counter[str]] = field(default_factory=dict)
    gaps: list[LevelGap] = field(default_factory=list)
    times: list[Time] = field(default_factory=list)
    behind: list[tuple[Row, list[Row]]] = field(default_factory=list)
    decided: list[Row] = field(default_factory=list)
    """Every cell but those of the engine optimal."""
    summary: StudySummary = field(default_factory=StudySummary)
    """The counts that `cpsched study` prints."""
    failed: list[Row] = field(default_factory=list)
    optimum_by_cell: dict[tuple[str, str], str] = field(default_factory=dict)
    """(instance, model) → key of a cell with a decision of the engine optimal, a proved one if there is one."""
    instances: set[str] = field(default_factory=set)
    models: set[str] = field(default_factory=set)
    cells: int = 0
    doubts: Counter[str] = field(default_factory=Counter)
    """What is left out of the configuration → cells."""
    choices: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    """(instance, model) → the model and what decided that it is this one."""

    @classmethod
    def of(cls, rows: Iterable[tuple[Row, list[Row]]]) -> Study:
        """Read all rows once."""
        study = cls()
        for cell, levels in rows:
            study._add(cell, levels)
        return study

    def who(self, engine: str, model: str) -> str:
        """The engine, with the model where there are several."""
        return engine if len(self.models) == 1 else f"{engine} / {model}"

    def worst(self, most: int, of_a_kind: int | None = None) -> list[tuple[Row, list[Row]]]:
        """The worst decisions, one per instance, model and engine: those that break rules first.

        A kind has an engine, a model and a first difference; of each there are at most so many.
        """
        ranked = sorted(self.behind, key=lambda one: (_badness(*one), one[0]["instance"], one[0]["seed"]))
        chosen: dict[tuple[str, ...], tuple[Row, list[Row]]] = {}
        for cell, levels in ranked:
            chosen.setdefault((cell["instance"], cell["model"], cell["engine"]), (cell, levels))
        seen: Counter[tuple[str, ...]] = Counter()
        kept = []
        for cell, levels in chosen.values():
            kind = (cell["engine"], cell["model"], cell["first_difference"])
            seen[kind] += 1
            if of_a_kind is None or seen[kind] <= of_a_kind:
                kept.append((cell, levels))
        return kept[:most]

    def _add(self, cell: Row, levels: list[Row]) -> None:
        self.cells += 1
        self.summary.add(cell)
        self.instances.add(cell["instance_sha256"])
        self.models.add(cell["model"])
        if cell["status"] != "input":
            self.choices[cell["instance_sha256"], cell["model"]] = (cell["model"], cell["model_by"] or "")
        self.doubts.update((cell["doubts"] or "").splitlines())
        if cell["status"] != "ok":
            self.failed.append(cell)
        if cell["engine"] == OPTIMAL:
            self._add_optimum(cell)
            return
        who = (cell["engine"], cell["model"])
        self.outcomes.setdefault(who, Counter())[outcome(cell)] += 1
        self.decided.append(cell)
        self.rules.setdefault(who, Counter()).update(json.loads(cell["findings_by_rule"] or "{}"))
        if cell["compared"] == "behind":
            self.first.setdefault(who, Counter())[cell["first_difference"]] += 1
            self.behind.append((cell, levels))
        if cell["compared"] and not cell["findings"]:
            self.gaps += _gaps(levels)

    def _add_optimum(self, cell: Row) -> None:
        if cell["status"] == "ok":
            tasks = (cell["tasks_pending"] or 0) + (cell["tasks_running"] or 0)
            proved = cell["solution"] == OPTIMAL
            self.times.append(Time(tasks, cell["nodes"] or 0, cell["wall_seconds"], proved))
            if proved or (cell["instance_sha256"], cell["model"]) not in self.optimum_by_cell:
                self.optimum_by_cell[cell["instance_sha256"], cell["model"]] = cell["key"]


def outcome(cell: Row) -> str:
    """How a decision stands to the optimum: a key of `charts.OUTCOMES`."""
    if cell["status"] != "ok" or cell["compared"] is None:
        return "no decision"
    if cell["findings"]:
        return "breaks rules"
    return {"same": "equal", "behind": "worse", "ahead": "better"}[cell["compared"]]


def _gaps(levels: list[Row]) -> Iterator[LevelGap]:
    """Down to the first level that differs: what comes below no longer counts."""
    for level in levels:
        value, optimum = level["value"], level["optimal_value"]
        if value is not None and optimum is not None:
            unit = NANOSECONDS if level["name"] == "victim_start_time" else 1
            behind = (optimum - value if level["sense"] == "max" else value - optimum) // unit
            yield LevelGap(level["engine"], level["model"], level["name"], value // unit, optimum // unit, behind)
        if value != optimum:
            return


def _badness(cell: Row, levels: list[Row]) -> tuple[int, int, int]:
    """Sorts the worst first: broken rules, most of them first; then the most important level, then by how much."""
    if cell["first_difference"] == FINDINGS:
        return (0, -cell["findings"], 0)
    level = next(one for one in levels if one["level"] == cell["first_difference"])
    if level["value"] is None or level["optimal_value"] is None:
        return (1, cell["first_difference_rank"], 0)
    return (1, cell["first_difference_rank"], -abs(level["value"] - level["optimal_value"]))


def ranges(values: Iterable[int], most: int = 12) -> list[tuple[int, int]]:
    """(least, largest) of each bin, from small to large: one per value if they are few, else so many equally wide."""
    distinct = sorted(set(values))
    if len(distinct) <= most:
        return [(value, value) for value in distinct]
    low, high = distinct[0], distinct[-1]
    width = -(-(high - low + 1) // most)
    return [(start, min(high, start + width - 1)) for start in range(low, high + 1, width)]


@dataclass(frozen=True)
class Spread:
    """Numbers in short."""

    count: int
    middle: float
    most_of_them: float
    """Nine of ten are no more than this."""
    largest: float

    @classmethod
    def of(cls, values: list[float]) -> Spread:
        """Of at least one value."""
        tenths = quantiles(values, n=10, method="inclusive") if len(values) > 1 else values * 9
        return cls(len(values), median(values), tenths[-1], max(values))
