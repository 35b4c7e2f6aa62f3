"""How the command line speaks: results once and whole on stdout, everything else on stderr.

The only module that prints. Names and messages come from strangers, so nothing is printed that was not made visible.
"""

from __future__ import annotations

import io
import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import typer

from cpsched.errors import InputError, one_line
from cpsched.visible import json_text, visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from cpsched.policy import Policy

    Part: TypeAlias = Table | str | Sequence[str]
    """A table, a line, or several lines below each other."""

CLOSED_PIPE = 141
"""128 + SIGPIPE: the reader went away, as the shell would tell it."""

_WIDTH_IN_A_PIPE = 200
_LONGEST = 20_000
_OURS = "\n\t"


def emit(text: str) -> None:
    """Print a result whose line breaks and tabs are ours: JSON, Markdown, a page."""
    _write(visible(text, keep=_OURS))


def emit_lines(lines: Iterable[str]) -> None:
    """Print lines; a line break inside one of them is escaped."""
    emit("\n".join(map(visible, lines)))


def emit_tables(*parts: Part) -> None:
    """Print tables and lines for a person, in colour where a terminal wants it."""
    in_a_pipe = not _is_terminal(sys.stdout) and "COLUMNS" not in os.environ
    _write(_rendered(parts, _LikeStdout(), width=_WIDTH_IN_A_PIPE if in_a_pipe else None))


def plain_tables(*parts: Part) -> str:
    """The same for a file: no colour, as wide as it needs to be."""
    return _rendered(parts, io.StringIO(), width=_WIDTH_IN_A_PIPE, color_system=None) + "\n"


def as_json(data: Any) -> str:
    """JSON text as the files and stdout carry it."""
    return json_text(data, indent=2) + "\n"


def warn(messages: Iterable[str]) -> None:
    """One line each, on stderr."""
    for message in messages:
        say(f"cpsched: warning: {one_line(message)}")


def announce(policy: Policy) -> None:
    """Which model holds and why, on stderr, if the input decided it."""
    if policy.choice:
        say(f"cpsched: {one_line(policy.choice)}")


def complain(message: str) -> None:
    """What is wrong and can be corrected, as one line on stderr."""
    say(f"cpsched: error: {one_line(message)}")


def say(text: str) -> None:
    """Print on stderr; line breaks and tabs are ours. If stderr is closed or full, there is nowhere left to tell."""
    if sys.stderr is not None:
        with suppress(OSError):
            sys.stderr.write(visible(text, keep=_OURS) + "\n")
            sys.stderr.flush()


def say_lines(lines: Iterable[str]) -> None:
    """Print lines on stderr; a line break inside one of them is escaped."""
    say("\n".join(map(visible, lines)))


@contextmanager
def bugs_shown() -> Iterator[None]:
    """A bug keeps its traceback, in every thread; its message may quote the input, so it is made visible too."""

    def show(kind: type[BaseException], error: BaseException | None, trace: TracebackType | None) -> None:
        say("".join(traceback.format_exception(kind, error, trace)).rstrip())

    def show_in_thread(found: threading.ExceptHookArgs) -> None:
        show(found.exc_type, found.exc_value, found.exc_traceback)

    # This one is not taken back: it is asked when all else has ended.
    sys.excepthook = show
    before = threading.excepthook
    if before is threading.__excepthook__:
        threading.excepthook = show_in_thread
    try:
        yield
    finally:
        threading.excepthook = before


@contextmanager
def line_sink(path: str | None) -> Iterator[Callable[[str], None] | None]:
    """Where the lines of a log go: nowhere, to stderr (`-`), or into a file.

    A place that takes no more lines is left alone, with one warning: the log is not worth losing the result.
    """
    if path is None:
        yield None
    elif path == "-":
        yield _until_it_fails("stderr", say)
    else:
        from cpsched.files import line_by_line

        with line_by_line(path) as write:
            yield _until_it_fails(path, write)


def _until_it_fails(name: str, write: Callable[[str], None]) -> Callable[[str], None]:
    failed = False

    def write_on(line: str) -> None:
        nonlocal failed
        if not failed:
            try:
                write(line)
            except OSError as error:
                failed = True
                with suppress(OSError):
                    warn([f"{name}: the log ends here: {error.strerror or error}"])

    return write_on


def is_watched() -> bool:
    """Whether stderr is a terminal."""
    return _is_terminal(sys.stderr)


def progress_console() -> Console:
    """For bars on stderr; no text is taken for markup."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, markup=False, emoji=False)


def busy(what: str) -> AbstractContextManager[Any]:
    """Show on stderr what takes its time; nothing if it is not a terminal."""
    return progress_console().status(one_line(what)) if is_watched() else nullcontext()


def _write(text: str) -> None:
    """Print on stdout; a reader that has had enough ends the program quietly."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
        sys.stdout.flush()
    except OSError as error:
        # What is still in the buffer must not fail once more when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise typer.Exit(CLOSED_PIPE) from None
        raise InputError(f"cannot be written: {error.strerror or error}", file="stdout") from None


def _is_terminal(stream: IO[str] | None) -> bool:
    return stream is not None and stream.isatty()


class _LikeStdout(io.StringIO):
    """Text that is not printed yet, in the characters and colours that stdout can show."""

    @property
    def encoding(self) -> str:  # type: ignore[override]  # typeshed takes it for an attribute
        return getattr(sys.stdout, "encoding", None) or "utf-8"

    def isatty(self) -> bool:
        return _is_terminal(sys.stdout)


def _line(text: str) -> str:
    """A name of millions of characters would take minutes to fold."""
    return visible(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}...")


def _rendered(parts: Iterable[Part], file: io.StringIO, **style: Any) -> str:
    """The parts with an empty line between them; the only control characters are the styles of rich."""
    from rich.console import Console
    from rich.segment import Segment, Segments

    console = Console(file=file, highlight=False, markup=False, emoji=False, **style)
    for part in parts:
        if isinstance(part, str | Sequence):
            part = "\n".join(map(_line, [part] if isinstance(part, str) else part))
        segments = list(console.render(part))
        whole = "".join([one.text for one in segments])
        if visible(whole, keep="\n") != whole:
            segments = [Segment(visible(one.text, keep="\n"), one.style) for one in segments]
        console.print(Segments(segments))
        console.print()
    return "\n".join(line.rstrip() for line in file.getvalue().rstrip().split("\n"))
