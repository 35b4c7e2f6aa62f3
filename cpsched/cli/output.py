"""How the command line speaks: results once and whole on stdout, everything else on stderr."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import typer

from cpsched.errors import one_line

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

CLOSED_PIPE = 141
"""128 + SIGPIPE: the reader went away, as the shell would tell it."""

_WIDTH_IN_A_PIPE = 200


def emit(text: str) -> None:
    """Print a result; a reader that has had enough ends the program quietly."""
    try:
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(CLOSED_PIPE) from None


def emit_tables(*parts: RenderableType) -> None:
    """Print tables and lines for a person, in colour where a terminal wants it."""
    emit(_captured(_console(), parts))


def plain_tables(*parts: RenderableType) -> str:
    """The same for a file: no colour, as wide as it needs to be."""
    from rich.console import Console

    console = Console(width=_WIDTH_IN_A_PIPE, highlight=False, markup=False, emoji=False, color_system=None)
    return f"{_captured(console, parts)}\n"


def as_json(data: Any) -> str:
    """JSON text as the files and stdout carry it."""
    return json.dumps(data, indent=2) + "\n"


def write_output(path: str | None, text: str) -> None:
    """The file of -o, whole or not at all."""
    if path is not None:
        from cpsched.files import write_whole

        write_whole(path, text)


def warn(messages: Iterable[str]) -> None:
    """One line each, on stderr."""
    for message in messages:
        print(f"cpsched: warning: {one_line(message)}", file=sys.stderr)


def complain(message: str) -> None:
    """What is wrong and can be mended, as one line on stderr."""
    print(f"cpsched: error: {one_line(message)}", file=sys.stderr)


@contextmanager
def line_sink(path: str | None) -> Iterator[Callable[[str], None] | None]:
    """Where the lines of a log go: nowhere, to stderr (`-`), or into a file."""
    if path is None:
        yield None
    elif path == "-":
        yield lambda line: print(line, file=sys.stderr, flush=True)
    else:
        from cpsched.files import line_by_line

        with line_by_line(path) as write:
            yield write


def busy(what: str) -> AbstractContextManager[Any]:
    """Show on stderr what takes its time; nothing where nobody watches."""
    if not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(what)


def _captured(console: Console, parts: Iterable[RenderableType]) -> str:
    with console.capture() as captured:
        for part in parts:
            console.print(part)
            console.print()
    return "\n".join(line.rstrip() for line in captured.get().rstrip().split("\n"))


def _console() -> Console:
    from rich.console import Console

    in_a_pipe = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    return Console(width=_WIDTH_IN_A_PIPE if in_a_pipe else None, highlight=False, markup=False, emoji=False)
