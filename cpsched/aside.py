"""What reading sets aside, so that one bad file or object does not stop all: counts by reason, with a few places."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from cpsched.errors import InputError, one_line

MOST_LINES = 6
MOST_PLACES = 3
MOST_REASONS = 1000
"""Of one sort; further ones are counted together."""


class Sort(NamedTuple):
    """A sort of thing that is set aside: the noun for one and for many."""

    one: str
    many: str


OBJECTS = Sort("unreadable object", "unreadable objects")
REPLACED = Sort("object whose name another one has", "objects whose names others have")
PARTS = Sort("part of a file that is no document", "parts of files that are no documents")
FILES = Sort("unreadable file", "unreadable files")
MESSAGES = Sort("line that kubectl printed beside the objects", "lines that kubectl printed beside the objects")
LINKS = Sort("link or special file, which is not read", "links and special files, which are not read")
NO_OBJECTS = Sort("document that holds no objects", "documents that hold no objects")
TWICE = Sort("object given twice", "objects given twice")
OTHER_FILES = Sort("file that is neither JSON nor YAML", "files that are neither JSON nor YAML")
LOGS = Sort("container log", "container logs")
SORTS = (OBJECTS, REPLACED, PARTS, FILES, MESSAGES, LINKS, NO_OBJECTS, TWICE, OTHER_FILES, LOGS)
"""Those that a user may have to do something about come first."""
_EXPLAINED = (OBJECTS, REPLACED, PARTS, FILES, MESSAGES)
"""Those whose reasons a summary names."""


@dataclass
class AsideGroup:
    """How often something was set aside for one reason, and the first places."""

    count: int = 0
    places: list[str] = field(default_factory=list)


class Aside:
    """Collects what is set aside. Where a function takes `Aside | None`, None makes every fault an error."""

    def __init__(self) -> None:
        self._groups: dict[Sort, dict[str, AsideGroup]] = {}
        self._errors: dict[Sort, InputError] = {}

    def add(self, sort: Sort, file: str, place: str = "", why: str = "", count: int = 1) -> None:
        """Count something under its reason."""
        reasons = self._groups.setdefault(sort, {})
        group = reasons.setdefault(why if why in reasons or len(reasons) < MOST_REASONS else "", AsideGroup())
        group.count += count
        where = ": ".join(part for part in (file, place) if part)
        if where and len(group.places) < MOST_PLACES:
            group.places.append(where)

    def add_error(self, sort: Sort, error: InputError) -> None:
        """Count what would have been an error."""
        self._errors.setdefault(sort, error)
        right = f"; {error.right}" if error.right and sort is OBJECTS else ""
        self.add(sort, error.file or "", error.place or "", f"{error.wrong}{right}")

    def update(self, other: Aside) -> None:
        """Take over what another one has collected."""
        for sort, error in other._errors.items():
            self._errors.setdefault(sort, error)
        for sort, reasons in other._groups.items():
            for why, group in reasons.items():
                for place in group.places:
                    self.add(sort, place, why=why)
                self.add(sort, "", why=why, count=group.count - len(group.places))

    def first_error(self, *sorts: Sort) -> InputError | None:
        """The first error of the first of these sorts that has one."""
        return next((self._errors[sort] for sort in sorts if sort in self._errors), None)

    def count(self, sort: Sort) -> int:
        """How many of a sort there are."""
        return sum(group.count for group in self._groups.get(sort, {}).values())

    def rows(self, root: str) -> Iterator[tuple[str, str, int, str]]:
        """(what, why, count, places) of every reason, most important first; files are named from the root on."""
        for sort, reasons in self._ordered():
            for why, group in sorted(reasons.items(), key=lambda item: -item[1].count):
                yield sort.many, why, group.count, _listed([below(place, root) for place in group.places], group.count)

    def summary(self, root: str) -> list[str]:
        """One line for each sort, at most six."""
        lines = [_line(sort, reasons, root) for sort, reasons in self._ordered()]
        if len(lines) <= MOST_LINES:
            return lines
        more = len(lines) - MOST_LINES + 1
        return [*lines[: MOST_LINES - 1], f"set aside: {more} more sorts of things; cpsched import --report shows all"]

    def _ordered(self) -> Iterator[tuple[Sort, dict[str, AsideGroup]]]:
        return ((sort, self._groups[sort]) for sort in SORTS if sort in self._groups)


def _line(sort: Sort, reasons: dict[str, AsideGroup], root: str) -> str:
    count = sum(group.count for group in reasons.values())
    shown = [
        _with_why(below(place, root), why, explained=sort in _EXPLAINED)
        for why, group in reasons.items()
        for place in group.places
    ]
    places = _listed([place for place in shown if place], count)
    return f"set aside: {count} {sort.one if count == 1 else sort.many}{f' ({places})' if places else ''}"


def _with_why(place: str, why: str, explained: bool) -> str:
    parts = (place, why) if explained else (place or why,)
    return one_line(": ".join(part for part in parts if part), longest=160)


def _listed(places: list[str], count: int) -> str:
    shown = places[:MOST_PLACES]
    return "; ".join([*shown, *(["..."] if count > len(shown) and shown else [])])


def below(place: str, root: str) -> str:
    """The place without the folder or archive that was given."""
    for end in (os.sep, "!", ": "):
        if place.startswith(root + end):
            return place[len(root) + len(end) :]
    return "" if place == root else place
