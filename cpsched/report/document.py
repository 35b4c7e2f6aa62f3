"""What a report says, before it is laid out: sections of sentences, tables and pictures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Tone = Literal["", "better", "worse", "quiet"]

MOST_ROWS = 100
"""Longer tables say how many rows they leave out."""


@dataclass(frozen=True)
class Cell:
    """A text in a table; its tone is decoration, and a page may make it a link to one of its sections."""

    text: str
    tone: Tone = ""
    section: str = ""


@dataclass(frozen=True)
class Table:
    """Rows under columns; a column whose name begins with # holds numbers."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    left_out: int = 0
    of_picture: bool = False
    """Holds the numbers of the picture before it, so a page may fold it away."""


@dataclass(frozen=True)
class Text:
    """A sentence or two."""

    text: str


@dataclass(frozen=True)
class Picture:
    """Something to look at; only a page can show it, and a table after it holds the same numbers."""

    template: str
    data: Any


Block = Table | Text | Picture


@dataclass(frozen=True)
class Section:
    """One heading and what stands below it."""

    key: str
    title: str
    blocks: tuple[Block, ...]
    depth: int = 2


@dataclass(frozen=True)
class Report:
    """The whole of it: what it is about, the verdict, the facts in a line, the sections."""

    title: str
    about: str
    verdict: tuple[Cell, ...]
    facts: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]
    made_from: tuple[str, ...] = ()


def table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str | Cell]],
    *,
    most: int = MOST_ROWS,
    of_picture: bool = False,
) -> Table:
    """A table of at most so many rows."""
    cells = [tuple(Cell(cell) if isinstance(cell, str) else cell for cell in row) for row in rows]
    return Table(title, tuple(columns), tuple(cells[:most]), max(0, len(cells) - most), of_picture)
