"""Levels of which the best value is known without a model."""

from __future__ import annotations

from collections.abc import Callable

from ortools.sat.python import cp_model

from cpsched.optimum.model.objective.stage import LevelStage, Stage
from cpsched.optimum.model.variables import Expr
from cpsched.policy.levels import SENSES
from cpsched.rules import Decision


class KnownLevel(LevelStage):
    """A level whose best value was proved elsewhere; it tells what a decision has, and states no variables."""

    def __init__(self, name: str, priority: int | None, ideal: int):
        self._last: tuple[Decision, int] | None = None
        self.name, self.priority, self.ideal = name, priority, ideal  # type: ignore[misc]
        self.sign = -1 if SENSES[name] == "max" else 1  # type: ignore[misc]

    def _expression(self) -> Expr:
        return cp_model.LinearExpr.constant(self.ideal)


class NoVictims(KnownLevel):
    """A level of victims, on which nothing is better than no victims; the stages of such levels are 0 then."""

    def __init__(self, name: str, priority: int | None):
        super().__init__(name, priority, 0)

    def _value(self, decision: Decision) -> int:
        return 1 if decision.evictions else 0


class KnownVictims(Stage):
    """A stage of a level of victims whose best value was proved elsewhere: a number of a decision."""

    def __init__(self, measure: Callable[[Decision], int], ideal: int = 0):
        self._last: tuple[Decision, int] | None = None
        self._measure, self.ideal = measure, ideal

    def _expression(self) -> Expr:
        return cp_model.LinearExpr.constant(self.ideal)

    def _value(self, decision: Decision) -> int:
        return self._measure(decision)
