"""CSV tables of workload traces: rows with the columns that are needed, and numbers that say where they are wrong."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from cpsched.errors import InputError
from cpsched.files import read_bytes
from cpsched.parsing import plain_text


class Row(NamedTuple):
    """One line of a table."""

    file: str
    line: int
    cells: dict[str, str]

    def text(self, column: str) -> str:
        """The cell, empty if the table lacks the column."""
        return self.cells.get(column) or ""

    def whole(self, column: str) -> int:
        """The cell as a whole number that is not negative; `120.0` is one too."""
        number = self.maybe(column)
        if number is None or number < 0:
            raise self._wrong(column, "write a whole number")
        return number

    def maybe(self, column: str) -> int | None:
        """The cell as a whole number, None if it is empty; a fraction is cut off, as times have them."""
        stated = self.text(column)
        if not stated:
            return None
        try:
            return int(stated)
        except ValueError:
            pass
        try:
            return int(float(stated))
        except (ValueError, OverflowError):
            raise self._wrong(column, "write a number or nothing") from None

    def _wrong(self, column: str, right: str) -> InputError:
        place = f"line {self.line} {column}"
        return InputError(f"{self.text(column)!r} is no amount", file=self.file, place=place, right=right)


def read_table(path: Path, needed: Sequence[str]) -> list[Row]:
    """All rows of a CSV file, gzip or not; InputError names the columns that are missing."""
    file = str(path)
    reader = csv.DictReader(io.StringIO(plain_text(read_bytes(path), file), newline=""))
    try:
        rows = [
            Row(file, reader.line_num, {k: v for k, v in cells.items() if isinstance(k, str) and isinstance(v, str)})
            for cells in reader
        ]
    except csv.Error as error:
        raise InputError(f"not valid CSV: {error}", file=file, place=f"line {reader.line_num}") from None
    names = list(reader.fieldnames or ())
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"the column {twice} is there twice", file=file, place="line 1", right="keep one of them")
    missing = [column for column in needed if column not in names]
    if missing:
        raise InputError(f"no column {', '.join(missing)}", file=file, right=f"the header has {', '.join(needed)}")
    return rows


def header_of(path: Path) -> list[str]:
    """The names of the columns."""
    lines = plain_text(read_bytes(path), str(path)).splitlines()
    return next(csv.reader(lines[:1]), [])


def table_in(folder: Path, name: str) -> Path:
    """The file of that name, or the same with .gz."""
    for found in (folder / name, folder / f"{name}.gz"):
        if found.is_file():
            return found
    raise InputError(f"no {name} or {name}.gz here", file=str(folder), right="name the folder that holds the trace")
