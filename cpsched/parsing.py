"""Bytes in (also gzip and ZIP), JSON or YAML documents out: plain values of bounded depth and size, or InputError."""

from __future__ import annotations

import gzip
import io
import zlib
from typing import Any, NamedTuple

from cpsched.archives import inflated, is_zip, members
from cpsched.errors import InputError
from cpsched.json_values import MAX_DEPTH, depth_exceeds, json_values, too_deep
from cpsched.yaml_values import yaml_values

MAX_BYTES = 4 * 2**30
SUFFIXES = (".json", ".yaml", ".yml", ".json.gz", ".yaml.gz", ".yml.gz")


class Document(NamedTuple):
    """One parsed JSON or YAML document and the file it came from."""

    file: str
    data: Any


def parse_documents(data: bytes, file: str) -> list[Document]:
    """JSON (one or several values in a row) or YAML documents; gzip and ZIP are seen by their first bytes."""
    if is_zip(data):
        return _zipped_documents(data, file)
    text = plain_text(data, file)
    start = text.lstrip()[:1]
    if not start:
        raise InputError("the file is empty", file=file, right="give Kubernetes objects or an Instance as JSON or YAML")
    is_json = start in "{[" and not file.removesuffix(".gz").endswith((".yaml", ".yml"))
    try:
        values = json_values(text, file) if is_json else _yaml_values(text, file)
    except RecursionError:
        raise too_deep(file) from None
    return [Document(file, value) for value in values if value is not None]


def _zipped_documents(data: bytes, file: str) -> list[Document]:
    found: list[Document] = []
    for name, content in members(data, file):
        if not name.endswith(SUFFIXES):
            continue
        if is_zip(content):
            raise InputError(f"the member {name!r} is an archive itself", file=file, right="unpack it first")
        found += parse_documents(content, f"{file}!{name}")
    if not found:
        raise InputError("an archive without a .json or .yaml file", file=file)
    return found


def plain_text(data: bytes, file: str) -> str:
    """The bytes as text, unzipped if they are gzip."""
    return _text(_unzipped(data, file), file)


def limited(stream: Any, file: str) -> bytes:
    """All bytes of a stream, up to a size that no cluster has."""
    data: bytes = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise InputError(f"larger than {MAX_BYTES // 2**30} GiB", file=file)
    return data


def _unzipped(data: bytes, file: str) -> bytes:
    if data[:2] != b"\x1f\x8b":
        return data
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            return inflated(stream, len(data), file, MAX_BYTES)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"broken gzip data ({error})", file=file) from None


def _text(data: bytes, file: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 text (byte {error.start})", file=file, right="give JSON or YAML text") from None


def _yaml_values(text: str, file: str) -> list[Any]:
    values = list(yaml_values(text, file))
    if depth_exceeds(values, MAX_DEPTH):
        raise too_deep(file)
    return values
