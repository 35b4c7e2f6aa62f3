"""Steps as lines of JSON, read one by one: what cannot be a step is one clear line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from cpsched.errors import InputError

LONGEST_LINE = 64 * 2**20
"""Bytes; a step of more is refused before it is read."""
LONGEST_PROOF = 2**30
"""Bytes of all steps, unpacked."""


def steps_in(lines: Iterable[tuple[int, bytes]], file: str) -> Iterator[Any]:
    """The step of every line; InputError names the line that holds none."""
    read = 0
    for number, line in lines:
        read += len(line)
        if read > LONGEST_PROOF:
            raise InputError(f"a proof of more than {LONGEST_PROOF} bytes", file=file, place=f"line {number}")
        try:
            yield json.loads(line, parse_float=_refused, parse_constant=_refused)
        except (ValueError, RecursionError):
            raise InputError("is no step of a proof", file=file, place=f"line {number}") from None


def lines_of(steps: Iterable[Any]) -> Iterator[bytes]:
    """The lines that these steps are written as."""
    for step in steps:
        yield json.dumps(step, separators=(",", ":")).encode() + b"\n"


def _refused(text: str) -> Any:
    raise ValueError(f"{text} is no whole number")
