"""ZIP and tar archives, distrusted: read in memory, nothing unpacked to disk, limits before any bytes are believed."""

from __future__ import annotations

import io
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

from cpsched.errors import InputError
from cpsched.packed import Guarded, broken_data, opened
from cpsched.tar import BLOCK, Tar, TarEntry, is_header

MAX_MEMBERS = 200_000
MAX_TOTAL = 2**30
"""Bytes of the members that are read."""
MAX_STREAM = 8 * 2**30
"""Bytes of a compressed tar archive with the members that are passed over, mostly logs."""
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError, ValueError)


class ArchiveLimits:
    """What an archive, with the archives in it, may still hold."""

    def __init__(self) -> None:
        self.members, self.size = MAX_MEMBERS, MAX_TOTAL

    def count(self, file: str) -> None:
        """One more member."""
        self.members -= 1
        if self.members < 0:
            raise InputError(f"an archive of more than {MAX_MEMBERS} files", file=file)


class ArchiveMember(NamedTuple):
    """A file in an archive; `read` is to be called before the next one is asked for, if at all."""

    name: str
    wrong: str | None
    """What makes it something else than a plain file."""
    read: Callable[[], bytes]


def is_archive(data: bytes, file: str) -> bool:
    """Seen by the first bytes, whatever the file is called: ZIP, or tar, empty or not, compressed or not."""
    if data[:4] in _ZIP or is_header(data[:BLOCK]) or data[: 2 * BLOCK] == bytes(2 * BLOCK):
        return True
    stream = opened(data, file, BLOCK)
    if stream is None:
        return False
    with broken_data(data, file):
        return is_header(stream.read(BLOCK))


def members(data: bytes, file: str, budget: ArchiveLimits) -> Iterator[ArchiveMember]:
    """Every file in the archive; InputError for a broken archive and for one beyond the limits."""
    return (_zipped if data[:4] in _ZIP else _tarred)(data, file, budget)


def _zipped(data: bytes, file: str, budget: ArchiveLimits) -> Iterator[ArchiveMember]:
    seen: set[str] = set()
    with _broken_zip(file), zipfile.ZipFile(io.BytesIO(data)) as archive:
        for info in archive.infolist():
            budget.count(file)
            if not info.is_dir():
                name = info.filename
                wrong = _trick(info) or _odd_name(name, name.casefold(), seen)
                yield ArchiveMember(name, wrong, partial(_unzipped, archive, info, file, budget))


def _unzipped(archive: zipfile.ZipFile, info: zipfile.ZipInfo, file: str, budget: ArchiveLimits) -> bytes:
    with _broken_zip(file), archive.open(info) as packed:
        content = Guarded(packed, info.compress_size, f"{file}!{info.filename}", budget.size).read(budget.size + 1)
    budget.size -= len(content)
    return content


@contextmanager
def _broken_zip(file: str) -> Iterator[None]:
    try:
        yield
    except _BROKEN as error:
        raise InputError(f"broken ZIP archive ({error})", file=file) from None


def _tarred(data: bytes, file: str, budget: ArchiveLimits) -> Iterator[ArchiveMember]:
    archive = Tar(opened(data, file, MAX_STREAM) or io.BytesIO(data), file)
    seen: set[str] = set()
    with broken_data(data, file):
        for entry in archive:
            budget.count(file)
            if not entry.is_folder:
                # `tar -P` keeps the leading slash, which means nothing here.
                name = entry.name.lstrip("/")
                wrong = entry.wrong or _odd_name(name, name, seen)
                yield ArchiveMember(name, wrong, partial(_untarred, archive, entry, data, file, budget))


def _untarred(archive: Tar, entry: TarEntry, data: bytes, file: str, budget: ArchiveLimits) -> bytes:
    budget.size -= entry.size
    if budget.size < 0:
        wrong = f"unpacks to more than {MAX_TOTAL // 2**20} MiB"
        raise InputError(wrong, file=f"{file}!{entry.name}", right="no cluster is so large")
    with broken_data(data, file):
        return archive.read()


def _trick(info: zipfile.ZipInfo) -> str | None:
    if info.filename != info.orig_filename or "\\" in info.filename:
        return "has a name with odd characters"
    if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
        return "is a link or a device"
    if info.flag_bits & 1:
        return "is encrypted"
    if info.compress_type not in _METHODS:
        return "is packed by an unknown method"
    return None


def _odd_name(name: str, key: str, seen: set[str]) -> str | None:
    """Names lead nowhere here, as nothing is unpacked; but an archive made to mislead other programs is no dump."""
    if not name.isprintable():
        return "has a name with odd characters"
    if name.startswith("/") or name[1:2] == ":":
        return "has an absolute name"
    if ".." in name.split("/"):
        return "climbs out of the archive"
    if key in seen:
        return "is there twice"
    seen.add(key)
    return None
