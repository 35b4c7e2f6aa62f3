"""A comparison as plain text, Markdown and HTML."""

from __future__ import annotations

from html import escape

from cpsched import tables
from cpsched.comparison.compare import Comparison
from cpsched.comparison.sections import headline, sections
from cpsched.tables import md
from cpsched.visible import visible


def plain(comparison: Comparison) -> str:
    """For `print` and a shell."""
    parts = "\n".join(map(visible, [f"{comparison.id}, model {comparison.model}", *headline(comparison)]))
    return "\n\n".join(filter(None, [parts, tables.plain(sections(comparison))]))


def markdown(comparison: Comparison) -> str:
    """For a pull request or a document."""
    lines = [f"**{md(comparison.id)}**, model {md(comparison.model)}", ""]
    lines += [f"- {md(line)}" for line in headline(comparison)]
    return "\n\n".join(filter(None, ["\n".join(lines), tables.markdown(sections(comparison))])) + "\n"


def html(comparison: Comparison) -> str:
    """For a notebook."""
    lines = "".join(f"<li>{escape(line)}</li>" for line in headline(comparison))
    head = f"<p><b>{escape(comparison.id)}</b>, model {escape(comparison.model)}</p><ul>{lines}</ul>"
    return visible(head) + tables.html(sections(comparison))
