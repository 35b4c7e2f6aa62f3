"""Compressed bytes (gzip, bzip2, xz), distrusted: seen by their first bytes, unpacked in memory within limits."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from cpsched.errors import InputError

MAX_RATIO = 500
FREE_OF_RATIO = 32 * 2**20
"""Up to so many bytes anything may shrink as it likes; a bomb is larger."""
_CHUNK = 2**20
_XZ_MEMORY = 2**28
"""An xz file says itself how much memory unpacking takes; the largest preset needs 65 MiB."""
_FOREIGN = {
    b"\x28\xb5\x2f\xfd": ("is compressed by zstd", "unpack it by zstd -d"),
    b"\x04\x22\x4d\x18": ("is compressed by lz4", "unpack it by lz4 -d"),
    b"7z\xbc\xaf\x27\x1c": ("is a 7z archive", "unpack it, or pack it as tar or ZIP"),
    b"Rar!\x1a\x07": ("is a RAR archive", "unpack it, or pack it as tar or ZIP"),
    b"k8s\x00": ("holds objects as protobuf", "ask the API server for JSON"),
}
"""First bytes of what is not read: what it is, and what helps."""


class Readable(Protocol):
    """Something with bytes in it."""

    def read(self, size: int, /) -> bytes:
        """At most so many of the next bytes, none at the end."""
        ...


class Guarded:
    """The bytes of a compressed stream, unless there are too many, or far more than any such text shrinks to."""

    def __init__(self, stream: Readable, packed: int, file: str, most: int):
        self._stream, self._packed, self._file, self._most = stream, packed, file, most
        self._size = 0

    def read(self, size: int, /) -> bytes:
        """The next bytes, fewer only at the end; InputError beyond the limits."""
        parts = []
        while size > 0 and (part := self._stream.read(min(size, _CHUNK))):
            size -= len(part)
            self._count(len(part))
            parts.append(part)
        return b"".join(parts)

    def _count(self, size: int) -> None:
        self._size += size
        if self._size > self._most:
            wrong = f"unpacks to more than {self._most // 2**20} MiB"
            raise InputError(wrong, file=self._file, right="no cluster is so large")
        if self._size > FREE_OF_RATIO and self._size > MAX_RATIO * self._packed:
            wrong = f"unpacks to more than {MAX_RATIO} times its size"
            raise InputError(wrong, file=self._file, right="is it a decompression bomb?")


def foreign(data: bytes, file: str) -> InputError | None:
    """What data of another kind is, if its first bytes tell."""
    meaning = next((meaning for sign, meaning in _FOREIGN.items() if data.startswith(sign)), None)
    return None if meaning is None else InputError(meaning[0], file=file, right=meaning[1])


def opened(data: bytes, file: str, most: int) -> Guarded | None:
    """The bytes within, or None if these are not compressed."""
    for sign, (_, open_) in _METHODS.items():
        if data.startswith(sign):
            with broken_data(data, file):
                return Guarded(open_(data), len(data), file, most)
    return None


@contextmanager
def broken_data(data: bytes, file: str) -> Iterator[None]:
    """What a decompressor complains about, as one line."""
    name = next((name for sign, (name, _) in _METHODS.items() if data.startswith(sign)), "compressed")
    try:
        yield
    except ImportError:
        raise InputError(f"{name} data, which this Python cannot unpack", file=file, right="unpack it first") from None
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise InputError(f"broken {name} data ({error})", file=file) from None


def _gzip(data: bytes) -> Readable:
    import gzip

    return gzip.GzipFile(fileobj=io.BytesIO(data))


def _bzip2(data: bytes) -> Readable:
    import bz2

    return bz2.BZ2File(io.BytesIO(data))


class _Xz:
    """lzma's own file object sets no limit to memory."""

    def __init__(self, data: bytes):
        import lzma

        self._rest, self._done = data, False
        self._decompressor = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
        self._broken = lzma.LZMAError

    def read(self, size: int, /) -> bytes:
        """The next bytes; ValueError for broken ones."""
        given, self._rest = self._rest, b""
        try:
            while not self._decompressor.eof:
                if part := self._decompressor.decompress(given, size):
                    return part
                if self._decompressor.needs_input:
                    raise EOFError("it ends too early")
                given = b""
        except self._broken as error:
            raise ValueError(str(error)) from None
        if self._decompressor.unused_data.strip(b"\0"):
            raise ValueError("several xz streams in a row")
        return b""


_METHODS: dict[bytes, tuple[str, Callable[[bytes], Readable]]] = {
    b"\x1f\x8b": ("gzip", _gzip),
    b"BZh": ("bzip2", _bzip2),
    b"\xfd7zXZ\x00": ("xz", _Xz),
}
"""First bytes → name, and how they are opened."""
