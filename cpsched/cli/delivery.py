"""Results to stdout and into files, so that a file that cannot be written costs neither time nor the answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import typer

from cpsched.cli.output import complain
from cpsched.errors import InputError

File: TypeAlias = tuple[str | None, Callable[[], str]]
"""Where to, None for nowhere, and the text that is written there."""


def check_outputs(*paths: str | None) -> None:
    """Find out before the work, not after it, that a file cannot be written."""
    for path in paths:
        if path is not None:
            from cpsched.files import check_writable

            check_writable(path)


def write_output(path: str | None, text: str) -> None:
    """The file of -o, whole or not at all."""
    if path is not None:
        from cpsched.files import write_whole

        write_whole(path, text)


def deliver(show: Callable[[], None], *files: File) -> None:
    """Print what was found, then write the files; whatever fails, the others are done first."""
    closed: typer.Exit | None = None
    failures: list[InputError] = []
    try:
        show()
    except typer.Exit as error:
        closed = error
    except InputError as error:
        failures.append(error)
    for path, text in files:
        try:
            write_output(path, "" if path is None else text())
        except InputError as error:
            failures.append(error)
    for failure in failures[:-1]:
        complain(str(failure))
    if failures:
        raise failures[-1]
    if closed is not None:
        raise closed
