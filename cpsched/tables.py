"""Titled tables as plain text, Markdown and HTML; every name is escaped for where it goes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import NamedTuple

from cpsched.errors import one_line
from cpsched.visible import visible

_SPECIAL = re.compile(r"([\\`*\[\]<>#|~$@]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))")
_LONGEST = 2000
"""Characters of a cell; longer texts are cut."""


class Table(NamedTuple):
    """A table; a column whose name begins with # holds numbers. One of a single nameless column is a list."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    more: int = 0
    """Rows left out."""

    @property
    def is_list(self) -> bool:
        """Whether its rows are lines."""
        return list(self.columns) == [""]


Block = str | Table
"""A paragraph, or a table."""


def cut(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], most: int) -> Table:
    """A table of at most so many rows, which says how many are left out."""
    return Table(title, columns, rows[:most], max(0, len(rows) - most))


def md(text: str) -> str:
    """A text that Markdown shows as it is, also inside a table: on one line, nothing of it markup or a mention."""
    line = _SPECIAL.sub(r"\\\1", one_line(text, _LONGEST))
    return line.replace("\\<", "&lt;").replace("\\>", "&gt;").replace("\\@", "&#64;")


def markdown(blocks: Iterable[Block]) -> str:
    """Paragraphs and tables, each table below its title."""
    return "\n\n".join(md(one) if isinstance(one, str) else "\n".join(_markdown(one)) for one in blocks)


def html(blocks: Iterable[Block]) -> str:
    """The same for a notebook."""
    return visible("".join(f"<p>{escape(one)}</p>" if isinstance(one, str) else _html(one) for one in blocks))


def plain(blocks: Iterable[Block]) -> str:
    """The same for `print` and a shell."""
    return "\n\n".join(visible(one) if isinstance(one, str) else "\n".join(_plain(one)) for one in blocks)


def _names(table: Table) -> list[str]:
    return [visible(column.removeprefix("#")) for column in table.columns]


def _markdown(table: Table) -> Iterator[str]:
    yield from (f"**{md(table.title)}**", "")
    if table.is_list:
        yield from (f"- {md(line)}" for (line,) in table.rows)
    else:
        align = ("--:" if column.startswith("#") else ":--" for column in table.columns)
        cells = (map(md, row) for row in table.rows)
        yield from (f"| {' | '.join(row)} |" for row in (_names(table), align, *cells))
    if table.more:
        yield from ("", f"... and {table.more} more.")


def _plain(table: Table) -> Iterator[str]:
    yield visible(table.title)
    rows = [_names(table), *([one_line(cell) for cell in row] for row in table.rows)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = zip(row, widths, table.columns, strict=True)
        texts = (cell.rjust(w) if column.startswith("#") else cell.ljust(w) for cell, w, column in cells)
        yield "  ".join(texts).rstrip()
    if table.more:
        yield f"... and {table.more} more"


def _html(table: Table) -> str:
    sides = ["right" if column.startswith("#") else "left" for column in table.columns]

    def row(cells: Sequence[str], tag: str) -> str:
        styled = zip(cells, sides, strict=True)
        return "".join(f'<{tag} style="text-align:{side}">{escape(cell)}</{tag}>' for cell, side in styled)

    head = f"<tr>{row(_names(table), 'th')}</tr>"
    body = "".join(f"<tr>{row(cells, 'td')}</tr>" for cells in table.rows)
    more = f"<p>... and {table.more} more</p>" if table.more else ""
    return f"<table><caption>{escape(table.title)}</caption>{head}{body}</table>{more}"
