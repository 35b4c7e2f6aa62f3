"""read(): what a run folder holds, as rows of two tables; also while the study is still running."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from cpsched.errors import InputError
from cpsched.frames import Framed, Tables
from cpsched.lab.study.folder import RunFolder
from cpsched.lab.study.journal import Flaw
from cpsched.lab.study.matrix import Source, StudyCell, StudyPlan
from cpsched.lab.study.records import LARGEST, CellRecord, InstanceRecord
from cpsched.lab.study.standing import OPTIMAL, Difference, difference, labels, optimum
from cpsched.lab.study.state import Done, known_contents, sources
from cpsched.objectives import level_text
from cpsched.policy.levels import Stated
from cpsched.solution import Level

Row = dict[str, Any]


def read(path: str | os.PathLike[str]) -> Results:
    """The study in this folder; InputError if there is none."""
    folder = RunFolder(path)
    plan, key_by_name = folder.read_study()
    return Results(folder, plan, key_by_name)


@dataclass(frozen=True, repr=False)
class Results(Framed):
    """A study's results, read row by row: they need not fit into memory."""

    folder: RunFolder
    plan: StudyPlan
    key_by_name: Mapping[str, str]
    misfits: dict[str, InputError] = field(default_factory=dict)
    """Cells whose levels are not those of the optimum they would be compared with; found while rows are read."""

    @cached_property
    def contents(self) -> tuple[dict[str, InstanceRecord], list[Flaw]]:
        """What the study's files hold, by their keys; and the lines about them that cannot be read."""
        return known_contents(self.folder)

    @cached_property
    def sources(self) -> list[Source]:
        """The instances, each content once."""
        return sources(self.contents[0], self.key_by_name)

    @cached_property
    def done(self) -> Done:
        """The cells that had a result when this was first asked for."""
        return Done.read(self.folder, self.plan.versions)

    def _headline(self) -> str:
        return f"{self.folder.path}: {len(self.sources):,} instances"

    def _tables(self) -> Tables:
        return {"cells": self.cells, "levels": self.levels}

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
        for source in self.sources:
            for group in self.plan.groups(source):
                records, best = self._group(group)
                for cell, record in records:
                    yield _cell(cell, record, best), list(_levels(cell, record, best))

    def _group(self, group: list[StudyCell]) -> tuple[list[tuple[StudyCell, CellRecord]], CellRecord | None]:
        """Those cells that have a result, and the optimum among them."""
        kept = [(cell, self.done.by_key[cell.key].place) for cell in group if cell.key in self.done.by_key]
        read = self.folder.results.at(place for _, place in kept)
        records = [_believed(cell, record) for (cell, _), record in zip(kept, read, strict=True)]
        best, fitting = optimum(records), []
        for (cell, place), record in zip(kept, records, strict=True):
            if record.key != cell.key:
                raise InputError("was changed while it was read", file=str(self.folder.results.path), right="try again")
            if best is not None and record.has_decision and labels(record) != labels(best):
                wrong = f"levels: not those of the optimum of the same instance and model, which are {labels(best)}"
                file, line = str(self.folder.results.path), f"line {place.line}"
                self.misfits[cell.key] = InputError(wrong, file=file, place=line)
            else:
                fitting.append((cell, record))
        return fitting, best

    def solution(self, key: str) -> Any:
        """A cell's decision as JSON."""
        return self.folder.solution(key)

    def instance(self, sha256: str) -> Any:
        """An instance as JSON."""
        return self.folder.instance(sha256)


def _believed(cell: StudyCell, record: CellRecord) -> CellRecord:
    """Only the engine `optimal` proves anything, whatever stands in the line of another."""
    return record if cell.engine == record.engine == OPTIMAL else record.unproved(cell.engine)


def _cell(cell: StudyCell, record: CellRecord, best: CellRecord | None) -> Row:
    found = difference(record, best)
    first, *others = cell.source.names
    levels = record.levels
    return {
        "key": cell.key,
        "instance": first,
        "also": "\n".join(others) or None,
        "instance_sha256": cell.source.sha256,
        **cell.source.sizes,
        "model": cell.model.name,
        "model_by": cell.choice.by or None,
        "model_reason": cell.choice.reason or None,
        "engine": cell.engine,
        "seed": cell.seed,
        "status": record.status,
        "error": record.error,
        "solution": record.solution and record.solution.value,
        "findings": sum(record.findings.values()),
        "findings_by_rule": json.dumps(record.findings),
        **record.counts,
        "doubts": "\n".join(record.doubts) or None,
        "levels": len(levels),
        "levels_proved": sum(level.proved for level in levels),
        "vector": json.dumps([level.value for level in levels]),
        "compared": found and found.compared,
        "first_difference": found and found.label,
        "first_difference_rank": found and found.rank,
        "first_difference_value": _text(found and found.value),
        "first_difference_optimal": _text(found and found.optimal),
        "first_difference_text": _difference_text(found, record, best),
        "optimal_proved": None if best is None else all(level.proved for level in best.levels),
        "wall_seconds": record.wall_seconds,
        "cpu_seconds": record.cpu_seconds,
        "peak_rss_bytes": record.peak_rss_bytes,
        "started": record.started,
        "host": record.host,
        **{name: record.versions.get(name) for name in ("cpsched", "ortools", "python")},
        **dict(recipe_columns(cell.source.recipe)),
    }


def _levels(cell: StudyCell, record: CellRecord, best: CellRecord | None) -> Iterator[Row]:
    values, own = _values(best), _values(record)
    for rank, level in enumerate(record.levels, start=1):
        ideal = values.get(level.label)
        yield {
            "key": cell.key,
            "instance": cell.source.names[0],
            "model": cell.model.name,
            "engine": cell.engine,
            "seed": cell.seed,
            "rank": rank,
            "level": level.label,
            "name": level.name,
            "priority": level.priority,
            "sense": level.sense,
            "value": _number(level, level.value),
            "bound": _number(level, level.bound),
            "value_text": level_text(level.label, level.value, own),
            "bound_text": None if level.bound is None else level_text(level.label, level.bound),
            "proved": level.proved,
            "prover": level.prover,
            "given_open_levels": level.given_open_levels,
            "seconds": level.seconds,
            "optimal_value": _number(level, ideal),
            "optimal_value_text": level_text(level.label, ideal, values) if level.label in values else None,
        }


def recipe_columns(recipe: Any, prefix: str = "recipe") -> Iterator[tuple[str, str]]:
    """The scalars of a recipe under their names, joined by dots."""
    if isinstance(recipe, Mapping):
        for name, value in recipe.items():
            yield from recipe_columns(value, f"{prefix}.{name}")
    elif recipe is not None and prefix != "recipe":
        yield prefix, recipe if isinstance(recipe, str) else json.dumps(recipe)


def _number(level: Level, stated: Stated) -> int | None:
    """None too for a time that a column of nanoseconds cannot hold (after the year 2262); its text tells it."""
    value = level.ref.value(stated)
    return value if value is not None and abs(value) <= LARGEST else None


def _values(record: CellRecord | None) -> dict[str, Stated]:
    """The values of all levels by label; none without a decision."""
    return {} if record is None else {level.label: level.value for level in record.levels}


def _difference_text(found: Difference | None, record: CellRecord, best: CellRecord | None) -> str | None:
    if not found or found.label is None:
        return None
    value = level_text(found.label, found.value, _values(record))
    return f"{value} against {level_text(found.label, found.optimal, _values(best))}"


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
