"""JSON as it is written, or InputError: one value or several in a row, no key twice, no number without end."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from pydantic_core import from_json, to_json

from cpsched.aside import PARTS, Aside
from cpsched.errors import InputError

MAX_DEPTH = 200
"""Kubernetes objects are about twenty deep."""
_END = "\n"
_SPACE = re.compile("[ \\t\\r\\n\ufeff]*")
"""Between documents, with the mark that some programs write at the start of a file."""
_LIST = re.compile(r"^\{[ \t\r]*$", re.MULTILINE)
"""How kubectl begins a list."""
MAX_TRIES = 20
"""Failed attempts to find the next list; then the rest is no document."""
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


def json_values(text: str, file: str, line: int = 1, aside: Aside | None = None) -> list[Any]:
    """All values of a text that begins in that line of the file.

    One value is read by the fast reader, which refuses half characters and deep nesting; all else by the patient one.
    With `aside`, what is no value is set aside.
    """
    try:
        value = from_json(text, allow_inf_nan=False)
    except ValueError:
        return _several(text, file, line, aside)
    _refuse_repeated_keys(text, value, file, line)
    return [value]


def lists_in(text: str, file: str, line: int) -> list[Any]:
    """The lists that kubectl has printed into a text of another sort, such as the transcript of a terminal."""
    return [found for found in _one_by_one(text, file, line, lost=True) if not isinstance(found, InputError)]


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


def _several(text: str, file: str, line: int, aside: Aside | None) -> list[Any]:
    values: list[Any] = []
    for found in _one_by_one(text, file, line):
        if not isinstance(found, InputError):
            values.append(found)
        elif aside is None:
            raise found
        else:
            aside.add_error(PARTS, found)
    return values


def _one_by_one(text: str, file: str, line: int, *, lost: bool = False) -> Iterator[Any]:
    """Values in a row, and an InputError for each part that is none; after such a part only a list of kubectl counts.

    What stands between documents may be anything, such as a log with objects in it.
    """
    position, tries = 0, 0
    while (start := _SPACE.match(text, position).end()) < len(text):  # type: ignore[union-attr]
        line += text.count(_END, position, start)
        position = start
        try:
            value, end = _decoded(text, start, file, line)
        except InputError as error:
            if not lost:
                yield error
            lost, tries = True, tries + 1
            following = _LIST.search(text, start + 1) if tries < MAX_TRIES else None
            end = len(text) if following is None else following.start()
        else:
            if not lost or _is_list(value):
                lost = False
                yield _checked(value, text[start:end], file, line)
            elif following := _LIST.search(text, end):
                end = following.start()
            else:
                end = len(text)
        line += text.count(_END, start, end)
        position = end


def _decoded(text: str, start: int, file: str, line: int) -> tuple[Any, int]:
    """The value that starts there, and where it ends."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        wrong = next((ours for words, ours in _WORDS.items() if error.msg.startswith(words)), "not understood here")
        raise InputError(f"not valid JSON: {wrong}", file=file, place=_place(text, start, error.pos, line)) from None
    except _NoNumberError as error:
        wrong, written = error.args
        raise InputError(wrong, file=file, place=_place(text, start, text.find(written, start), line)) from None
    except RecursionError:
        raise too_deep(file) from None
    return value, end


def _place(text: str, start: int, at: int, line: int) -> str:
    return f"line {line + text.count(_END, start, at)} column {at - text.rfind(_END, 0, at)}"


def _checked(value: Any, text: str, file: str, line: int) -> Any:
    """The value, or the InputError for what it holds."""
    try:
        if depth_exceeds([value], MAX_DEPTH):
            raise too_deep(file)
        if "\\ud" in text or "\\uD" in text:
            _refuse_half_characters(value, file)
        _refuse_repeated_keys(text, value, file, line)
    except InputError as error:
        return error
    return value


def _is_list(value: Any) -> bool:
    kind = value.get("kind") if isinstance(value, dict) else None
    return isinstance(kind, str) and kind.endswith("List") and isinstance(value.get("items"), list)


class _NoNumberError(Exception):
    """What is wrong with a number, and how it is written."""


def _no_constant(name: str) -> Any:
    raise _NoNumberError(f"not valid JSON: {name} is not a number in JSON", name)


def _whole_number(digits: str) -> int:
    try:
        return int(digits)
    except ValueError:
        raise _NoNumberError(f"a number of {len(digits.lstrip('-'))} digits", digits) from None


_DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_int=_whole_number)


def _refuse_half_characters(value: Any, file: str) -> None:
    """JSON can spell one half of a character that needs two; no text can hold it."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise InputError("holds half a character (a lone \\ud800 to \\udfff)", file=file) from None


def _refuse_repeated_keys(text: str, value: Any, file: str, line: int) -> None:
    """Of a key that is there twice a reader keeps one: then the value, written again, has fewer colons.

    So a large file is not read a second time, unless colons are spelt as escapes.
    """
    spelt_out = "\\u003a" in text or "\\u003A" in text
    if not spelt_out and text.count(":") == to_json(value).count(b":"):
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
