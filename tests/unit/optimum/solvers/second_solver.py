"""A race that HiGHS always wins, and a HiGHS that lies."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from ortools.sat.python import cp_model

from cpsched.optimum.solvers import portfolio as race
from cpsched.optimum.solvers.cp_sat import CpSat
from cpsched.optimum.solvers.highs import Answer
from cpsched.optimum.solvers.linear_model import Row, Rows
from cpsched.optimum.solvers.portfolio import Outcome, Race
from cpsched.optimum.solvers.worker import Racer

PATIENCE = 60.0


def first_in_the_race(monkeypatch: pytest.MonkeyPatch) -> None:
    """CP-SAT does nothing by itself, and in a race not before HiGHS has answered or is gone."""
    inner, heard, run = Race._cp_sat, Race._heard, CpSat.run
    waiting: list[bool] = []
    over: list[bool] = []

    def cp_sat(self: Race, cp: cp_model.CpModel, seconds: float, *, rival: Any = None, **more: Any) -> Outcome:
        waiting.append(rival is not None and rival() is not None)
        return inner(self, cp, seconds, rival=rival, **more)

    def hear(self: Race, patience: float = 0.0) -> Answer | None:
        answer = heard(self, patience)
        over.append(answer is not None or self._racer_lost)
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

    monkeypatch.setattr(race, "ALONE_EFFORT", 0.0)
    monkeypatch.setattr(Race, "_cp_sat", cp_sat)
    monkeypatch.setattr(Race, "_heard", hear)
    monkeypatch.setattr(CpSat, "run", late)


class SharedRacer(Racer):
    """One child for all questions of a test: its start is what would take longest."""

    def stop(self) -> None:
        self.drop()


class NeverPossible(SharedRacer):
    """Says of everything that it is infeasible."""

    def answer(self, patience: float = 0.0) -> Answer | None:
        answer = super().answer(patience)
        return answer and Answer(None, None, optimal=False, infeasible=True)


class TooHigh(SharedRacer):
    """Says that nothing is as good as what it found."""

    def answer(self, patience: float = 0.0) -> Answer | None:
        answer = super().answer(patience)
        return answer if answer is None or answer.bound is None else replace(answer, bound=answer.bound + 1)


class SecondBest(SharedRacer):
    """Says that the second best is the best."""

    def __init__(self) -> None:
        super().__init__()
        self._second: Answer | None = None

    def ask(self, rows: Rows, seconds: float) -> None:
        self._second = None
        super().ask(rows, seconds)
        best = super().answer(PATIENCE)
        if best is not None and best.optimal and rows.objective:
            worse = Row(rows.objective, _value(rows, best) + 1 - rows.offset, None)
            super().ask(replace(rows, rows=[*rows.rows, worse]), seconds)
            second = super().answer(PATIENCE)
            if second is not None and second.optimal:
                best = replace(second, bound=_value(rows, second))
        self._second = best

    def answer(self, patience: float = 0.0) -> Answer | None:
        second, self._second = self._second, None
        return second


def _value(rows: Rows, answer: Answer) -> int:
    assert answer.values is not None
    return rows.offset + sum(c * answer.values[v] for v, c in rows.objective.items())


LIARS: dict[str, type[SharedRacer]] = {
    "never possible": NeverPossible,
    "too high": TooHigh,
    "second best": SecondBest,
}


@contextmanager
def replaced(monkeypatch: pytest.MonkeyPatch, racer: SharedRacer) -> Iterator[None]:
    """This one is the second solver of every search."""
    monkeypatch.setattr(race, "Racer", lambda: racer)
    try:
        yield
    finally:
        Racer.stop(racer)
