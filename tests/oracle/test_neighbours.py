"""Tiny sessions whose tasks look at each other: the optimum is the oracle's, and the rows say what the checker says."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.oracle.neighbours import FAMILIES, neighbourly
from tests.oracle.points import tally
from tests.oracle.test_random_optimum import compare

SESSIONS, SAMPLED, MOST = 30, 12, 20
SLIPPING = 0.05
"""Of the decisions that the filters refuse, no larger share than this passes the rows."""


@pytest.mark.parametrize("family", FAMILIES)
def test_optimum_equals_exhaustive_search(family: str) -> None:
    for seed in range(SESSIONS):
        compare(neighbourly(seed, family), seed)


@pytest.mark.parametrize("family", FAMILIES)
def test_rows_admit_every_legal_decision_and_hardly_another(family: str) -> None:
    counts: Counter[tuple[str, bool]] = Counter()
    for seed in range(SAMPLED):
        found = tally(neighbourly(seed, family).snapshot(), MOST, seed)
        assert not found["legal", False], seed
        counts += found
    assert counts["legal", True] > SAMPLED
    assert counts["refused", True] <= SLIPPING * counts["refused", False]
    assert counts["refused", False] > SAMPLED
