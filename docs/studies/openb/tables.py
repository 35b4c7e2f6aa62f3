"""Tables: CSV files beside this one, and Markdown."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

HERE = Path(__file__).parent


def table(header: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """Rows as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue()


def read_table(name: str) -> list[dict[str, str]]:
    """A CSV file beside this one."""
    with (HERE / name).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def markdown(header: Sequence[str], rows: Iterable[Iterable[object]], words: int = 1) -> str:
    """Rows as a Markdown table; the first so many columns are words, the others numbers."""
    lines = [header, ["---"] * words + ["---:"] * (len(header) - words), *rows]
    return "\n".join(_line(line) for line in lines)


def _line(cells: Iterable[object]) -> str:
    texts = [str(cell) for cell in cells]
    gap = "" if texts[0].startswith("---") else " "
    return f"|{gap}{f'{gap}|{gap}'.join(texts)}{gap}|"
