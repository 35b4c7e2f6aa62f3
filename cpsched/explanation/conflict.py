"""Minimal sets: of many requirements a few that are too much together, none of them spare (QuickXplain)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")
IsTooMuch = Callable[[Sequence[Item]], bool]
"""Whether the requirements given, and no others, leave no way."""


def minimal_conflict(items: Sequence[Item], too_much: IsTooMuch[Item]) -> list[Item] | None:
    """A subset that is too much and of which every smaller one is not; None if all of them together are not.

    Items that stand first are preferred. Adding an item never makes a conflict go away.
    """
    if not too_much(items):
        return None
    if not items or too_much([]):
        return []
    return _explained([], False, list(items), too_much)


def _explained(given: list[Item], grown: bool, items: list[Item], too_much: IsTooMuch[Item]) -> list[Item]:
    if grown and too_much(given):
        return []
    if len(items) == 1:
        return items
    half = (len(items) + 1) // 2
    first, last = items[:half], items[half:]
    of_last = _explained([*given, *first], bool(first), last, too_much)
    of_first = _explained([*given, *of_last], bool(of_last), first, too_much)
    return [*of_first, *of_last]
