"""Tar archives, read from front to end: ustar, GNU and pax headers; nothing is ever written to disk.

Python's tarfile reads an extension of a header into memory whatever its size, so an archive could take all of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cpsched.errors import InputError
from cpsched.packed import Readable

BLOCK = 512
MAX_HEADER = 2**20
"""Of what extends a header: a long name, a pax record."""
_FILES, _FOLDER, _LINKS, _SPARSE = b"0\x007", b"5", b"12", b"S"
_WITHOUT_CONTENT = b"123456"
_LONG_NAME, _LONG_LINK, _PAX, _GLOBAL = b"L", b"K", b"xX", b"g"
_CHECKSUM = slice(148, 156)


class TarEntry(NamedTuple):
    """One header."""

    name: str
    size: int
    wrong: str | None
    """Why its content is not read; None for a plain file."""
    is_folder: bool = False


class Tar:
    """The members of an archive, one after the other; `read` gives the content of the one that came last."""

    def __init__(self, stream: Readable, file: str):
        self._stream, self._file = stream, file
        self._left = 0
        """Bytes of the current member that were not read yet, padding included."""
        self._size = 0

    def __iter__(self) -> Iterator[TarEntry]:
        """Every member; InputError for what is no tar archive, or is cut short."""
        extended: dict[str, str] = {}
        while (header := self._header()) is not None:
            sort, size = header[156:157], _number(header[124:136])
            if size is None or not is_header(header):
                raise self._broken("a header is damaged")
            if sort in _PAX + _LONG_NAME + _LONG_LINK + _GLOBAL:
                content = self._extension(size)
                if sort in _PAX:
                    extended |= _records(content)
                elif sort == _LONG_NAME:
                    extended["path"] = _text(content)
                continue
            self._begin(0 if sort in _WITHOUT_CONTENT else _stated_size(extended) or size)
            self._skip_map(sort, header)
            yield TarEntry(extended.get("path") or _name(header), self._size, _wrong(sort), _is_folder(sort, header))
            extended = {}

    def read(self) -> bytes:
        """The content of the member that came last, once; if it is cut short, asking for the next one is InputError."""
        content = self._stream.read(self._size)
        self._left -= len(content)
        return content

    def _header(self) -> bytes | None:
        """The next header; None at the end, which is a block of zeros or the end of the file."""
        self._skip()
        block = self._stream.read(BLOCK)
        if not block.strip(b"\0"):
            return None
        if len(block) < BLOCK:
            raise self._broken("it ends too early")
        return block

    def _begin(self, size: int) -> None:
        self._size, self._left = size, -(-size // BLOCK) * BLOCK

    def _extension(self, size: int) -> bytes:
        if size > MAX_HEADER:
            raise self._broken(f"a header of {size} bytes")
        self._begin(size)
        return self.read()

    def _skip_map(self, sort: bytes, header: bytes) -> None:
        """Before the content of a sparse file there may be blocks with a map of it."""
        more = sort == _SPARSE and header[482] != 0
        while more:
            block = self._stream.read(BLOCK)
            more = len(block) == BLOCK and block[504] != 0

    def _skip(self) -> None:
        while self._left > 0:
            part = self._stream.read(min(self._left, 2**20))
            if not part:
                raise self._broken("it ends too early")
            self._left -= len(part)

    def _broken(self, why: str) -> InputError:
        return InputError(f"broken tar archive ({why})", file=self._file)


def is_header(block: bytes) -> bool:
    """Whether a block is what every member begins with: its checksum is right."""
    if len(block) < BLOCK:
        return False
    stated = _number(block[_CHECKSUM])
    return stated is not None and stated == sum(block) - sum(block[_CHECKSUM]) + 8 * ord(" ")


def _number(field: bytes) -> int | None:
    """Octal digits, or a binary number where those do not suffice."""
    if field[0] == 0x80:
        return int.from_bytes(field[1:], "big")
    digits = field.strip(b" \0")
    if not digits or digits.strip(b"01234567"):
        return None if digits else 0
    return int(digits, 8)


def _stated_size(extended: dict[str, str]) -> int:
    """The size that a pax header states, where the plain one has no room for it."""
    stated = extended.get("size", "")
    return int(stated) if stated.isascii() and stated.isdecimal() and len(stated) < 20 else 0


def _name(header: bytes) -> str:
    name, prefix = _text(header[:100]), _text(header[345:500])
    return f"{prefix}/{name}" if prefix and header[257:263] == b"ustar\0" else name


def _text(field: bytes) -> str:
    return field.split(b"\0", 1)[0].decode(errors="replace")


def _is_folder(sort: bytes, header: bytes) -> bool:
    return sort == _FOLDER or (sort == b"\0" and _name(header).endswith("/"))


def _wrong(sort: bytes) -> str | None:
    if sort in _FILES or sort == _FOLDER:
        return None
    return "is a link" if sort in _LINKS else "is no plain file"


def _records(content: bytes) -> dict[str, str]:
    """The records of a pax header: `length key=value` each."""
    found = {}
    while content:
        length, space, _ = content.partition(b" ")
        if not space or not length.isdigit() or len(length) > 7 or not len(length) + 1 < int(length) <= len(content):
            break
        key, _, value = content[len(length) + 1 : int(length) - 1].partition(b"=")
        found[_text(key)] = _text(value)
        content = content[int(length) :]
    return found
