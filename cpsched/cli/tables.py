"""Tables as every command shows them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from cpsched.errors import one_line
from cpsched.visible import visible

if TYPE_CHECKING:
    from cpsched import tables
    from cpsched.cli.output import Part

MOST_ROWS = 40
"""Longer tables say how many rows they leave out; JSON has them all."""


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """A plain table; a column whose name begins with # holds numbers. No text is cut off, long ones are folded."""
    made = Table(title=visible(title), title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, show_edge=False)
    made.padding = (0, 1, 0, 0)
    for column in map(visible, columns):
        if column.startswith("#"):
            made.add_column(column.removeprefix("#"), justify="right", no_wrap=True)
        else:
            made.add_column(column, overflow="fold")
    for row in rows:
        made.add_row(*(Text(one_line(cell)) for cell in row))
    return made


def shown(blocks: Iterable[tables.Block], most: int | None = None) -> Iterator[Part]:
    """Paragraphs, lists and tables, each of at most so many rows, and how many are left out."""
    for one in blocks:
        if isinstance(one, str):
            yield one
            continue
        rows = one.rows[:most]
        more = one.more + len(one.rows) - len(rows)
        if one.is_list:
            yield [one.title, *(f"- {one_line(line, longest=2000)}" for (line,) in rows)]
        else:
            yield table(one.title, one.columns, rows)
            if more:
                yield f"... and {more} more; --json shows all."
