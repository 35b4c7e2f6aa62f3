"""The one error root: what a user can correct is an InputError, printed as a single line."""

from __future__ import annotations

import os

from cpsched.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class CpschedError(Exception):
    """Root of every error this package raises on purpose."""


class InputError(CpschedError):
    """Something the user gave is wrong; the text is one line: file, place, what is wrong, what would be right."""

    def __init__(self, wrong: str, *, file: str | None = None, place: str | None = None, right: str | None = None):
        self.wrong, self.file, self.place, self.right = wrong, file, place, right
        super().__init__(wrong)

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.wrong, self.file, self.place, self.right)

    def __str__(self) -> str:
        line = ": ".join(one_line(part) for part in (self.file, self.place, self.wrong) if part)
        return f"{line}; {one_line(self.right)}" if self.right else line

    def within(self, *, file: str | None = None, place: str | None = None) -> InputError:
        """The same error, seen from further out: the file or the enclosing place is added where it is missing."""
        inner = self.place
        joined = inner or place
        if place and inner:
            joined = f"{place}{inner}" if inner.startswith("[") else f"{place}.{inner}"
        return InputError(self.wrong, file=self.file or file, place=joined, right=self.right)


def _again(wrong: str, file: str | None, place: str | None, right: str | None) -> InputError:
    """The error in another process."""
    return InputError(wrong, file=file, place=place, right=right)


def unexpected(error: Exception) -> str:
    """An error that is a bug of this package, in one line that says where: for one case of many."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    where = "" if last is None else f" ({os.path.basename(last.tb_frame.f_code.co_filename)}:{last.tb_lineno})"
    return f"unexpected {type(error).__name__}{where}: {error}".rstrip(": ")


def one_line(text: str, longest: int = 500) -> str:
    """The text on one line, however it was written: white space is one space, what does not print is escaped."""
    line = " ".join(text.split())
    if len(line) > longest:
        line = f"{line[: longest - 3]}..."
    return line if line.isascii() and line.isprintable() else visible(line)
