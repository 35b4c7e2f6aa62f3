"""Elastic repair: from a relaxed solution, which ignores whose capacity it uses, to a decision with the same values.

A feasibility relaxation: the rows about rights may be broken at a price (slacks), so that the relaxed solution is a
start; then the price is minimised. At price 0 the solution breaks no rule that rows state.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from cpsched.optimum.model.counts import values_of
from cpsched.optimum.model.lazy import accept_or_cut
from cpsched.optimum.model.level_traits import LEVEL_TRAITS
from cpsched.optimum.model.objective import stages_of
from cpsched.optimum.model.session_model import SessionModel
from cpsched.optimum.model.variables import sum_of
from cpsched.optimum.relax.bounding import LexicographicBounds
from cpsched.optimum.search.primal.disaggregate import disaggregate
from cpsched.optimum.solvers.portfolio import Portfolio
from cpsched.policy.levels import LevelRef
from cpsched.rules import Decision

Targets = Sequence[tuple[LevelRef, Sequence[int]]]
"""Levels with the values that their stages are to have."""


class ElasticRepair:
    """Decisions with the values of a relaxed solution, for more or fewer of its levels."""

    def __init__(self, model: SessionModel, portfolio: Portfolio):
        self._exact_model, self._portfolio = model, portfolio
        self._bounding: LexicographicBounds | None = None
        self._last_solution: list[int] = []
        """What the last repair of the same relaxed solution ended with at a price: the start of the next."""

    @cached_property
    def _model(self) -> SessionModel:
        return SessionModel(self._exact_model.snapshot, shared_with=self._exact_model, elastic=True)

    def run(self, bounding: LexicographicBounds, targets: Targets, end: float) -> Decision | None:
        """A decision that attains the targets, which the relaxed solution does; None if none was found."""
        v = self._model.variables
        rows = []
        for level, values in targets:
            # Fewer values than stages: a level that is known to have no victims says so by one 0 for all of them.
            for stage, value in zip(stages_of(v, *level), values, strict=False):
                rows += stage.at_most(value)
        start = dict(enumerate(self._last_solution))
        if bounding is not self._bounding:
            counts_binds = any(LEVEL_TRAITS[name].counts_binds for (name, _), _ in targets)
            counts = disaggregate(v.classes, bounding, only_reserves=v.reserve_dominates_bind and not counts_binds)
            start = {x.index: count for x, count in values_of(v, counts).items()}
        if v.reserve_dominates_bind and not any(start[x.index] for x in v.bind.values()):
            rows.append(sum_of(list(v.bind.values())) == 0)
        budget = self._portfolio.budget
        while (left := end - budget.clock()) > 0 and not budget.stopped:
            solution = self._portfolio.complete_hint(self._priced(rows, start))
            if solution is None:
                return None
            answer = self._portfolio.improve(self._priced(rows, dict(enumerate(solution))), left)
            if not answer.solutions:
                return None
            solution = answer.solutions[0]
            start = dict(enumerate(solution))
            if any(solution[x.index] for x in v.slacks):
                self._bounding, self._last_solution = bounding, solution
                return None
            decision = accept_or_cut(self._model, solution)
            if decision is not None:
                return decision
        return None

    def _priced(self, rows: list[Any], start: dict[int, int]) -> Any:
        """Minimise the sum of slacks under the rows, from the start."""
        model: Any = self._model.cp.clone()
        for row in rows:
            model.add(row)
        model.minimize(sum_of(self._model.variables.slacks))
        model.proto.solution_hint.vars.extend(start.keys())
        model.proto.solution_hint.values.extend(start.values())
        return model
