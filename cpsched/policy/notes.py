"""How a configuration is judged: what is wrong stops the reading; so does what is unknown, unless lenient."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from cpsched.errors import InputError


@dataclass
class Notes:
    """Collects warnings while one configuration is read."""

    file: str | None = None
    lenient: bool = False
    warnings: list[str] = field(default_factory=list)

    def error(self, wrong: str, *, place: str | None = None, right: str | None = None) -> InputError:
        """For what the scheduler itself would refuse; to be raised, lenient or not."""
        return InputError(wrong, file=self.file, place=place, right=right)

    def doubt(self, wrong: str, *, place: str | None = None, right: str | None = None) -> None:
        """For what is not known or not mirrored here: an error, or a warning for the lenient."""
        error = self.error(wrong, place=place, right=right)
        if not self.lenient:
            raise error
        self.warnings.append(str(error))

    def warn(self, wrong: str, *, place: str | None = None, right: str | None = None) -> None:
        """For what the scheduler accepts and then ignores."""
        self.warnings.append(str(self.error(wrong, place=place, right=right)))


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
    text = f'"{value}"' if isinstance(value, str) else repr(value)
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
