"""Progress with the time left, on a terminal only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from cpsched.cli.output import is_watched, progress_console

Item = TypeVar("Item")


def progress(items: Iterable[Item], total: int, what: str) -> Iterator[Item]:
    """The items as they come; a bar on stderr counts them if it is a terminal."""
    if total < 2 or not is_watched():
        yield from items
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=progress_console(), transient=True) as bar:
        task = bar.add_task(what, total=total)
        for item in items:
            yield item
            bar.advance(task)
