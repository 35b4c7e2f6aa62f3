"""How a configuration is checked: what the scheduler refuses stops the reading; all else is a warning or a doubt."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from cpsched.doubts import Doubt, DoubtKind
from cpsched.errors import InputError

UNKNOWN = "not known here"
"""What a plugin decides of which nothing but the name is known."""


@dataclass
class Notes:
    """Collects warnings and doubts while one configuration is read; for the strict both are errors."""

    file: str | None = None
    strict: bool = False
    warnings: list[str] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)

    def error(self, wrong: str, *, place: str | None = None, right: str | None = None) -> InputError:
        """For what the scheduler itself would refuse; to be raised."""
        return InputError(wrong, file=self.file, place=place, right=right)

    def warn(self, wrong: str, *, place: str | None = None, right: str | None = None) -> None:
        """For what the scheduler reads and then ignores."""
        self.warnings.append(str(self.error(wrong, place=place, right=right)))

    def unknown(self, wrong: str, *, place: str | None = None, right: str | None = None) -> None:
        """For what the scheduler does not look at: a warning, because it may be misspelt."""
        if self.strict:
            raise self.error(wrong, place=place, right=right)
        self.warn(wrong, place=place, right=right)

    def doubt(
        self, kind: DoubtKind, name: str, decides: str, wrong: str, *, place: str, right: str | None = None
    ) -> None:
        """For what the scheduler runs and this package does not: the answer is made without it."""
        self.unknown(wrong, place=place, right=right)
        text = str(InputError(wrong, place=place, right=right))
        self.doubts.append(Doubt(kind=kind, name=short(name), decides=decides, text=text))


def known(word: object, words: Iterable[str], *, also: Iterable[str] = ()) -> str:
    """What would have been right: the nearest known word (`also` may be meant, but is not listed), and all of them."""
    names = sorted(words)
    if not names:
        return "it takes none"
    near = get_close_matches(str(word), [*names, *also], n=1)
    listed = f"known: {', '.join(names)}"
    return f"did you mean {near[0]}? {listed}" if near else listed


def shown(value: object) -> str:
    """A value as it may stand in a one-line message."""
    return short(f'"{value}"' if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))


def short(text: str) -> str:
    """The text, cut to what fits into a message."""
    return text if len(text) <= 60 else text[:57] + "..."


def subplace(place: str | None, key: str | int) -> str:
    """The place one step further in: `profiles[0]`, `profiles[0].plugins`."""
    step = f"[{key}]" if isinstance(key, int) else key
    if not place:
        return step
    return f"{place}{step}" if isinstance(key, int) else f"{place}.{step}"


def as_list(value: object, place: str, notes: Notes) -> list[Any]:
    """A list of the configuration; null is an empty one."""
    if value is None:
        return []
    if not isinstance(value, list | tuple):
        raise notes.error(f"{shown(value)} is not a list", place=place)
    return list(value)


def as_mapping(value: object, place: str, notes: Notes) -> Mapping[str, Any]:
    """A mapping of the configuration; null is an empty one."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise notes.error(f"{shown(value)} is not a mapping", place=place)
    return value


def as_name(value: object, place: str, notes: Notes) -> str:
    """A name as text, which is how Volcano reads a bare number; null is an empty one."""
    if isinstance(value, Mapping | list | tuple):
        raise notes.error(f"{shown(value)} is not a text", place=f"{place}.name", right="write a name")
    return "" if value is None else str(value)
