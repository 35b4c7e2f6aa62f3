"""Tables as every command shows them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from cpsched.errors import one_line
from cpsched.visible import visible


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
