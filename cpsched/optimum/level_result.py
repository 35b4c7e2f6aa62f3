"""What came of a level."""

from __future__ import annotations

from dataclasses import dataclass

GIVEN = "given open levels"
"""What is said of a level that was closed after one that stayed open."""


@dataclass
class LevelResult:
    """One settled level."""

    name: str
    priority: int | None
    value: int | None
    bound: int | None
    proved: bool
    prover: str
    seconds: float
