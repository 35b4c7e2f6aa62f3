"""Where one document of a text ends and the next begins: `---` between them, or YAML documents with nothing between."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_BETWEEN = re.compile(r"^(?:---|\.\.\.)(?=[ \t\r\n]|\Z)", re.MULTILINE)
_TOP_KEY = re.compile(r"^[\"']?([A-Za-z]\w*)[\"']?[ \t]*:(?=[ \t\r\n]|\Z)", re.MULTILINE)
_BEGINS = frozenset({"apiVersion", "kind"})
_CONTENT = frozenset({"metadata", "items"})


class Part(NamedTuple):
    """A piece of a text, and the line of the file it begins in."""

    text: str
    line: int


def parts(text: str) -> list[Part]:
    """The text cut where `---` or `...` stands at the beginning of a line: nowhere else do JSON and YAML have that."""
    cuts = [mark.start() if mark[0] == "---" else mark.end() for mark in _BETWEEN.finditer(text)]
    found = list(_cut(Part(text, 1), cuts))
    return [part for part in found if part.text.strip(" \t\r\n-.")]


def glued(part: Part) -> list[Part]:
    """The part cut where `apiVersion` or `kind` comes again at the top; uncut, if not every piece is an object."""
    seen: set[str] = set()
    pieces, cuts = [seen], []
    for key in _TOP_KEY.finditer(part.text):
        if key[1] in _BEGINS and key[1] in seen:
            seen = set()
            pieces.append(seen)
            cuts.append(key.start())
        seen.add(key[1])
    whole = all("kind" in keys and keys & _CONTENT for keys in pieces)
    return list(_cut(part, cuts)) if whole else [part]


def _cut(part: Part, cuts: list[int]) -> Iterator[Part]:
    line = part.line
    for start, end in zip([0, *cuts], [*cuts, len(part.text)], strict=True):
        yield Part(part.text[start:end], line)
        line += part.text.count("\n", start, end)
