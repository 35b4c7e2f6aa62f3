"""CP-SAT and HiGHS, each alone, prove the same vector on five hundred sessions."""

from __future__ import annotations

import pytest

import cpsched
from cpsched.optimum import highs, race
from cpsched.optimum.highs import Answer
from cpsched.optimum.rows import Rows
from tests.oracle.midsize import midsize

SESSIONS, CHUNK = 500, 25


class HighsHere:
    """HiGHS in this process: the same solver on the same rows, without a child to start for every session."""

    def __init__(self) -> None:
        self._answer: Answer | None = None

    def ask(self, rows: Rows, seconds: float) -> None:
        self._answer = highs.solve(rows, seconds)

    def answer(self, patience: float = 0.0) -> Answer | None:
        answer, self._answer = self._answer, None
        return answer

    def stop(self) -> None:
        self._answer = None


@pytest.mark.parametrize("start", range(0, SESSIONS, CHUNK))
def test_both_provers_agree(start: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(race, "Racer", HighsHere)
    by_highs = 0
    for seed in range(start, start + CHUNK):
        instance = cpsched.load(midsize(seed))
        one = cpsched.solve(instance, prover="cp-sat", deterministic=True)
        other = cpsched.solve(instance, prover="highs")
        assert (one.status, other.status) == ("optimal", "optimal"), seed
        assert [level.value for level in one.levels] == [level.value for level in other.levels], seed
        assert {level.prover for level in one.levels} <= {"bound", "cp-sat"}
        by_highs += sum(level.prover == "highs" for level in other.levels)
    # Where a model's numbers are too large for what HiGHS forgives, CP-SAT takes over.
    assert by_highs > CHUNK
