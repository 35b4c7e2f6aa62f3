"""Bytes in (also gzip and ZIP), JSON or YAML documents out: plain values of bounded depth and size, or InputError."""

from __future__ import annotations

import gzip
import io
import json
import re
import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

from pydantic_core import from_json

from cpsched.archives import inflated, is_zip, members
from cpsched.errors import InputError
from cpsched.yaml_values import MAX_DEPTH, yaml_values

MAX_BYTES = 4 * 2**30
SUFFIXES = (".json", ".yaml", ".yml", ".json.gz", ".yaml.gz", ".yml.gz")
_SPACE = re.compile(r"[ \t\r\n]*")


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
        values = _json_values(text, file) if is_json else _yaml_values(text, file)
    except RecursionError:
        raise _too_deep(file) from None
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


def _json_values(text: str, file: str) -> list[Any]:
    """One value by the fast reader, which refuses half characters and deep nesting; all else by the patient one."""
    try:
        return [from_json(text, allow_inf_nan=False)]
    except ValueError:
        pass
    values = list(_json_values_one_by_one(text, file))
    if _depth_exceeds(values, MAX_DEPTH):
        raise _too_deep(file)
    return values


def _json_values_one_by_one(text: str, file: str) -> Iterator[Any]:
    decoder = json.JSONDecoder(parse_constant=_no_constant)
    may_be_half = "\\ud" in text or "\\uD" in text
    position = _SPACE.match(text).end()  # type: ignore[union-attr]
    while position < len(text):
        try:
            value, position = decoder.raw_decode(text, position)
        except json.JSONDecodeError as error:
            place = f"line {error.lineno} column {error.colno}"
            raise InputError(f"not valid JSON: {error.msg}", file=file, place=place) from None
        except ValueError as error:
            raise InputError(f"not valid JSON: {error}", file=file) from None
        if may_be_half:
            _refuse_half_characters(value, file)
        yield value
        position = _SPACE.match(text, position).end()  # type: ignore[union-attr]


def _yaml_values(text: str, file: str) -> list[Any]:
    values = list(yaml_values(text, file))
    if _depth_exceeds(values, MAX_DEPTH):
        raise _too_deep(file)
    return values


def _refuse_half_characters(value: Any, file: str) -> None:
    """JSON can spell one half of a character that needs two; no text can hold it."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise InputError("holds half a character (a lone \\ud800 to \\udfff)", file=file) from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number in JSON")


def _depth_exceeds(values: list[Any], limit: int) -> bool:
    layer = values
    for _ in range(limit):
        layer = [
            child
            for container in layer
            if isinstance(container, dict | list)
            for child in (container.values() if isinstance(container, dict) else container)
            if isinstance(child, dict | list)
        ]
        if not layer:
            return False
    return True


def _too_deep(file: str) -> InputError:
    return InputError(f"nested deeper than {MAX_DEPTH} levels", file=file, right="Kubernetes objects are far shallower")
