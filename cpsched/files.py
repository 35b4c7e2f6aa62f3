"""The one place that opens files: documents of a file, of stdin or of a folder in, whole files out."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import secrets
import stat
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO

from cpsched.aside import FILES, LINKS, OTHER_FILES, Aside
from cpsched.errors import InputError
from cpsched.parsing import Document, limited, may_hold_objects, parse_documents, tolerated
from cpsched.targets import target_of
from cpsched.visible import visible

_TAB = "\t"
SECRET_LENGTH = 32
"""Bytes."""


def read_documents(path: str | os.PathLike[str], aside: Aside | None = None) -> list[Document]:
    """All documents of a file, an archive, stdin (`-`), or every JSON and YAML file below a folder, in order of names.

    With `aside`, what cannot be read beside others is set aside; without it, that is InputError.
    """
    if os.fspath(path) == "-":
        return parse_documents(limited(sys.stdin.buffer, "stdin"), "stdin", aside)
    place = Path(path)
    if not os.path.isdir(place):
        return parse_documents(read_bytes(place), str(place), aside)
    files = files_below(place, may_hold_objects, aside)
    if not files:
        right = "name a file or a folder of manifests"
        none = InputError("no .json or .yaml file in this folder", file=str(place), right=right)
        raise (aside and aside.first_error(LINKS)) or none
    return [document for file in files for document in tolerated(aside, FILES, partial(_parsed, file, aside))]


def _parsed(file: Path, aside: Aside | None) -> list[Document]:
    return parse_documents(read_bytes(file), str(file), aside)


def files_below(folder: Path, wanted: Callable[[str], bool], aside: Aside | None = None) -> list[Path]:
    """The folder's files of such names, in order; a link that leads out of the folder is InputError or set aside.

    With `aside`, all other files are set aside too, and a link to one of the files gives it no second time.
    """
    found = [file for file in sorted(folder.rglob("*")) if aside is not None or wanted(file.name)]
    plain = {file.resolve() for file in found if not file.is_symlink() and wanted(file.name)}
    files = []
    for file in found:
        target = _target(file, folder)
        if target is None:
            tolerated(aside, LINKS, partial(_refuse_link, file, folder))
        elif not _is_file(target) or (aside is not None and file.is_symlink() and target in plain):
            continue
        elif wanted(file.name):
            files.append(file)
        elif aside is not None:
            aside.add(OTHER_FILES, str(file))
    return files


def _target(file: Path, folder: Path) -> Path | None:
    """What the file is, without links; None if that is not in the folder."""
    try:
        target = file.resolve()
    except (OSError, RuntimeError):  # a link to itself
        return None
    return target if target.is_relative_to(folder.resolve()) else None


def _is_file(file: Path) -> bool:
    try:
        return file.is_file()
    except OSError:
        return False


def _refuse_link(file: Path, folder: Path) -> list[Path]:
    right = "name that file itself, or copy it into the folder"
    raise InputError(f"a link out of {folder}", file=str(file), right=right)


def read_document(path: str | os.PathLike[str]) -> Document:
    """The only document of a file: a configuration, a model, a solution."""
    documents = read_documents(path)
    if len(documents) != 1:
        name = "stdin" if os.fspath(path) == "-" else os.fspath(path)
        raise InputError(f"holds {len(documents)} documents", file=name, right="one is needed")
    return documents[0]


def read_bytes(place: Path) -> bytes:
    """The file's bytes; what the system refuses becomes one clear line."""
    try:
        with place.open("rb") as stream:
            return limited(stream, str(place))
    except FileNotFoundError:
        raise InputError(
            "no such file", file=str(place), right="name an existing file, a folder, or - for stdin"
        ) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", file=str(place)) from None
    except ValueError as error:
        raise InputError(f"not the name of a file: {error}", file=str(place)) from None


