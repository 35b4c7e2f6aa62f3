"""ZIP archives, distrusted: read in memory, nothing unpacked to disk, limits before any bytes are believed."""

from __future__ import annotations

import io
import stat
import zipfile
import zlib
from collections.abc import Iterator
from typing import Protocol

from cpsched.errors import InputError

MAX_MEMBERS = 1000
MAX_TOTAL = 2**30
MAX_RATIO = 500
FREE_OF_RATIO = 32 * 2**20
"""Up to so many bytes anything may shrink as it likes; a bomb is larger."""


class Readable(Protocol):
    """Something with bytes in it."""

    def read(self, size: int, /) -> bytes:
        """At most so many of the next bytes, none at the end."""
        ...


_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_CHUNK = 2**20
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def is_zip(data: bytes) -> bool:
    """Seen by the first bytes, whatever the file is called."""
    return data[:4] in _ZIP


def members(data: bytes, file: str) -> Iterator[tuple[str, bytes]]:
    """(name, bytes) of every file in the archive; InputError for whatever a plain archive would not have."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = [info for info in archive.infolist() if not info.is_dir()]
            if len(archive.infolist()) > MAX_MEMBERS:
                raise InputError(f"an archive of more than {MAX_MEMBERS} files", file=file)
            _refuse_tricks(infos, file)
            size = 0
            for info in infos:
                with archive.open(info) as stream:
                    content = inflated(stream, info.compress_size, f"{file}!{info.filename}", MAX_TOTAL, size)
                size += len(content)
                yield info.filename, content
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError, ValueError) as error:
        raise InputError(f"broken ZIP archive ({error})", file=file) from None


def inflated(stream: Readable, packed: int, file: str, most: int, before: int = 0) -> bytes:
    """All bytes of a compressed stream, unless there are too many, or far more than any such text shrinks to."""
    parts, size = [], 0
    while part := stream.read(_CHUNK):
        size += len(part)
        if before + size > most:
            raise InputError(f"unpacks to more than {most // 2**20} MiB", file=file, right="no cluster is so large")
        if size > FREE_OF_RATIO and size > MAX_RATIO * packed:
            raise InputError(f"unpacks to more than {MAX_RATIO} times its size", file=file, right="is it a ZIP bomb?")
        parts.append(part)
    return b"".join(parts)


def _refuse_tricks(infos: list[zipfile.ZipInfo], file: str) -> None:
    seen: set[str] = set()
    for info in infos:
        name = info.filename
        wrong = _trick(info)
        if wrong is None and name.casefold() in seen:
            wrong = "is there twice"
        if wrong is not None:
            raise InputError(f"the member {name!r} {wrong}", file=file, right="give an archive of plain files")
        seen.add(name.casefold())


def _trick(info: zipfile.ZipInfo) -> str | None:
    name = info.filename
    if name != info.orig_filename or "\\" in name or not name.isprintable():
        return "has a name with odd characters"
    if name.startswith("/") or name[1:2] == ":":
        return "has an absolute name"
    if ".." in name.split("/"):
        return "climbs out of the archive"
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        return "is a link or a device"
    if info.flag_bits & 1:
        return "is encrypted"
    if info.compress_type not in _METHODS:
        return "is packed by an unknown method"
    return None
