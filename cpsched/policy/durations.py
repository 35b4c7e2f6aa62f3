"""Go's duration texts ("1h30m", "250ms") as exact nanoseconds."""

from __future__ import annotations

import re

from cpsched.complaints import shown

UNITS = {
    "ns": 1,
    "us": 1_000,
    "\u00b5s": 1_000,
    "\u03bcs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
SECOND = UNITS["s"]
_PART = re.compile(r"(\d*)(?:\.(\d*))?(ns|us|\u00b5s|\u03bcs|ms|s|m|h)", re.ASCII)
_INT64_MAX = 2**63 - 1


def nanoseconds(text: object) -> int:
    """Nanoseconds of a duration text; ValueError says what would be right."""
    sign, rest = _split_sign(text)
    if rest == "0":
        return 0
    total = position = 0
    while position < len(rest):
        part = _PART.match(rest, position)
        if not part or not (part[1] or part[2]):
            raise _refused(text)
        total += _part_nanoseconds(part)
        position = part.end()
    if not rest or total > _INT64_MAX:
        raise _refused(text)
    return sign * total


def _split_sign(text: object) -> tuple[int, str]:
    if not isinstance(text, str):
        raise _refused(text)
    if text[:1] in ("+", "-"):
        return (-1 if text[0] == "-" else 1), text[1:]
    return 1, text


def _part_nanoseconds(part: re.Match[str]) -> int:
    unit = UNITS[part[3]]
    fraction = (part[2] or "")[:19]
    if int(fraction or "0") > _INT64_MAX:
        fraction = fraction[:18]
    # Go scales fractions in floating point and truncates; so does this, to get the same nanosecond.
    return int(part[1] or "0") * unit + int(int(fraction or "0") * (unit / 10.0 ** len(fraction)))


def _refused(text: object) -> ValueError:
    return ValueError(f'{shown(text)} is not a duration; write a text such as "1h30m" or "250ms"')
