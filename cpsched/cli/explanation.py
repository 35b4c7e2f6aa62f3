"""Lines and tables of an explanation, for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from cpsched.cli.decision import MOST_ROWS
from cpsched.cli.tables import table
from cpsched.errors import one_line

if TYPE_CHECKING:
    from cpsched.cli.output import Part
    from cpsched.explanation.blocks import Block


def explanation_tables(blocks: Iterable[Block]) -> Iterator[Part]:
    """Everything there is to see; long tables say how many rows they leave out."""
    for block in blocks:
        if isinstance(block, str):
            yield block
            continue
        if list(block.columns) == [""]:
            yield [block.title, *(f"- {one_line(row[0], longest=2000)}" for row in block.rows[:MOST_ROWS])]
            continue
        yield table(block.title, block.columns, block.rows[:MOST_ROWS])
        if len(block.rows) > MOST_ROWS:
            yield f"... and {len(block.rows) - MOST_ROWS} more; --json shows all."
