"""JSON as it is written, or InputError: one value or several in a row, no key twice, no number without end."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from pydantic_core import from_json, to_json

from cpsched.errors import InputError

MAX_DEPTH = 200
"""Kubernetes objects are about twenty deep."""
_END = "\n"
_SPACE = re.compile(r"[ \t\r\n]*")
_TOKEN = re.compile(r'("[^"\\]*+(?:\\.[^"\\]*+)*+")([ \t\r\n]*:)?|[{}\[\]]')
_WORDS = {
    "Expecting value": "a value is missing",
    "Expecting ',' delimiter": "a comma or a closing bracket is missing",
    "Expecting ':' delimiter": "the colon after a key is missing",
    "Expecting property name enclosed in double quotes": "a key in double quotes is missing",
    "Illegal trailing comma before end of object": "a comma stands before the end of the object",
    "Illegal trailing comma before end of array": "a comma stands before the end of the list",
    "Unterminated string starting at": "a text has no end",
    "Invalid control character at": "a line end or control character stands in a text",
    "Invalid \\escape": "an unknown escape stands in a text",
    "Invalid \\uXXXX escape": "an unknown escape stands in a text",
}
"""What Python's reader says, in ours."""


class RepeatedKeyError(InputError):
    """One object holds a key twice; of the two, two readers may see another one."""

    def __init__(self, key: str, first_line: int, *, file: str, place: str):
        wrong = f"the key {key[:60]} is there twice (first in line {first_line})"
        super().__init__(wrong, file=file, place=place, right="keep one of them")


def json_values(text: str, file: str, line: int = 1) -> list[Any]:
    """All values of a text that begins in that line of the file.

    One value is read by the fast reader, which refuses half characters and deep nesting; all else by the patient one.
    """
    try:
        values = [from_json(text, allow_inf_nan=False)]
    except ValueError:
        values = list(_one_by_one(text, file, line))
        if depth_exceeds(values, MAX_DEPTH):
            raise too_deep(file) from None
    _refuse_repeated_keys(text, values, file, line)
    return values


def json_line(line: bytes, file: str, number: int) -> Any:
    """The value on one line of JSON Lines."""
    try:
        values = json_values(line.decode(), file, number)
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 text (byte {error.start})", file=file, place=f"line {number}") from None
    except RecursionError:
        raise too_deep(file) from None
    if len(values) != 1:
        raise InputError(f"{len(values)} values on one line", file=file, place=f"line {number}", right="write one")
    return values[0]


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """For `json.loads(object_pairs_hook=)` of our own small files: ValueError if a key is there twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is there twice")
    return found


def depth_exceeds(values: list[Any], limit: int) -> bool:
    """Whether mappings and lists are nested deeper than that."""
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


def too_deep(file: str) -> InputError:
    """The error for what is nested too deep."""
    return InputError(f"nested deeper than {MAX_DEPTH} levels", file=file, right="Kubernetes objects are far shallower")


def _one_by_one(text: str, file: str, line: int) -> Iterator[Any]:
    decoder = json.JSONDecoder(parse_constant=_no_constant, parse_int=_whole_number)
    may_be_half = "\\ud" in text or "\\uD" in text
    position = _SPACE.match(text).end()  # type: ignore[union-attr]
    while position < len(text):
        try:
            value, position = decoder.raw_decode(text, position)
        except json.JSONDecodeError as error:
            place = f"line {line + error.lineno - 1} column {error.colno}"
            said = next((ours for words, ours in _WORDS.items() if error.msg.startswith(words)), "not understood here")
            raise InputError(f"not valid JSON: {said}", file=file, place=place) from None
        except _NoNumberError as error:
            wrong, written = error.args
            at = text.find(written, position)
            place = f"line {line + text.count(_END, 0, at)} column {at - text.rfind(_END, 0, at)}"
            raise InputError(wrong, file=file, place=place) from None
        if may_be_half:
            _refuse_half_characters(value, file)
        yield value
        position = _SPACE.match(text, position).end()  # type: ignore[union-attr]


class _NoNumberError(Exception):
    """What is wrong with a number, and how it is written."""


def _no_constant(name: str) -> Any:
    raise _NoNumberError(f"not valid JSON: {name} is not a number in JSON", name)


def _whole_number(digits: str) -> int:
    try:
        return int(digits)
    except ValueError:
        raise _NoNumberError(f"a number of {len(digits.lstrip('-'))} digits", digits) from None


def _refuse_half_characters(value: Any, file: str) -> None:
    """JSON can spell one half of a character that needs two; no text can hold it."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise InputError("holds half a character (a lone \\ud800 to \\udfff)", file=file) from None


def _refuse_repeated_keys(text: str, values: list[Any], file: str, line: int) -> None:
    """Of a key that is there twice a reader keeps one: then the values, written again, have fewer colons.

    So a large file is not read a second time, unless colons are spelt as escapes.
    """
    spelt_out = "\\u003a" in text or "\\u003A" in text
    if not spelt_out and text.count(":") == sum(to_json(value).count(b":") for value in values):
        return
    open_: list[dict[str, int]] = []
    for token in _TOKEN.finditer(text):
        written, is_key = token.groups()
        if is_key:
            key = json.loads(written, strict=False)
            if key in open_[-1]:
                first, second = (line + text.count(_END, 0, at) for at in (open_[-1][key], token.start()))
                raise RepeatedKeyError(key, first, file=file, place=f"line {second}")
            open_[-1][key] = token.start()
        elif token.group() in "{[":
            open_.append({})
        elif token.group() in "}]":
            open_.pop()
