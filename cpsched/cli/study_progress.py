"""A bar on stderr for what takes long, with what is left and how long that will take; none if it is not a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cpsched.cli.output import is_watched, progress_console

Watch = Callable[[str, int, int, int], None]


@contextmanager
def progress() -> Iterator[Watch]:
    """A function that gets a phase: its name, how many there are, how many are done, how many of those failed."""
    if not is_watched():
        yield lambda phase, total, done, failed: None
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[failed]} failed"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=progress_console(), speed_estimate_period=300) as bar:
        tasks = {}

        def watch(phase: str, total: int, done: int, failed: int) -> None:
            if phase not in tasks and total:
                tasks[phase] = bar.add_task(phase, total=total, completed=done, failed=failed)
            if phase in tasks:
                bar.update(tasks[phase], completed=done, failed=failed)

        yield watch
