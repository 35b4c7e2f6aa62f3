"""read(): what a run folder holds, as rows of two tables; also while the study is still running."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from cpsched.lab.study.folder import RunFolder
from cpsched.lab.study.journal import Record
from cpsched.lab.study.matrix import Cell, Plan, Source
from cpsched.lab.study.standing import difference, label, number, optimum
from cpsched.lab.study.state import Done, sources

Row = dict[str, Any]


def read(path: str | os.PathLike[str]) -> Results:
    """The study in this folder; InputError if there is none."""
    folder = RunFolder(path)
    plan, key_by_name = folder.read_study()
    return Results(folder, plan, key_by_name)


@dataclass(frozen=True)
class Results:
    """A study's results, read row by row: they need not fit into memory."""

    folder: RunFolder
    plan: Plan
    key_by_name: Mapping[str, str]

    @cached_property
    def sources(self) -> list[Source]:
        """The instances, each content once."""
        return sources(self.folder, self.key_by_name)

    def cells(self) -> Iterator[Row]:
        """One row per cell that has a result."""
        for row, _ in self.rows():
            yield row

    def levels(self) -> Iterator[Row]:
        """One row per cell and level."""
        for _, rows in self.rows():
            yield from rows

    def rows(self) -> Iterator[tuple[Row, list[Row]]]:
        """Each cell's row with the rows of its levels."""
        done = Done.read(self.folder, self.plan.versions).by_key
        for source in self.sources:
            for group in self.plan.groups(source):
                there = [cell for cell in group if cell.key in done]
                records = list(self.folder.results.at(done[cell.key].place for cell in there))
                best = optimum(records)
                for cell, record in zip(there, records, strict=True):
                    yield _cell(cell, record, best), list(_levels(cell, record, best))

    def solution(self, key: str) -> Any:
        """A cell's decision as JSON."""
        return self.folder.solution(key)

    def instance(self, sha256: str) -> Any:
        """An instance as JSON."""
        return self.folder.instance(sha256)


def _cell(cell: Cell, record: Record, best: Record | None) -> Row:
    found = difference(record, best)
    first, *others = cell.source.names
    levels = record["levels"]
    return {
        "key": cell.key,
        "instance": first,
        "also": "\n".join(others) or None,
        "instance_sha256": cell.source.sha256,
        **cell.source.sizes,
        "model": cell.model.name,
        "engine": cell.engine,
        "seed": cell.seed,
        "status": record["status"],
        "error": record["error"],
        "solution": record["solution"],
        "findings": sum(record["findings"].values()),
        "findings_by_rule": json.dumps(record["findings"]),
        **record["counts"],
        "levels": len(levels),
        "levels_proved": sum(level["proved"] for level in levels),
        "vector": json.dumps([level["value"] for level in levels]),
        "compared": found and found.compared,
        "first_difference": found and found.label,
        "first_difference_rank": found and found.rank,
        "first_difference_value": _text(found and found.value),
        "first_difference_optimal": _text(found and found.optimal),
        "optimal_proved": None if best is None else all(level["proved"] for level in best["levels"]),
        "wall_seconds": record["wall_seconds"],
        "cpu_seconds": record["cpu_seconds"],
        "peak_rss_bytes": record["peak_rss_bytes"],
        "started": record["started"],
        "host": record["host"],
        **{name: record["versions"].get(name) for name in ("cpsched", "ortools", "python")},
        **dict(recipe_columns(cell.source.recipe)),
    }


def _levels(cell: Cell, record: Record, best: Record | None) -> Iterator[Row]:
    values = {} if best is None else {label(level): level["value"] for level in best["levels"]}
    for rank, level in enumerate(record["levels"], start=1):
        ideal = values.get(label(level))
        yield {
            "key": cell.key,
            "instance": cell.source.names[0],
            "model": cell.model.name,
            "engine": cell.engine,
            "seed": cell.seed,
            "rank": rank,
            "level": label(level),
            **{name: level[name] for name in ("name", "priority", "sense")},
            "value": number(level["value"]),
            "bound": number(level["bound"]),
            "value_text": _text(level["value"]),
            "bound_text": _text(level["bound"]),
            **{name: level[name] for name in ("proved", "prover", "seconds")},
            "optimal_value": number(ideal),
            "optimal_value_text": _text(ideal),
        }


def recipe_columns(recipe: Any, prefix: str = "recipe") -> Iterator[tuple[str, str]]:
    """The scalars of a recipe under their names, joined by dots."""
    if isinstance(recipe, Mapping):
        for name, value in recipe.items():
            yield from recipe_columns(value, f"{prefix}.{name}")
    elif recipe is not None and prefix != "recipe":
        yield prefix, recipe if isinstance(recipe, str) else json.dumps(recipe)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
