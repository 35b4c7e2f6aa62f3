"""Doubts about an input: lines above a person's answer; beside JSON, warnings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cpsched.doubts import Doubt
    from cpsched.instance import Instance


def above(doubts: Iterable[Doubt]) -> list[str]:
    """What stands at the top of an answer: a line for each doubt about the input."""
    return [f"Doubt: {doubt.text}" for doubt in doubts if doubt.is_of_input]


def in_doubt(instance: Instance, beside_json: bool) -> list[str]:
    """The same as warnings, where stdout carries no lines."""
    from cpsched.completeness.registry import doubts_of_input

    return [f"{instance.file}: {doubt.text}" for doubt in doubts_of_input(instance)] if beside_json else []
