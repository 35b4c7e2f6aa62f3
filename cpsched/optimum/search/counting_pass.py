"""The counting pass: bounds that take no solver, as certificates show them; before any model and at the end."""

from __future__ import annotations

from functools import cached_property

from cpsched.certificate.case import Case, Session
from cpsched.certificate.certify import bounds_of, tightness
from cpsched.objectives import value_of
from cpsched.optimum.model.objective.known import KnownLevel, NoVictims
from cpsched.optimum.model.objective.stage import Stage
from cpsched.optimum.provers import COUNTING, IDEAL
from cpsched.optimum.relax.stage_bounds import StageBound
from cpsched.optimum.search.result import LevelResult
from cpsched.optimum.search.state import SearchState
from cpsched.policy.levels import SENSES, Value

NO_VICTIMS = frozenset(
    {"victim_max_priority", "victim_priority_sum", "victim_count", "victim_start_time", "pdb_violations"}
)
"""Levels whose stages are all 0 without victims; with victims their stages are stated in a model."""


class CountingPass:
    """Counts what jobs, queues and nodes can receive at most, given the values of the levels before."""

    def __init__(self, state: SearchState):
        self._state = state

    @property
    def is_wanted(self) -> bool:
        """Whether this prover may answer."""
        return COUNTING in self._state.budget.params.provers

    def state_level(self, position: int) -> None:
        """Give the level its bounds if the incumbent attains what counting allows; every level before it is proved.

        The loosest of the bounds is what holds of every session.
        """
        state = self._state
        level, best = state.levels[position], state.best
        value = value_of(best, level.name, level.priority)
        before = [(known.name, known.priority) for known in state.levels[:position]]
        given = {one: value_of(best, *one) for one in before}
        found = bounds_of(Case(self._session, given), level.name, level.priority)
        if value != found[0][1]:
            return
        sign = -1 if SENSES[level.name] == "max" else 1
        stage: Stage
        if level.name in NO_VICTIMS:
            stage = NoVictims(level.name, level.priority)
        else:
            loosest = found[-1][1] or 0
            stage = KnownLevel(level.name, level.priority, sign * loosest)
        bound = 0 if level.name in NO_VICTIMS else sign * (value or 0)
        if stage.value(best) == bound:
            level.bounds, level.relaxed_stages = [StageBound(bound, COUNTING, 0.0)], [stage]

    def raise_bounds(self, levels: list[LevelResult]) -> None:
        """Replace bounds of open levels that exclude less than counting does, given the values before them."""
        given: dict[tuple[str, int | None], Value] = {}
        for level in levels:
            if self._state.budget.stopped:
                return
            if not level.proved and not (level.given_open_levels and level.value == level.bound):
                bound = bounds_of(Case(self._session, given), level.name, level.priority)[0][1]
                is_known = level.prover is not None and level.bound is not None
                if not is_known or tightness(level.name, bound) > tightness(level.name, level.bound):
                    level.bound, level.prover = bound, IDEAL if bound is None else COUNTING
            given[level.name, level.priority] = level.value

    @cached_property
    def _session(self) -> Session:
        return Session(self._state.snapshot)
