"""An append-only file of JSON lines: what was appended stays, whatever happens to the process that appends."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import ValidationError

from cpsched.complaints import complaint, place_in
from cpsched.errors import InputError
from cpsched.files import writing_whole
from cpsched.json_values import json_line
from cpsched.lab.study.records import Record

R = TypeVar("R", bound=Record)


class LinePlace(NamedTuple):
    """Where a line stands."""

    line: int
    """Counted from 1."""
    offset: int


class Flaw(NamedTuple):
    """A line that is not as it was written."""

    place: LinePlace
    error: InputError
    """File, line, and what is wrong."""
    data: Any
    """Its content, as far as it is JSON."""


class Journal(Generic[R]):
    """One writer, any number of readers; each record is a line, and on the disk before `append` returns."""

    def __init__(self, path: Path, record: type[R]):
        self.path, self._record = path, record

    def entries(self) -> Iterator[tuple[LinePlace, R] | Flaw]:
        """Every whole line with its place; a last line without its end is passed over: it is being written, or torn."""
        for place, line in self._lines():
            yield self._read(place, line)

    def at(self, places: Iterable[LinePlace]) -> Iterator[R]:
        """The records at these places; a file that is not there has none."""
        places = list(places)
        if not places:
            return
        with self.path.open("rb") as stream:
            for place in places:
                stream.seek(place.offset)
                try:
                    yield self._record.model_validate_json(stream.readline())
                except ValidationError:
                    raise InputError("was changed while it was read", file=str(self.path), right="try again") from None

    def repair(self) -> bool:
        """Cut off a last line that was not written to its end; whether there was one."""
        if not self.path.exists():
            return False
        try:
            with self.path.open("rb+") as stream:
                whole = _end_of_last_line(stream.fileno())
                torn = whole < os.fstat(stream.fileno()).st_size
                if torn:
                    stream.truncate(whole)
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror or error}", file=str(self.path)) from None
        return torn

    def set_aside(self, is_unreadable: Callable[[Flaw], bool]) -> tuple[list[Flaw], Path]:
        """Move such lines to the end of a file beside this one; which they were, and that file."""
        beside = self.path.with_name(f"{self.path.name}.unreadable")
        flaws = [entry for entry in self.entries() if isinstance(entry, Flaw) and is_unreadable(entry)]
        if flaws:
            taken = {flaw.place.line for flaw in flaws}
            with writing_whole(self.path) as kept, beside.open("ab") as aside:
                for place, line in self._lines():
                    (aside if place.line in taken else kept).write(line)
                aside.flush()
                os.fsync(aside.fileno())
        return flaws, beside

    def append(self, record: dict[str, Any]) -> None:
        """Add the record at the end; it is on the disk when this returns."""
        text = f"{json.dumps(record, separators=(',', ':'))}\n".encode()
        try:
            handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
            try:
                while text:
                    text = text[os.write(handle, text) :]
                os.fsync(handle)
            finally:
                os.close(handle)
        except OSError as error:
            right = "make room and run the study again: what is done is kept"
            raise InputError(
                f"cannot be written: {error.strerror or error}", file=str(self.path), right=right
            ) from None

    def _lines(self) -> Iterator[tuple[LinePlace, bytes]]:
        try:
            with self.path.open("rb") as stream:
                offset = 0
                for number, line in enumerate(stream, start=1):
                    if line.endswith(b"\n"):
                        yield LinePlace(number, offset), line
                    offset += len(line)
        except FileNotFoundError:
            return
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror or error}", file=str(self.path)) from None

    def _read(self, place: LinePlace, line: bytes) -> tuple[LinePlace, R] | Flaw:
        where, data = f"line {place.line}", None
        try:
            data = json_line(line, str(self.path), place.line)
            return place, self._record.model_validate_json(line)
        except InputError as error:
            return Flaw(place, error if error.place else error.within(place=where), data)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            wrong = f"{inside}: {complaint(first)}" if (inside := place_in(first)) else complaint(first)
            return Flaw(place, InputError(wrong, file=str(self.path), place=where), data)


def _end_of_last_line(handle: int) -> int:
    end = os.fstat(handle).st_size
    while end > 0:
        start = max(0, end - (1 << 16))
        last = os.pread(handle, end - start, start).rfind(b"\n")
        if last >= 0:
            return start + last + 1
        end = start
    return 0
