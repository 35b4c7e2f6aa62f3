"""A moment of a trace: who ran then, and who came soon after."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol, TypeVar


class Timed(Protocol):
    """A row with times in seconds; None is before the trace for a creation, after it for a deletion."""

    @property
    def created(self) -> int | None: ...  # noqa: D102
    @property
    def deleted(self) -> int | None: ...  # noqa: D102
    @property
    def scheduled(self) -> int | None: ...  # noqa: D102


class Moment(NamedTuple):
    """A second of the trace, and how long after it those who come still count as waiting."""

    second: int
    window: int


Item = TypeVar("Item", bound=Timed)


def at_moment(rows: Iterable[Item], moment: Moment) -> tuple[list[Item], list[Item]]:
    """Those that ran, and those that waited or came within the window; in the order given."""
    ran: list[Item] = []
    waits: list[Item] = []
    for row in rows:
        created = -1 if row.created is None else row.created
        if row.deleted is not None and row.deleted <= moment.second:
            continue
        if created > moment.second + moment.window:
            continue
        scheduled = created if row.created is None else row.scheduled
        (ran if scheduled is not None and scheduled <= moment.second else waits).append(row)
    return ran, waits