def begins_with(place: Path, sign: bytes) -> bool:
    """Whether the file's first character that is no space is this one; looks no further, also into gzip."""
    try:
        with (gzip.open if place.name.endswith(".gz") else open)(place, "rb") as stream:
            return bool(stream.read(4096).lstrip().startswith(sign))
    except (OSError, EOFError, zlib.error):
        return False


def read_lines(place: Path, *, longest: int | None = None) -> Iterator[tuple[int, bytes]]:
    """The file's lines with their numbers, one at a time, also of gzip; empty ones are left out.

    A line of more than `longest` bytes is InputError before the rest of it is read.
    """
    opened = gzip.open if place.name.endswith(".gz") else open
    try:
        with opened(place, "rb") as stream:
            most = -1 if longest is None else longest + 1
            for number, line in enumerate(iter(partial(stream.readline, most), b""), start=1):
                if longest is not None and len(line) > longest:
                    raise InputError(f"a line of more than {longest} bytes", file=str(place), place=f"line {number}")
                if line.strip():
                    yield number, line
    except FileNotFoundError:
        raise InputError("no such file", file=str(place), right="name an existing file or a folder") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"broken gzip data ({error})", file=str(place)) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", file=str(place)) from None


def read_text_within(place: Path, most: int) -> str | None:
    """The file's text; None if there is no such file, or it is larger, or no text."""
    try:
        if not stat.S_ISREG(place.lstat().st_mode) or place.stat().st_size > most:
            return None
        return place.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def sha256_of(place: Path) -> str:
    """Hash of the file's bytes."""
    try:
        with place.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", file=str(place)) from None


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file completely or not at all."""
    with writing_whole(path) as stream:
        stream.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def writing_whole(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A stream for a file that appears under its name when all is written, or not at all.

    Links are followed. What is no regular file (a pipe, a device, /dev/stdout) is not replaced but written into.
    """
    with _one_line_errors(path):
        target = target_of(path)
        if target.is_file:
            with target.replaced() as stream:
                yield stream
            return
        content = io.BytesIO()
        yield content
        with target.opened() as stream:
            stream.write(content.getbuffer())


def check_writable(path: str | os.PathLike[str]) -> None:
    """InputError if this cannot be written, found out without touching what is there."""
    with _one_line_errors(path):
        target_of(path).check()


@contextmanager
def line_by_line(path: str | os.PathLike[str]) -> Iterator[Callable[[str], None]]:
    """A file that grows while it is watched: each line is there as soon as it is written, or there is an OSError."""
    with _one_line_errors(path):
        stream = target_of(path).opened()

    def write(line: str) -> None:
        left = f"{visible(line, keep=_TAB)}\n".encode(errors="backslashreplace")
        while left:
            # Past the stream's buffer: nothing is left to fail when the file is closed.
            left = left[os.write(stream.fileno(), left) :]

    with stream:
        yield write


@contextmanager
def _one_line_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """What the system refuses, as one line."""
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", file=os.fspath(path)) from None


def own_secret(place: Path) -> bytes:
    """Random bytes that only this user can read and write, made when first asked for; InputError for another user's."""
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        return _read_own(place)
    except FileNotFoundError:
        handle, name = tempfile.mkstemp(prefix=f".{place.name}.", dir=place.parent)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(secrets.token_bytes(SECRET_LENGTH))
            with suppress(FileExistsError):  # another process was faster
                os.link(name, place)
        finally:
            os.unlink(name)
        return _read_own(place)


def _read_own(place: Path) -> bytes:
    with open(os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as stream:
        status = os.fstat(stream.fileno())
        content = stream.read(SECRET_LENGTH + 1) if stat.S_ISREG(status.st_mode) else b""
    if status.st_uid != os.geteuid() or status.st_mode & 0o077 or len(content) != SECRET_LENGTH:
        wrong = "is not a key that only this user can read and write"
        raise InputError(wrong, file=str(place), right="delete it, and a new one is made")
    return content
