"""Markdown and HTML of lines and tables."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from cpsched.errors import one_line
from cpsched.explanation.blocks import Block, Table
from cpsched.visible import visible


def markdown(blocks: Iterable[Block]) -> str:
    """Lines as paragraphs, tables as Markdown tables; a table of one nameless column is a list."""
    parts = []
    for block in blocks:
        if isinstance(block, str):
            parts.append(_cell(block))
        elif list(block.columns) == [""]:
            parts.append("\n".join((f"**{block.title}**\n", *(f"- {_cell(row[0])}" for row in block.rows))))
        else:
            parts.append(f"**{block.title}**\n\n{_table(block)}")
    return "\n\n".join(parts) + "\n"


def html(blocks: Iterable[Block]) -> str:
    """The same for a notebook."""
    parts = []
    for block in blocks:
        if isinstance(block, str):
            parts.append(f"<p>{escape(block)}</p>")
            continue
        head = "".join(f"<th>{escape(column.removeprefix('#'))}</th>" for column in block.columns)
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in block.rows)
        parts.append(f"<p><b>{escape(block.title)}</b></p><table><tr>{head}</tr>{body}</table>")
    return visible("".join(parts))


def _table(table: Table) -> str:
    names = [column.removeprefix("#") for column in table.columns]
    align = ["--:" if column.startswith("#") else "---" for column in table.columns]
    lines = ["| " + " | ".join(names) + " |", "|" + "|".join(align) + "|"]
    lines += ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in table.rows]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return one_line(text, longest=2000).replace("|", "\\|")
