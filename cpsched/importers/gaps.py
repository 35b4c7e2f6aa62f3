"""References that lead nowhere: errors in a case, a line per kind in a cluster, in full in the report of an import."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cpsched.aside import MOST_PLACES, below
from cpsched.errors import InputError

MOST_LISTED = 1000
"""Places per kind that are kept for the report."""


class _Gap(NamedTuple):
    """One reference; `about` is what it leads to, where several lead to the same."""

    line: InputError
    about: str


class Gaps:
    """Collects warnings, or raises at the first error."""

    def __init__(self, *, tolerant: bool):
        self._tolerant = tolerant
        self._by_kind: dict[str, list[_Gap]] = {}

    def fault(self, kind: str, error: InputError, about: str = "") -> None:
        """Something to correct; a warning in a cluster, and where the user is lenient."""
        if not self._tolerant:
            raise error
        self.warn(kind, error, about)

    def warn(self, kind: str, warning: InputError, about: str = "") -> None:
        """Something to know; `kind` names all that are like it, in the plural."""
        self._by_kind.setdefault(kind, []).append(_Gap(warning, about))

    def warnings(self, file: str | None) -> tuple[str, ...]:
        """A line per kind: the fault itself where it is the only one."""
        return tuple(_line(kind, found, file) for kind, found in self._by_kind.items())

    def rows(self, root: str) -> Iterator[tuple[str, str, int, str]]:
        """(what, why, count, places) of every kind, as `Aside.rows`."""
        for kind, found in self._by_kind.items():
            shown = [below(place, root) for gap in found[:MOST_LISTED] if (place := gap.line.place)]
            more = ["..."] if len(found) > len(shown) else []
            yield kind, found[0].line.right or "", len(found), "; ".join([*shown, *more])


def _line(kind: str, found: list[_Gap], file: str | None) -> str:
    if len(found) == 1:
        return str(found[0].line)
    named = list(dict.fromkeys(gap.about or gap.line.place or "" for gap in found))
    count = f"{len(named)}: " if len(named) < len(found) else ""
    more = ", ..." if len(named) > MOST_PLACES else ""
    wrong = f"{len(found)} {kind} ({count}{', '.join(named[:MOST_PLACES])}{more})"
    return str(InputError(wrong, file=file, right=found[0].line.right))
