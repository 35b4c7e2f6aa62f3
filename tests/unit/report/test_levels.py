"""What is stated of a level's proof."""

from __future__ import annotations

import pytest

from cpsched.report.levels import proof
from cpsched.solution import Level


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"value": 3, "bound": 3, "proved": True, "prover": "lp", "seconds": 0.5}, "proved (lp, 0.50 s)"),
        ({"value": 3, "bound": 5, "prover": "highs"}, "open, bound 5 (highs)"),
        ({"value": 3, "bound": 5}, "open, bound 5"),
        ({"value": 3, "bound": 3, "prover": "lp", "given_open_levels": True}, "closed (lp, given open levels)"),
        ({"value": None, "bound": None, "prover": "bound, given open levels"}, "closed (bound, given open levels)"),
        ({"value": 3}, ""),
    ],
)
def test_a_proof_says_what_is_known_and_by_whom(fields: dict[str, object], expected: str) -> None:
    level = {"name": "jobs_admitted", "priority": 10, "sense": "max", "proved": False, **fields}
    assert proof(Level.model_validate(level)) == expected
