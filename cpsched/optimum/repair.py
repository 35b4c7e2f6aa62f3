"""Repair: from an assignment of a sketch, which ignores whose room it uses, to a decision that is as good.

The rows about rights may be broken at a price, so that the sketch's assignment is a start; then the price is driven to
nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from cpsched.check import Decision
from cpsched.optimum.assignments import judged
from cpsched.optimum.foresight import Foresight
from cpsched.optimum.levels import steps_of
from cpsched.optimum.program import Program
from cpsched.optimum.race import Race, objective_of
from cpsched.optimum.unfolding import unfolded
from cpsched.optimum.variables import sum_of

Pinned = Sequence[tuple[tuple[str, int | None], Sequence[int]]]
"""Levels with the values that their steps are to have."""


class Repair:
    """Decisions as good as a sketch, one question after another."""

    def __init__(self, program: Program, sight: Foresight, race: Race):
        self._strict, self._sight, self._race = program, sight, race

    @cached_property
    def _program(self) -> Program:
        return Program(self._strict.snapshot, lenient_with=self._strict)

    def decision(self, pinned: Pinned, end: float) -> Decision | None:
        """A decision with these values; None if none was found."""
        v = self._program.variables
        waiting = v.waiting_will_do and all(name != "tasks_bound" for (name, _), _ in pinned)
        rows = [sum_of(list(v.bind.values())) == 0] if waiting else []
        for level, values in pinned:
            for step, value in zip(steps_of(v, *level), values, strict=True):
                rows += step.no_worse(value)
        model = self._model(rows)
        for variable, count in unfolded(v, self._sight, waiting=waiting).items():
            model.add_hint(variable, count)
        near = self._race.completed(model)
        while near is not None and (left := end - self._race.clock()) > 0 and not self._race.interrupted:
            model = self._model(rows)
            model.minimize(sum_of(v.excuses))
            model.proto.solution_hint.vars.extend(range(len(near)))
            model.proto.solution_hint.values.extend(near)
            outcome = self._race.approach(model, left)
            if not outcome.solutions or objective_of(model, outcome.solutions[0]):
                return None
            near = outcome.solutions[0]
            decision = judged(self._program, near)
            if decision is not None:
                return decision
        return None

    def _model(self, rows: list[Any]) -> Any:
        model: Any = self._program.cp.clone()
        for row in rows:
            model.add(row)
        return model
