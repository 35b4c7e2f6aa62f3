"""An append-only file of JSON lines: what was appended stays, whatever happens to the process that appends."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from cpsched.errors import InputError

Record = dict[str, Any]


class Journal:
    """One writer, any number of readers; each record is a line, and on the disk before `append` returns."""

    def __init__(self, path: Path):
        self.path = path

    def entries(self) -> Iterator[tuple[int, Record]]:
        """Every whole record with its place in the file; a torn or spoilt line is passed over."""
        try:
            with self.path.open("rb") as stream:
                place = 0
                for line in stream:
                    if (record := _record(line)) is not None:
                        yield place, record
                    place += len(line)
        except FileNotFoundError:
            return
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror or error}", file=str(self.path)) from None

    def at(self, places: Iterable[int]) -> Iterator[Record]:
        """The records at these places."""
        with self.path.open("rb") as stream:
            for place in places:
                stream.seek(place)
                record = _record(stream.readline())
                if record is None:
                    raise InputError("was changed while it was read", file=str(self.path), right="try again")
                yield record

    def mend(self) -> bool:
        """Cut off a last line that was not written to its end; whether there was one."""
        if not self.path.exists():
            return False
        with self.path.open("rb+") as stream:
            whole = _end_of_last_line(stream.fileno())
            torn = whole < os.fstat(stream.fileno()).st_size
            if torn:
                stream.truncate(whole)
        return torn

    def append(self, record: Record) -> None:
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


def _record(line: bytes) -> Record | None:
    if not line.endswith(b"\n"):
        return None
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) and isinstance(record.get("key"), str) else None


def _end_of_last_line(handle: int) -> int:
    end = os.fstat(handle).st_size
    while end > 0:
        start = max(0, end - (1 << 16))
        last = os.pread(handle, end - start, start).rfind(b"\n")
        if last >= 0:
            return start + last + 1
        end = start
    return 0
