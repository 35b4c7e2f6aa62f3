"""CP-SAT and HiGHS, each alone, prove the same vector on five hundred sessions."""

from __future__ import annotations

import pytest

import cpsched
from cpsched.optimum.solvers import second_solver
from cpsched.optimum.solvers.worker import SolverProcess
from tests.oracle.midsize import midsize
from tests.unit.optimum.solvers.second_solver import SharedWorker

SESSIONS, CHUNK = 500, 25


@pytest.mark.parametrize("start", range(0, SESSIONS, CHUNK))
def test_both_provers_agree(start: int, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = SharedWorker()
    monkeypatch.setattr(second_solver, "SolverProcess", lambda module: shared)
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
    SolverProcess.stop(shared)
