"""Tiny sessions that the search once left unproved are proved on every level, within a deterministic limit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cpsched
from cpsched.solution import SolutionStatus

DATA = Path(__file__).parent / "data"
LIMIT = 0.5
"""Deterministic seconds of one worker."""


@pytest.mark.parametrize("name", ["capacity-77-363"])
def test_every_level_is_proved(name: str) -> None:
    row = json.loads((DATA / f"{name}.json").read_text())
    solution = cpsched.solve(cpsched.load(row["objects"]), conf=row["conf"], deterministic=True, time_limit=LIMIT)
    assert solution.status is SolutionStatus.OPTIMAL
