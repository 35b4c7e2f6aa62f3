"""One level in the session model: every stage bounded, improved, and minimised until its value meets its bound."""

from __future__ import annotations

from typing import Any

from cpsched.optimum import disagreement
from cpsched.optimum.disagreement import SolverDisagreementError
from cpsched.optimum.model.lazy import accept_or_cut
from cpsched.optimum.model.objective.stage import Stage
from cpsched.optimum.model.variables import value_in
from cpsched.optimum.params import (
    BOUNDED_LEVEL_SHARE,
    DESTRUCTIVE_STEPS,
    HEURISTIC_SHARE,
    START_SECONDS_PER_VARIABLE,
)
from cpsched.optimum.provers import IDEAL, Prover
from cpsched.optimum.relax.stage_bounds import StageBound
from cpsched.optimum.search.incumbent import hint
from cpsched.optimum.search.result import LevelResults
from cpsched.optimum.search.state import SearchState
from cpsched.optimum.solvers.prover import objective_of

Bound = tuple[int, Prover | None]
"""A lower bound and who proved it; None for an ideal value that nothing attains."""


class ExactLevels:
    """Solves levels in the session model, one after another."""

    def __init__(self, state: SearchState, results: LevelResults, *, all_time: bool):
        """With `all_time` a level may take all the time left; else it leaves some for those after it."""
        self._state, self._results, self._all_time = state, results, all_time
        self._budget, self._incumbent = state.budget, state.incumbent

    def solve(self, position: int) -> None:
        """Minimise the level's stages in order, fix them, and record what came of the level."""
        state, budget = self._state, self._budget
        level = state.levels[position]
        started, left = budget.clock(), len(state.levels) - position
        bounds = dict(enumerate(level.known_bounds))
        # Without a bound each level gets twice its even share: later ones often need less than theirs.
        share = 1 if self._all_time else BOUNDED_LEVEL_SHARE if bounds else 2 / (left + 1)
        end = started + max(0.1, (budget.end - started) * share) if started < budget.end else started
        started -= sum(bound.seconds for bound in bounds.values())
        provers: list[Prover | None] = []
        open_stage: tuple[Stage, int] | None = None
        level.values = []
        for number, stage in enumerate(state.stages(position)):
            bound, prover = self._solve_stage(stage, end, bounds.get(number))
            value = stage.value(state.best)
            level.values.append(value)
            for row in stage.at_most(value) if bound == value else [stage.expr <= value]:
                state.model.cp.add(row)
            if number not in bounds or bounds[number].value != value:
                state.levels.forget_after(position)
                bounds = {}
            provers.append(prover)
            if bound != value:
                open_stage = (stage, bound)
                break
        self._results.record(state.best, provers, budget.clock() - started, open_stage)

    def _solve_stage(self, stage: Stage, end: float, known: StageBound | None) -> Bound:
        """The stage's bound; the incumbent's value is its value. Solutions that the checker refuses are cut off."""
        state, budget = self._state, self._budget
        least, prover = stage.ideal, IDEAL
        if known is not None and known.value > least:
            least, prover = known.value, known.prover
        if stage.value(state.best) > least:
            self._incumbent.take_warm_start(budget.left)
            if known is not None:
                self._improve(stage, least, end)
                least, prover = self._destructive_bound(stage, least, prover, end)
            state.model.cp.add(stage.expr >= least)
        while True:
            value = stage.value(state.best)
            if value < least:
                self._drop(prover, least, value)
                least, prover = stage.ideal, IDEAL
            if value == stage.ideal:
                return value, IDEAL
            if value == least:
                return value, prover
            cp = state.model.cp
            seconds = end - budget.clock()
            if seconds <= START_SECONDS_PER_VARIABLE * len(cp.proto.variables) or budget.stopped:
                return _named(stage, least, prover)
            hint(state.model, self._incumbent.values_in(state.model))
            cp.minimize(stage.expr)
            answer = state.portfolio.minimize(cp, max(0.05, seconds))
            refused = self._take_best(answer.solutions, stage)
            value = stage.value(state.best)
            if refused and value != answer.bound:
                continue
            if answer.bound is None or answer.prover is None or answer.bound <= least:
                return (value, prover) if value == least else _named(stage, least, prover)
            if answer.bound > value:
                self._drop(answer.prover, answer.bound, value)
                return _named(stage, least, prover)
            return answer.bound, answer.prover

    def _drop(self, prover: Prover, bound: int, value: int) -> None:
        """Go on without a bound that a decision beats, and say so."""
        wrong = f"{prover.name} reported that nothing is below {bound}, but a decision has {value}"
        if disagreement.LOUD or not prover.solver:
            raise SolverDisagreementError(wrong)
        self._budget.note(f"{wrong}: its bound was dropped")

    def _improve(self, stage: Stage, least: int, end: float) -> None:
        """Search around the incumbent for a decision that attains the bound; from what is refused on to the next."""
        state = self._state
        near, expr = self._incumbent.values_in(state.model), stage.expr
        while (left := end - self._budget.clock()) > 0 and not self._budget.stopped:
            hint(state.model, near)
            model: Any = state.model.cp.clone()
            model.minimize(expr)
            model.add(expr >= least)
            answer = state.portfolio.improve(model, left)
            if not answer.solutions:
                return
            near = answer.solutions[0]
            if self._accept(near, stage):
                return

    def _destructive_bound(self, stage: Stage, least: int, prover: Prover, end: float) -> tuple[int, Prover]:
        """Ask for the bound's own value; while that is proved infeasible, raise the bound to the next value.

        A feasibility problem at the bound is easier than the minimisation, and the true value is mostly near
        (destructive lower bounds, Klein and Scholl 1999). In millionths the next value that exists may be thousands
        away, so only one is asked for.
        """
        state, clock = self._state, self._budget.clock
        rows = state.only_reserves(len(state.levels.fixed))
        for _ in range(1 if stage.in_millionths else DESTRUCTIVE_STEPS):
            if clock() >= end or stage.value(state.best) <= least:
                break
            until = clock() + max(0.1, (end - clock()) * HEURISTIC_SHARE)
            answer = state.find([stage.expr <= least, *rows], until)
            if not answer.is_proved_infeasible or answer.prover is None:
                break
            least, prover = stage.next_value(least + 1), answer.prover
        return least, prover

    def _take_best(self, solutions: list[list[int]], stage: Stage) -> bool:
        """Take the best of the solutions that the checker accepts; whether a better one was refused."""
        refused = False
        cp = self._state.model.cp
        for values in sorted(solutions, key=lambda values: objective_of(cp, values)):
            if self._accept(values, stage):
                break
            refused = True
        return refused

    def _accept(self, values: list[int], stage: Stage) -> bool:
        """Take a decision if the checker accepts it and it is no worse; else cut it off."""
        decision = accept_or_cut(self._state.model, values)
        if decision is None:
            return False
        value, claimed = stage.value(decision), value_in(stage.expr, values)
        if value > claimed:
            raise SolverDisagreementError(f"a decision worth {value} is claimed to be worth {claimed}")
        if value <= stage.value(self._state.best):
            self._incumbent.take(decision, values)
        return True


def _named(stage: Stage, least: int, prover: Prover) -> Bound:
    """An open stage's bound; no prover is named for an ideal value."""
    return least, prover if least > stage.ideal else None
