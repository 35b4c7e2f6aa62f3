"""The one place that opens files: documents of a file, of stdin or of a folder in, whole files out."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from cpsched.errors import InputError
from cpsched.parsing import SUFFIXES, Document, limited, parse_documents


def read_documents(path: str | os.PathLike[str]) -> list[Document]:
    """All documents of a file, of stdin (`-`), or of every JSON and YAML file below a folder, in order of names."""
    if os.fspath(path) == "-":
        return parse_documents(limited(sys.stdin.buffer, "stdin"), "stdin")
    place = Path(path)
    if place.is_dir():
        files = sorted(file for file in place.rglob("*") if file.name.endswith(SUFFIXES) and file.is_file())
        if not files:
            raise InputError(
                "no .json or .yaml file in this folder", file=str(place), right="name a file or a folder of manifests"
            )
        return [document for file in files for document in read_documents(file)]
    return parse_documents(read_bytes(place), str(place))


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


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file completely or not at all."""
    target = Path(path)
    data = content.encode() if isinstance(content, str) else content
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(name, 0o666 & ~umask)
            os.replace(name, target)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", file=str(target)) from None


@contextmanager
def line_by_line(path: str | os.PathLike[str]) -> Iterator[Callable[[str], None]]:
    """A file that grows while it is watched: each line is there as soon as it is written."""
    try:
        stream = Path(path).open("w", encoding="utf-8", buffering=1)  # noqa: SIM115 - closed below, errors told apart
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", file=os.fspath(path)) from None
    with stream:
        yield lambda line: print(line, file=stream)
