"""RFC 3339 times as exact integers: nanoseconds since 1970, so that they compare and rank without loss."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

from cpsched.complaints import shown

_RFC3339 = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9})\d*)?(?:([Zz])|([+-])(\d{2}):(\d{2}))", re.ASCII
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND = 1_000_000_000


def parse(text: object) -> int:
    """Nanoseconds since 1970 of an RFC 3339 text; ValueError says what would be right."""
    match = _RFC3339.fullmatch(text) if isinstance(text, str) else None
    if not match:
        raise ValueError(f'{shown(text)} is not an RFC 3339 time; write "2026-01-31T12:00:00Z"')
    year, month, day, hour, minute, second, fraction, zulu, sign, off_hour, off_minute = match.groups()
    try:
        zone = (
            UTC
            if zulu
            else timezone((1 if sign == "+" else -1) * timedelta(hours=int(off_hour), minutes=int(off_minute)))
        )
        moment = datetime(int(year), int(month), int(day), int(hour), int(minute), int(second), tzinfo=zone)
        since = moment.astimezone(UTC) - _EPOCH
    except (ValueError, OverflowError) as error:
        raise ValueError(f'{shown(text)} is not a time that exists; write "2026-01-31T12:00:00Z"') from error
    return (since.days * 86_400 + since.seconds) * _SECOND + int((fraction or "0").ljust(9, "0"))


def text(nanoseconds: int) -> str:
    """RFC 3339 in UTC, with a fraction only where there is one."""
    seconds, fraction = divmod(nanoseconds, _SECOND)
    stamp = (_EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S")
    tail = f".{fraction:09d}".rstrip("0") if fraction else ""
    return f"{stamp.rjust(19, '0')}{tail}Z"
