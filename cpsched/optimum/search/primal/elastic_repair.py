"""Repair: from an assignment of a sketch, which ignores whose room it uses, to a decision that is as good.

The rows about rights may be broken at a price, so that the sketch's assignment is a start; then the price is driven to
nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from cpsched.check import Decision
from cpsched.optimum.model.counts import assigned
from cpsched.optimum.model.lazy import judged
from cpsched.optimum.model.objective.levels import steps_of
from cpsched.optimum.model.session_model import Program
from cpsched.optimum.model.variables import sum_of
from cpsched.optimum.relax.bounding import Foresight
from cpsched.optimum.search.primal.disaggregate import unfolded
from cpsched.optimum.solvers.portfolio import Race

Pinned = Sequence[tuple[tuple[str, int | None], Sequence[int]]]
"""Levels with the values that their steps are to have."""


class Repair:
    """Decisions as good as a sketch, one question after another."""

    def __init__(self, program: Program, race: Race):
        self._strict, self._race = program, race
        self._sight: Foresight | None = None
        self._near: list[int] = []
        """What came of the last question about the same sketch that was in vain: a start for less, and for more."""

    @cached_property
    def _program(self) -> Program:
        return Program(self._strict.snapshot, like=self._strict, lenient=True)

    def decision(self, sight: Foresight, pinned: Pinned, end: float) -> Decision | None:
        """A decision with these values, which the sketch has; None if none was found."""
        v = self._program.variables
        rows = []
        for level, values in pinned:
            for step, value in zip(steps_of(v, *level), values, strict=True):
                rows += step.no_worse(value)
        start = dict(enumerate(self._near))
        if sight is not self._sight:
            waiting = v.waiting_will_do and all(name != "tasks_bound" for (name, _), _ in pinned)
            outline = unfolded(v.classes, sight, waiting=waiting)
            start = {x.index: count for x, count in assigned(v, outline).items()}
        if v.waiting_will_do and not any(start[x.index] for x in v.bind.values()):
            rows.append(sum_of(list(v.bind.values())) == 0)
        while (left := end - self._race.clock()) > 0 and not self._race.stopped:
            near = self._race.completed(self._model(rows, start))
            if near is None:
                return None
            outcome = self._race.approach(self._model(rows, dict(enumerate(near))), left)
            if not outcome.solutions:
                return None
            near = outcome.solutions[0]
            start = dict(enumerate(near))
            if any(near[x.index] for x in v.excuses):
                self._sight, self._near = sight, near
                return None
            decision = judged(self._program, near)
            if decision is not None:
                return decision
        return None

    def _model(self, rows: list[Any], start: dict[int, int]) -> Any:
        """The least price of what the rows ask for, to be looked for from the start."""
        model: Any = self._program.cp.clone()
        for row in rows:
            model.add(row)
        model.minimize(sum_of(self._program.variables.excuses))
        model.proto.solution_hint.vars.extend(start.keys())
        model.proto.solution_hint.values.extend(start.values())
        return model
