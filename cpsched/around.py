"""Text around documents: container logs in the stream of `kubectl cluster-info dump`, and kubectl's own messages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from cpsched.aside import LOGS, MESSAGES, Aside
from cpsched.errors import InputError, one_line

_START = "==== START logs for container "
_MARK = re.compile(
    r"(?:^==== (?P<start>START)|==== END) logs for container (?P<of>\S+ of pod \S+) ====[ \t\r]*$", re.MULTILINE
)
_MESSAGE = re.compile(
    r"""^(?:
        (?:[Ww]arning|[Ee]rror):[ ]\S
        | Error[ ]from[ ]server\b
        | (?:Unable[ ]to[ ]connect|The[ ]connection)[ ]to[ ]the[ ]server\b
        | No[ ]resources[ ]found\b
        | Cluster[ ]info[ ]dumped[ ]to\b
        | Flag[ ]--\S+[ ]has[ ]been[ ]deprecated
        | [IWEF]\d{4}[ ]\d\d:\d\d:\d\d\.\d+[ ]
        | (?:[$>]|\++)[ ]?kubectl[ ]
    ).*$""",
    re.MULTILINE | re.VERBOSE,
)
_BEGINNING = 4096
"""Characters that tell what a text is."""
_TABLE = re.compile(r"(?:NAMESPACE {2,})?NAME {2,}[A-Z][A-Z-]*\b")
_DESCRIBED = re.compile(r"Name: {2,}\S[^\n]*\n(?:[^\n]*\n)?(?:Namespace|Roles|Labels|Annotations|Priority): +\S")


class _Log(NamedTuple):
    """A container's log: where it begins and ends, and whose it is."""

    start: int
    end: int
    of: str


def without_logs(text: str, file: str, aside: Aside | None) -> str:
    """The text with every container log emptied, so that nothing in it is taken for an object; lines keep their place.

    A log may hold anything, marks of its own included. Each container is dumped once, so marks that are not START and
    END of one container after the other, each container once, come out of a log. Then nothing is believed.
    """
    if _START not in text:
        return text
    pieces, position, count = [], 0, 0
    for log in _logs(text, file):
        pieces += [text[position : log.start], "\n" * text.count("\n", log.start, log.end)]
        position, count = log.end, count + 1
    if aside is not None and count:
        aside.add(LOGS, file, count=count)
    return "".join([*pieces, text[position:]])


def _logs(text: str, file: str) -> Iterator[_Log]:
    seen: set[str] = set()
    open_: re.Match[str] | None = None
    for mark in _MARK.finditer(text):
        of = mark["of"]
        if mark["start"] and open_ is None and of not in seen:
            open_ = mark
            seen.add(of)
        elif not mark["start"] and open_ is not None and open_["of"] == of:
            yield _Log(open_.start(), mark.end(), of)
            open_ = None
        else:
            line = text.count("\n", 0, mark.start()) + 1
            wrong = "a container log holds marks of a dump, so it is uncertain where logs end"
            right = "dump with --output-directory=FOLDER, and name the folder"
            raise InputError(wrong, file=file, place=f"line {line}", right=right)
    if open_ is not None:
        yield _Log(open_.start(), len(text), open_["of"])


def without_messages(text: str, file: str, aside: Aside) -> str:
    """The text with lines emptied that kubectl prints for people (`2>&1`); InputError if nothing else is there."""
    line, position = 1, 0
    found: list[tuple[int, str]] = []

    def emptied(message: re.Match[str]) -> str:
        nonlocal line, position
        line, position = line + text.count("\n", position, message.start()), message.start()
        found.append((line, one_line(message[0])))
        return ""

    kept = _MESSAGE.sub(emptied, text)
    if found and not kept.strip():
        right = "make the dump again without what the message complains about"
        raise InputError(f"holds no objects but a message: {found[0][1]}", file=file, right=right)
    for number, message in found:
        aside.add(MESSAGES, file, f"line {number}", message)
    return kept


def for_people(text: str, file: str) -> InputError | None:
    """Whether this is what kubectl prints for people: a table, or a description."""
    text = text[:_BEGINNING].lstrip("\ufeff \t\r\n").replace("\r\n", "\n")
    what = "a table" if _TABLE.match(text) else "a description" if _DESCRIBED.match(text) else ""
    if not what:
        return None
    return InputError(
        f"{what} that kubectl prints for people", file=file, right="ask kubectl get for -o json or -o yaml"
    )
