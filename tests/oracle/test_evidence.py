"""Evidence is true: no decision of any tiny session beats a bound, given whatever values of the earlier levels."""

from __future__ import annotations

import pytest

from tests.oracle.evidence import Tally, tally_of
from tests.oracle.sessions import contest

CHUNK = 100


@pytest.mark.parametrize("start", range(0, 300, CHUNK))
def test_no_decision_beats_a_bound(start: int) -> None:
    for seed in range(start, start + CHUNK):
        tally = Tally()
        tally_of(contest(seed).snapshot(), tally)
        assert not tally.beaten, (seed, tally.beaten[0])


def test_most_levels_need_no_solver() -> None:
    """Nine of ten levels of the optimum are closed by evidence alone, and every kind of evidence closes some."""
    tally = Tally()
    for seed in range(60):
        tally_of(contest(seed).snapshot(), tally)
    assert tally.closed.total() > 0.9 * tally.levels.total()
    assert {kind for _, kind in tally.closed} == {"zero", "all-placed", "implied", "counting", "victims-needed"}
