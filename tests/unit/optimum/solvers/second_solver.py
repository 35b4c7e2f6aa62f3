"""A portfolio in which HiGHS always answers first, and a HiGHS that reports wrong bounds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from ortools.sat.python import cp_model

from cpsched.optimum.provers import HIGHS
from cpsched.optimum.solvers import portfolio, second_solver
from cpsched.optimum.solvers.cp_sat import CpSat
from cpsched.optimum.solvers.linear_model import LinearConstraint, LinearModel
from cpsched.optimum.solvers.mip import MipAnswer
from cpsched.optimum.solvers.portfolio import Portfolio
from cpsched.optimum.solvers.prover import Answer
from cpsched.optimum.solvers.second_solver import MIP_SOLVERS, SecondSolver
from cpsched.optimum.solvers.worker import SolverProcess

PATIENCE = 3600.0
HIGHS_MODULE = MIP_SOLVERS[HIGHS].module


def always_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """CP-SAT does nothing by itself, and in a portfolio not before HiGHS has answered or is gone."""
    inner, heard, run = Portfolio._cp_sat, SecondSolver.poll, CpSat.run
    waiting: list[bool] = []
    over: list[bool] = []

    def cp_sat(self: Portfolio, cp: cp_model.CpModel, seconds: float, *, second: Any = None, **more: Any) -> Answer:
        waiting.append(second is not None and second() is not None)
        return inner(self, cp, seconds, second=second, **more)

    def hear(self: SecondSolver, seconds: float = 0.0) -> MipAnswer | None:
        answer = heard(self, seconds)
        over.append(answer is not None or self.is_lost)
        return answer

    def late(self: CpSat, cp: cp_model.CpModel, stop: Callable[[], bool] = lambda: False) -> Any:
        if waiting and waiting.pop():
            over.clear()
            while not any(over):
                stop()
                time.sleep(0.001)
            if stop():
                self.parameters.max_deterministic_time = 0.0
        return run(self, cp, stop)

    monkeypatch.setattr(portfolio, "SINGLE_EFFORT", 0.0)
    monkeypatch.setattr(Portfolio, "_cp_sat", cp_sat)
    monkeypatch.setattr(SecondSolver, "poll", hear)
    monkeypatch.setattr(CpSat, "run", late)


class SharedWorker(SolverProcess):
    """One child for all questions of a test: its start is what would take longest."""

    def __init__(self) -> None:
        super().__init__(HIGHS_MODULE)

    def stop(self) -> None:
        self.cancel()


class NeverPossible(SharedWorker):
    """Says of everything that it is infeasible."""

    def poll(self, seconds: float = 0.0) -> MipAnswer | None:
        answer = super().poll(seconds)
        return answer and MipAnswer(None, None, optimal=False, infeasible=True)


class TooHigh(SharedWorker):
    """Says that nothing is as good as what it found."""

    def poll(self, seconds: float = 0.0) -> MipAnswer | None:
        answer = super().poll(seconds)
        return answer if answer is None or answer.bound is None else replace(answer, bound=answer.bound + 1)


class SecondBest(SharedWorker):
    """Says that the second best is the best."""

    def __init__(self) -> None:
        super().__init__()
        self._second: MipAnswer | None = None

    def submit(self, rows: LinearModel, seconds: float) -> None:
        self._second = None
        super().submit(rows, seconds)
        best = super().poll(PATIENCE)
        if best is not None and best.optimal and rows.objective:
            worse = LinearConstraint(rows.objective, _value(rows, best) + 1 - rows.offset, None)
            super().submit(replace(rows, rows=[*rows.rows, worse]), seconds)
            second = super().poll(PATIENCE)
            if second is not None and second.optimal:
                best = replace(second, bound=_value(rows, second))
        self._second = best

    def poll(self, seconds: float = 0.0) -> MipAnswer | None:
        second, self._second = self._second, None
        return second


def _value(rows: LinearModel, answer: MipAnswer) -> int:
    assert answer.values is not None
    return rows.offset + sum(c * answer.values[v] for v, c in rows.objective.items())


LIARS: dict[str, type[SharedWorker]] = {
    "never possible": NeverPossible,
    "too high": TooHigh,
    "second best": SecondBest,
}


@contextmanager
def replaced(monkeypatch: pytest.MonkeyPatch, worker: SharedWorker) -> Iterator[None]:
    """This one is the second solver of every search."""
    monkeypatch.setattr(second_solver, "SolverProcess", lambda module: worker)
    try:
        yield
    finally:
        SolverProcess.stop(worker)
