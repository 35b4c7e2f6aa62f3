"""Kubernetes' additions to CEL that device selectors use: quantities, semantic versions, string functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib import import_module
from typing import Any, ClassVar

from cpsched import quantity as quantities
from cpsched.filters.cel_errors import NotUnderstoodError

_SEMVER = re.compile(
    r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z.-]+)?"
)
MOST_PATTERN_MEMORY = 2**16
"""Bytes, which is about a thousand states of a pattern; every character takes time for each."""


class Ordered:
    """A value that CEL compares through methods."""

    kind: ClassVar[str] = ""

    def __init__(self, rank: Any):
        self.rank = rank

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ordered) and type(other) is type(self) and self.rank == other.rank

    def __hash__(self) -> int:
        return hash(self.rank)


class Quantity(Ordered):
    """An amount, in 10^-9."""

    kind = "quantity"


class Semver(Ordered):
    """A version, ranked as Semantic Versioning 2.0.0 says."""

    kind = "semver"


def quantity(text: str) -> Quantity:
    """The amount a text such as 40Gi stands for."""
    return Quantity(quantities.nano(str(text)))


def semver(text: str) -> Semver:
    """The version a text such as 1.2.3 stands for; ValueError if it is none."""
    match = _SEMVER.fullmatch(str(text))
    if match is None:
        raise ValueError(f"{text} is not a semantic version")
    major, minor, patch, before = match.groups()
    identifiers = before.split(".") if before else []
    # A release comes after its pre-releases; numbers before words, longer lists after their beginnings.
    rank = tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in identifiers)
    return Semver((int(major), int(minor), int(patch), (not identifiers, rank)))


@lru_cache(maxsize=1)
def functions() -> dict[str, Callable[..., Any]]:
    """The functions by their CEL names; a method gets its object first."""
    celtypes = import_module("celpy.celtypes")
    boolean, number, text = celtypes.BoolType, celtypes.IntType, celtypes.StringType
    return {
        "quantity": quantity,
        "isQuantity": lambda value: boolean(_parses(quantity, value)),
        "semver": semver,
        "isSemver": lambda value: boolean(_parses(semver, value)),
        "compareTo": lambda left, right: number(_compare(left, right)),
        "isGreaterThan": lambda left, right: boolean(_compare(left, right) > 0),
        "isLessThan": lambda left, right: boolean(_compare(left, right) < 0),
        "sign": lambda value: number((value.rank > 0) - (value.rank < 0)),
        "isInteger": lambda value: boolean(value.rank % 10**9 == 0),
        "asInteger": lambda value: number(_whole(value)),
        "add": lambda left, right: Quantity(left.rank + _nano(right)),
        "sub": lambda left, right: Quantity(left.rank - _nano(right)),
        "major": lambda value: number(value.rank[0]),
        "minor": lambda value: number(value.rank[1]),
        "patch": lambda value: number(value.rank[2]),
        "lowerAscii": lambda value: text(re.sub("[A-Z]+", lambda m: m.group().lower(), value)),
        "upperAscii": lambda value: text(re.sub("[a-z]+", lambda m: m.group().upper(), value)),
        "trim": lambda value: text(value.strip()),
        "replace": lambda value, old, new: text(value.replace(old, new)),
        "indexOf": lambda value, part: number(value.find(part)),
        "split": lambda value, by: celtypes.ListType([text(part) for part in value.split(by)]),
        "matches": lambda value, pattern: boolean(_matches(value, pattern)),
    }


def with_default(content: Mapping[str, Mapping[str, Any]]) -> Any:
    """A CEL map of maps in which a missing key reads as an empty map, though `in` still says it is missing."""
    celtypes = import_module("celpy.celtypes")
    text, plain = celtypes.StringType, celtypes.MapType
    lookup = {"__getitem__": lambda self, key: plain.__getitem__(self, key) if key in self else plain()}
    inner = {text(k): plain({text(i): value for i, value in v.items()}) for k, v in content.items()}
    return type("MapWithDefault", (plain,), lookup)(inner)


def _compare(left: Ordered, right: Ordered) -> int:
    if type(left) is not type(right):
        raise TypeError(f"{left.kind} against {right.kind}")
    return int(left.rank > right.rank) - int(left.rank < right.rank)


def _matches(text: str, pattern: str) -> bool:
    """RE2, as upstream: linear in the text. It prints nothing of its own, and a pattern may not grow large."""
    re2 = import_module("re2")
    options = re2.Options()
    options.log_errors, options.max_mem = False, MOST_PATTERN_MEMORY
    try:
        return re2.search(pattern, text, options) is not None
    except re2.error:
        raise NotUnderstoodError(f"the pattern {pattern} of matches") from None


def _nano(value: Any) -> int:
    return int(value.rank) if isinstance(value, Quantity) else int(value) * 10**9


def _whole(value: Quantity) -> int:
    if value.rank % 10**9:
        raise ValueError("not an integer")
    return int(value.rank // 10**9)


def _parses(parse: Callable[[str], Ordered], text: str) -> bool:
    try:
        parse(str(text))
    except ValueError:
        return False
    return True
