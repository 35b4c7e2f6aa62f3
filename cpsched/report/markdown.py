"""A report as Markdown: the same sentences and tables, without the pictures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from cpsched.errors import one_line
from cpsched.report.document import Block, Picture, Report, Table, Text

_SPECIAL = re.compile(r"([\\`*|~])|(?<!\w)_|_(?!\w)|(?<=\])\(")


def markdown(report: Report) -> str:
    """The text; nothing of the input is taken for markup."""
    return "\n".join(_lines(report)).rstrip() + "\n"


def safe(text: str) -> str:
    """One line in which nothing is HTML, and nothing is Markdown."""
    return _SPECIAL.sub(lambda found: f"\\{found.group(0)}", escape(one_line(text, longest=2000), quote=False))


def _lines(report: Report) -> Iterator[str]:
    yield f"# {safe(report.title)}"
    yield from ("", safe(report.about), "")
    for line in report.verdict:
        strong = "" if line.tone == "quiet" else "**"
        yield f"- {strong}{safe(line.text)}{strong}"
    if report.facts:
        yield from ("", ", ".join(f"{safe(name)} {safe(value)}" for name, value in report.facts))
    yield ""
    for section in report.sections:
        if all(isinstance(block, Picture) for block in section.blocks):
            continue
        yield from (f"{'#' * section.depth} {safe(section.title)}", "")
        for block in section.blocks:
            yield from _block(block)
    yield from (f"- {safe(line)}" for line in report.made_from)


def _block(block: Block) -> Iterator[str]:
    if isinstance(block, Text):
        yield from (safe(block.text), "")
    elif isinstance(block, Table):
        yield from _table(block)


def _table(table: Table) -> Iterator[str]:
    yield from (f"*{safe(table.title)}*", "")
    yield _row(column.removeprefix("#") for column in table.columns)
    yield "|" + "|".join("---:" if column.startswith("#") else "---" for column in table.columns) + "|"
    for row in table.rows:
        yield _row(cell.text for cell in row)
    if table.left_out:
        yield from ("", f"{table.left_out:,} more rows are left out.")
    yield ""


def _row(texts: Iterator[str]) -> str:
    return f"| {' | '.join(safe(text) for text in texts)} |"
