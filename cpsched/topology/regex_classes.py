"""Classes of characters as Go's regexp names them."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

CharTest = Callable[[str], bool]

POSIX: dict[str, CharTest] = {
    "alnum": lambda c: c.isascii() and c.isalnum(),
    "alpha": lambda c: c.isascii() and c.isalpha(),
    "ascii": str.isascii,
    "blank": lambda c: c in "\t ",
    "cntrl": lambda c: c.isascii() and not c.isprintable(),
    "digit": lambda c: c in "0123456789",
    "graph": lambda c: "!" <= c <= "~",
    "lower": lambda c: "a" <= c <= "z",
    "print": lambda c: " " <= c <= "~",
    "punct": lambda c: "!" <= c <= "~" and not c.isalnum(),
    "space": lambda c: c in "\t\n\v\f\r ",
    "upper": lambda c: "A" <= c <= "Z",
    "word": lambda c: c == "_" or (c.isascii() and c.isalnum()),
    "xdigit": lambda c: c in "0123456789abcdefABCDEF",
}
PERL: dict[str, CharTest] = {
    "d": POSIX["digit"],
    "s": lambda c: c in "\t\n\f\r ",
    "w": POSIX["word"],
}
_CATEGORY_PARTS = {"C": "cfos", "L": "lmotu", "M": "cen", "N": "dlo", "P": "cdefios", "S": "ckmo", "Z": "lps"}
CATEGORIES = frozenset(
    part for whole, parts in _CATEGORY_PARTS.items() for part in (whole, *(whole + letter for letter in parts))
)


def without(inside: CharTest) -> CharTest:
    """All other characters."""
    return lambda c: not inside(c)


def any_of(parts: list[CharTest]) -> CharTest:
    """Characters that one of the tests accepts."""
    return lambda c: any(part(c) for part in parts)


def between(low: str, high: str) -> CharTest:
    """A range of characters, both ends included."""
    return lambda c: low <= c <= high


def of_category(category: str) -> CharTest:
    """Characters of a general category of Unicode."""
    return lambda c: unicodedata.category(c).startswith(category)
