"""How much the replicas of an instance make, counted before any of it is made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cpsched.errors import InputError

MOST_MADE = 200_000
"""Nodes and pods: Kubernetes itself supports 5,000 and 150,000; so many take a minute and 2 GB here."""
MOST_TEXT = 2**28
"""Characters: every copy carries what its template says."""
_VALUE = 16
"""What a value counts besides its text."""


def check_size(templates: Iterable[tuple[int, Any]], file: str) -> None:
    """Refuse templates whose replicas make too much; what is written out is bounded by its own size.

    Args:
        templates: how many nodes or pods, and what each of them carries.
        file: where they come from.
    """
    made = text = 0
    for count, content in templates:
        if count > 1:
            made, text = made + count, text + count * _size(content)
    right = f"one instance has at most {MOST_MADE} of them, in at most {MOST_TEXT} characters"
    if made > MOST_MADE:
        raise InputError(f"replicas make {made} nodes and pods", file=file, right=right)
    if text > MOST_TEXT:
        raise InputError(f"replicas make {made} nodes and pods in {text} characters", file=file, right=right)


def _size(value: Any) -> int:
    """The value and all below it, as they count in MOST_TEXT."""
    if isinstance(value, str):
        return _VALUE + len(value)
    if isinstance(value, dict):
        return _VALUE + sum(map(_size, value)) + sum(map(_size, value.values()))
    return _VALUE + sum(map(_size, value)) if isinstance(value, list | tuple) else _VALUE
