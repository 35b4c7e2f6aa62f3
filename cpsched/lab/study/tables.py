"""The tables of a study, cells and levels, as CSV and Parquet; whole files, written row by row."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import IO, Any

from cpsched.files import writing_whole
from cpsched.lab.study.results import Results, Row, recipe_columns
from cpsched.visible import visible

ROWS_AT_A_TIME = 2000

CELLS: dict[str, str] = {
    **dict.fromkeys(("key", "instance", "also", "instance_sha256"), "string"),
    **dict.fromkeys(("nodes", "jobs", "queues", "tasks_pending", "tasks_running"), "int64"),
    **dict.fromkeys(("model", "model_by", "model_reason", "engine"), "string"),
    "seed": "int64",
    **dict.fromkeys(("status", "error", "solution"), "string"),
    "findings": "int64",
    "findings_by_rule": "string",
    **dict.fromkeys(("binds", "allocated", "pipelined", "evictions", "unplaced"), "int64"),
    "doubts": "string",
    **dict.fromkeys(("levels", "levels_proved"), "int64"),
    **dict.fromkeys(("vector", "compared", "first_difference"), "string"),
    "first_difference_rank": "int64",
    **dict.fromkeys(("first_difference_value", "first_difference_optimal", "first_difference_text"), "string"),
    "optimal_proved": "bool",
    **dict.fromkeys(("wall_seconds", "cpu_seconds"), "float64"),
    "peak_rss_bytes": "int64",
    **dict.fromkeys(("started", "host", "cpsched", "ortools", "python"), "string"),
}
LEVELS: dict[str, str] = {
    **dict.fromkeys(("key", "instance", "model", "engine"), "string"),
    **dict.fromkeys(("seed", "rank"), "int64"),
    **dict.fromkeys(("level", "name"), "string"),
    "priority": "int64",
    "sense": "string",
    **dict.fromkeys(("value", "bound"), "int64"),
    **dict.fromkeys(("value_text", "bound_text"), "string"),
    "proved": "bool",
    "prover": "string",
    "given_open_levels": "bool",
    "seconds": "float64",
    "optimal_value": "int64",
    "optimal_value_text": "string",
}
"""Column → type, by pyarrow's names."""


def has_parquet() -> bool:
    """Whether pyarrow is installed."""
    return find_spec("pyarrow") is not None


def export(results: Results) -> list[Path]:
    """Write the tables into the run folder; returns their files."""
    recipes = {name for source in results.sources for name, _ in recipe_columns(source.recipe)}
    columns = {"cells": CELLS | dict.fromkeys(sorted(recipes), "string"), "levels": LEVELS}
    with ExitStack() as stack:
        writers = {name: _Writer(results.folder.path / name, types, stack) for name, types in columns.items()}
        rows = results.rows()
        while batch := list(islice(rows, ROWS_AT_A_TIME)):
            writers["cells"].write([cell for cell, _ in batch])
            writers["levels"].write([level for _, levels in batch for level in levels])
    return [path for writer in writers.values() for path in writer.paths]


class _Writer:
    """One table in both formats; the files appear when the stack is left without an error."""

    def __init__(self, stem: Path, types: Mapping[str, str], stack: ExitStack):
        self.types = types
        self.paths = [stem.with_suffix(".csv")]
        text = io.TextIOWrapper(stack.enter_context(writing_whole(self.paths[0])), "utf-8", newline="")
        stack.callback(text.detach)
        self._csv = csv.DictWriter(text, list(types), restval="", lineterminator="\n")
        self._csv.writeheader()
        self._parquet = None
        if has_parquet():
            self.paths.append(stem.with_suffix(".parquet"))
            self._parquet = _parquet(stack.enter_context(writing_whole(self.paths[1])), types)
            stack.enter_context(self._parquet)

    def write(self, rows: list[Row]) -> None:
        self._csv.writerows(dict(_shown(row)) for row in rows)
        if self._parquet is not None and rows:
            import pyarrow

            self._parquet.write_table(pyarrow.Table.from_pylist(rows, schema=self._parquet.schema))


def _parquet(stream: IO[bytes], types: Mapping[str, str]) -> Any:
    import pyarrow
    from pyarrow import parquet

    schema = pyarrow.schema([(name, pyarrow.type_for_alias(alias)) for name, alias in types.items()])
    return parquet.ParquetWriter(stream, schema)


def _shown(row: Row) -> Iterator[tuple[str, Any]]:
    for name, value in row.items():
        if isinstance(value, bool):
            value = str(value).lower()
        # Parquet has the names as they are; CSV is also read in a terminal.
        yield name, visible(value) if isinstance(value, str) else value
