"""Arguments of Volcano's actions and plugins, read with its rules (framework/arguments.go) and its defaults."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from cpsched.policy import durations
from cpsched.policy.nested import strict_integer
from cpsched.policy.notes import Notes, known, shown, subplace

Kind = Literal["integer", "number", "boolean", "text", "duration", "strict", "window", "form", "unread"]
Value = Any
"""Of one of the types above; a form is what its reader makes of it."""


@dataclass(frozen=True)
class Argument:
    """One argument; a key ending in `*` stands for a family. A value below `least` is replaced by the default."""

    kind: Kind
    default: Value = None
    least: float | None = None
    read: Callable[[object], Any] | None = None
    """For a form: what makes it of what is written, or of None for the default; it raises as READERS do."""

    @property
    def start(self) -> Value:
        """What holds if nothing is written."""
        return self.default if self.read is None else self.read(None)


Table = Mapping[str, Argument]


@dataclass(frozen=True)
class Arguments:
    """Every known argument with its effective value, under upstream's key."""

    values: Mapping[str, Value]

    def integer(self, key: str) -> int:
        """An argument of kind integer or strict."""
        value = self.values[key]
        assert isinstance(value, int)
        return value

    def number(self, key: str) -> float:
        """An argument of kind number."""
        value = self.values[key]
        assert isinstance(value, int | float)
        return float(value)

    def boolean(self, key: str) -> bool:
        """An argument of kind boolean."""
        return bool(self.values[key])

    def text(self, key: str) -> str:
        """An argument of kind text or window."""
        return str(self.values[key])

    def nanoseconds(self, key: str) -> int | None:
        """An argument of kind duration; None if it is not set."""
        value = self.values[key]
        return None if value is None else int(value)

    def form(self, key: str) -> Any:
        """An argument of kind form."""
        return self.values[key]

    def family(self, prefix: str) -> dict[str, Value]:
        """The given members of a `prefix*` family, by what follows the prefix."""
        return {key[len(prefix) :]: value for key, value in self.values.items() if key.startswith(prefix)}


def resolve(given: Mapping[str, object], table: Table, owner: str, notes: Notes, place: str) -> Arguments:
    """The effective arguments of one action or plugin; `owner` names it in messages."""
    values = {key: argument.start for key, argument in table.items() if not key.endswith("*")}
    for key, raw in ((str(key), raw) for key, raw in given.items()):
        argument = table.get(key) or _family(key, table)
        where = subplace(place, key)
        if argument is None:
            wrong = f"unknown argument {key} of {owner} is ignored, as by Volcano"
            notes.unknown(wrong, place=place, right=known(key, table))
        elif argument.kind != "unread":
            values[key] = _read(raw, argument, notes, where)
    return Arguments(values)


def _family(key: str, table: Table) -> Argument | None:
    families = (name for name in table if name.endswith("*") and key.startswith(name[:-1]) and len(key) >= len(name))
    name = next(families, None)
    return table[name] if name else None


def _read(raw: object, argument: Argument, notes: Notes, place: str) -> Value:
    try:
        value = (argument.read or READERS[argument.kind])(raw)
    except ValueError as error:
        instead = "" if argument.default is None else f", the default {argument.default} holds"
        notes.warn(f"{shown(raw)} is ignored{instead}", place=place, right=str(error))
        return argument.start
    except TypeError as error:
        raise notes.error(f"{shown(raw)} stops the scheduler", place=place, right=str(error)) from error
    if argument.least is not None and isinstance(value, int | float) and value < argument.least:
        notes.warn(f"{value} is below {argument.least}, the default {argument.default} holds", place=place)
        return argument.default
    return value


def _integer(raw: object) -> int:
    if type(raw) is not int:
        raise ValueError("write a bare whole number, without quotes or a decimal point")
    return raw


def _number(raw: object) -> float:
    if type(raw) not in (int, float):
        raise ValueError("write a bare number, without quotes")
    assert isinstance(raw, int | float)
    return float(raw)


def _boolean(raw: object) -> bool:
    if isinstance(raw, bool):
        return raw
    if isinstance(raw, str) and raw in BOOLEAN_TEXTS:
        return BOOLEAN_TEXTS[raw]
    raise ValueError("write true or false")


def _text(raw: object) -> str:
    if not isinstance(raw, str):
        raise ValueError("write a text")
    return raw


def _duration(raw: object) -> int:
    try:
        value = durations.nanoseconds(raw)
    except ValueError:
        value = 0
    if value <= 0:
        raise ValueError('write a duration above zero such as "1h30m"')
    return value


def _window(raw: object) -> str:
    if not isinstance(raw, str):
        raise TypeError('write a text such as "10:00-21:00"')
    return raw


BOOLEAN_TEXTS = {
    **dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True),
    **dict.fromkeys(("0", "f", "F", "false", "FALSE", "False"), False),
}

# ValueError: the scheduler logs and goes on with the default. TypeError: it ends.
READERS: dict[Kind, Callable[[object], Value]] = {
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "text": _text,
    "duration": _duration,
    "strict": strict_integer,
    "window": _window,
    "form": lambda raw: raw,
}
