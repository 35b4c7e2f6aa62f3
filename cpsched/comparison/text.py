"""Titled tables as plain text, Markdown and HTML; every name is escaped for where it goes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

from cpsched.comparison.compare import Comparison
from cpsched.comparison.sections import Section, headline, sections
from cpsched.errors import one_line
from cpsched.visible import visible

_SPECIAL = re.compile(r"([\\`*\[\]<>#|~$@]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))")


def plain(comparison: Comparison) -> str:
    """For `print` and a shell."""
    parts = map(visible, [f"{comparison.id}, model {comparison.model}", *headline(comparison)])
    return "\n".join([*parts, *(line for one in sections(comparison) for line in ("", *_plain(one)))])


def markdown(comparison: Comparison) -> str:
    """For a pull request or a document."""
    lines = [f"**{md(comparison.id)}**, model {md(comparison.model)}", ""]
    lines += [f"- {md(line)}" for line in headline(comparison)]
    return "\n".join([*lines, *markdown_tables(sections(comparison))]) + "\n"


def html(comparison: Comparison) -> str:
    """For a notebook."""
    lines = "".join(f"<li>{escape(line)}</li>" for line in headline(comparison))
    head = f"<p><b>{escape(comparison.id)}</b>, model {escape(comparison.model)}</p><ul>{lines}</ul>"
    return visible(head + "".join(_html(one) for one in sections(comparison)))


def md(text: str) -> str:
    """A text that Markdown shows as it is, also inside a table: on one line, nothing of it markup or a mention."""
    return _SPECIAL.sub(r"\\\1", one_line(text)).replace("\\<", "&lt;").replace("\\>", "&gt;").replace("\\@", "&#64;")


def markdown_tables(tables: Iterable[Section]) -> list[str]:
    """The tables, each below its title."""
    lines: list[str] = []
    for one in tables:
        align = ("--:" if column.startswith("#") else ":--" for column in one.columns)
        lines += ["", f"**{md(one.title)}**", "", _row(_names(one.columns)), _row(align)]
        lines += [_row(map(md, row)) for row in one.rows]
        if one.more:
            lines += ["", f"... and {one.more} more."]
    return lines


def _names(columns: Sequence[str]) -> list[str]:
    return [visible(column.removeprefix("#")) for column in columns]


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _plain(section: Section) -> list[str]:
    rows = [_names(section.columns), *([one_line(cell) for cell in row] for row in section.rows)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(section.columns))]
    numbers = [column.startswith("#") for column in section.columns]
    lines = [visible(section.title)]
    for row in rows:
        cells = zip(row, widths, numbers, strict=True)
        texts = (cell.rjust(width) if number else cell.ljust(width) for cell, width, number in cells)
        lines.append("  ".join(texts).rstrip())
    return [*lines, f"... and {section.more} more"] if section.more else lines


def _html(section: Section) -> str:
    styles = ["text-align:right" if column.startswith("#") else "text-align:left" for column in section.columns]

    def row(cells: Iterable[str], tag: str) -> str:
        shown = (f'<{tag} style="{style}">{escape(cell)}</{tag}>' for cell, style in zip(cells, styles, strict=True))
        return f"<tr>{''.join(shown)}</tr>"

    body = row(_names(section.columns), "th") + "".join(row(cells, "td") for cells in section.rows)
    more = f"<p>... and {section.more} more</p>" if section.more else ""
    return f"<table><caption>{escape(section.title)}</caption>{body}</table>{more}"
