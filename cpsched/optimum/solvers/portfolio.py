"""Portfolio: CP-SAT alone, then beside it the second solvers on the same model; the best value and bound count."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import ceil
from typing import Any

from ortools.sat.python import cp_model

from cpsched.optimum.budget import Budget
from cpsched.optimum.disagreement import SolverDisagreementError
from cpsched.optimum.params import (
    COMPLETION_LIMIT,
    IMPROVE_EFFORT,
    SINGLE_EFFORT,
    SMALL_MODEL,
    SMALL_RELAXATION,
)
from cpsched.optimum.provers import CP_SAT
from cpsched.optimum.solvers import linearize
from cpsched.optimum.solvers.confirm import below, exact_bound
from cpsched.optimum.solvers.cp_sat import INTERLEAVED_STRATEGY, LP_STRATEGY, CpSat
from cpsched.optimum.solvers.linear_model import LinearModel
from cpsched.optimum.solvers.mip import TOLERANCE, MipAnswer
from cpsched.optimum.solvers.prover import UNKNOWN, Answer, better, objective_of
from cpsched.optimum.solvers.second_solver import MIP_SOLVERS, SecondSolver

MakeRows = Callable[[], LinearModel]
Submit = Callable[[], LinearModel | None]
"""Asks the second solvers the first time it is called; the linear model they were given, None if they are not asked."""
Reported = list[tuple[SecondSolver, MipAnswer]]


class Portfolio:
    """Runs CP-SAT and the second solvers on one question after another, until the budget is used up."""

    def __init__(self, budget: Budget):
        self.budget, self.params = budget, budget.params
        self.is_reproducible = True
        """Whether one worker did it all, so that another run finds the same assignments."""
        wanted = [prover for prover in MIP_SOLVERS if prover in self.params.provers]
        self._second = [SecondSolver(prover, budget, instead=not self._has_cp_sat) for prover in wanted]

    @property
    def _has_cp_sat(self) -> bool:
        return CP_SAT in self.params.provers

    @property
    def _beside(self) -> list[SecondSolver]:
        """The second solvers that can still be asked."""
        return [one for one in self._second if not one.is_lost]

    def start_worker(self) -> None:
        """Start the child processes in advance if they are going to be asked."""
        if not self.params.uses_one_worker:
            for one in self._beside:
                one.process.start()

    def close(self) -> None:
        """End the child processes."""
        for one in self._second:
            one.process.stop()

    def _cancel(self) -> None:
        for one in self._second:
            one.process.cancel()

    def minimize(
        self,
        cp: cp_model.CpModel,
        seconds: float,
        linear_model: MakeRows | None = None,
        *,
        may_be_infeasible: bool = False,
        effort_factor: float = 1.0,
    ) -> Answer:
        """Minimise the model's objective within the time; a relaxed model comes with its rows linearised already.

        Where no assignment may satisfy the model, only so much is tried as CP-SAT does alone, times the factor.
        """
        end, before = self.budget.clock() + seconds, UNKNOWN
        if not self._has_cp_sat and (rows := _safe_rows(cp, linear_model)) is not None:
            before = self._instead(cp, rows, end, may_be_infeasible=may_be_infeasible)
            if not before.was_wrong or end <= self.budget.clock():
                return before
        return better(
            before, self._minimize(cp, end, linear_model, may_be_infeasible=may_be_infeasible, factor=effort_factor)
        )

    def _minimize(
        self, cp: cp_model.CpModel, end: float, linear_model: MakeRows | None, *, may_be_infeasible: bool, factor: float
    ) -> Answer:
        """CP-SAT first alone, then with all workers and the second solvers beside it."""
        params, is_relaxed, size = self.params, linear_model is not None, len(cp.proto.variables)
        effort, seconds = _effort(cp) * factor, end - self.budget.clock()
        strategy = LP_STRATEGY if is_relaxed else ""
        if params.uses_one_worker:
            most = effort if may_be_infeasible else None
            return self._cp_sat(
                cp, seconds, workers=1, effort=most, strategy=strategy, may_be_infeasible=may_be_infeasible
            )
        answer, second = UNKNOWN, self._submit(cp, linear_model, end)
        if is_relaxed or size <= SMALL_MODEL:
            at_once = second if is_relaxed and size > SMALL_RELAXATION else None
            answer = self._cp_sat(
                cp,
                seconds,
                workers=1,
                effort=effort,
                second=at_once,
                strategy=strategy,
                may_be_infeasible=may_be_infeasible,
            )
        left = end - self.budget.clock()
        if left > 0.05 and not self.budget.stopped and not may_be_infeasible and not answer.is_closed(cp):
            # A child takes a core of its own, unless it has had one since the first call.
            shared = 0 if is_relaxed or not self._has_cp_sat else len(self._second)
            workers = max(1, params.workers - shared)
            answer = better(answer, self._cp_sat(cp, left, workers=workers, second=second))
        self._cancel()
        return answer

    def reproduce(self, cp: cp_model.CpModel, seconds: float) -> list[int] | None:
        """An assignment that satisfies the model, the same in every run; None if CP-SAT alone does not find one."""
        answer = self._cp_sat(cp, seconds, workers=1, effort=_effort(cp), may_be_infeasible=True)
        return answer.solutions[0] if answer.solutions else None

    def find_feasible(self, cp: cp_model.CpModel, seconds: float, effort: float, *, alone: bool) -> Answer:
        """An assignment that satisfies the model: by CP-SAT within the effort, else, unless `alone`, by both."""
        if self.budget.stopped:
            return UNKNOWN
        clock = self.budget.clock
        end = clock() + seconds
        if not self._has_cp_sat:
            rows = _safe_rows(cp)
            answer = UNKNOWN if rows is None else self._instead(cp, rows, end, may_be_infeasible=True)
            left = end - clock()
            if not answer.infeasible or alone or left < 0.05:
                return answer
            # Floats prove no infeasibility: CP-SAT is asked the same.
            return self._cp_sat(cp, left, workers=self.params.workers, may_be_infeasible=True)
        answer = self._cp_sat(cp, seconds, workers=1, effort=effort, may_be_infeasible=True)
        left = end - clock()
        if answer.solutions or answer.infeasible or alone or self.params.uses_one_worker or left < 0.05:
            return answer
        second = self._submit(cp, None, end)
        answer = self._cp_sat(
            cp, left, workers=self.params.workers, second=second, may_be_infeasible=True, trusts_infeasible=False
        )
        self._cancel()
        return answer

    def improve(self, cp: cp_model.CpModel, seconds: float) -> Answer:
        """A better assignment than the one hinted, where the bound is known: CP-SAT searches around the hint.

        Its strategies take turns by work done, not by time, so that it ends the same way in every run.
        """
        effort = IMPROVE_EFFORT * max(1.0, len(cp.proto.variables) / SMALL_MODEL)
        return self._cp_sat(
            cp, seconds, workers=1, effort=effort, may_be_infeasible=True, strategy=INTERLEAVED_STRATEGY
        )

    def complete_hint(self, cp: cp_model.CpModel) -> list[int] | None:
        """All values that go with those hinted; None if there are none."""
        limit = COMPLETION_LIMIT
        cp_sat = CpSat(effort=limit) if self.params.deterministic else CpSat(seconds=limit)
        cp_sat.parameters.fix_variables_to_their_hinted_value = True
        return cp_sat.values if cp_sat.run(cp) in (cp_model.OPTIMAL, cp_model.FEASIBLE) else None

    def _submit(self, cp: cp_model.CpModel, linear_model: MakeRows | None, end: float) -> Submit:
        @cache
        def ask() -> LinearModel | None:
            wanted = self._has_cp_sat and self._beside
            rows = _safe_rows(cp, linear_model) if wanted else None
            if rows is not None:
                for one in self._beside:
                    one.submit(rows, end - self.budget.clock())
            return rows

        return ask

    def _instead(self, cp: cp_model.CpModel, rows: LinearModel, end: float, *, may_be_infeasible: bool) -> Answer:
        """The first second solver instead of CP-SAT; what it reports wrongly is not believed."""
        for second in self._beside[:1]:
            second.submit(rows, end - self.budget.clock())
            if (found := second.wait(end)) is None:
                break
            second.log(found)
            if not found.infeasible:
                return self._confirmed(cp, rows, (second, found), end)
            if not may_be_infeasible:
                self.budget.note(f"{second.label} reported that a model is infeasible which is not; this was ignored")
            return Answer([], infeasible=may_be_infeasible, was_wrong=not may_be_infeasible)
        return UNKNOWN

    def _confirmed(
        self,
        cp: cp_model.CpModel,
        rows: LinearModel,
        reported: tuple[SecondSolver, MipAnswer],
        end: float,
        effort: float | None = None,
    ) -> Answer:
        """What counts of a second solver's answer: assignments, which were checked, and an optimum that is confirmed.

        It is confirmed by a bound in integers, or by CP-SAT, which proves that the objective cannot be lower by one.
        """
        second, found = reported
        solutions = [] if found.values is None else [found.values]
        if not found.optimal or found.bound is None:
            return Answer(solutions)
        value, alone = objective_of(cp, solutions[0]), not self._has_cp_sat
        if value >= found.bound:
            if exact_bound(rows, with_lp=alone) >= value:
                return Answer(solutions, value, second.prover)
            lower = UNKNOWN
            if (left := end - self.budget.clock()) > 0.05 and not self.budget.stopped:
                workers = self.params.workers
                lower = self._cp_sat(below(cp, value), left, workers=workers, effort=effort, may_be_infeasible=True)
            if lower.infeasible:
                return Answer(solutions, value, second.prover)
            if not lower.solutions:
                tell = self.budget.note if alone and not self.budget.stopped else self.budget.log
                claim = f"{second.label} reported that nothing is below {value}"
                tell(f"{claim}; this was not confirmed in time and does not count")
                return Answer(solutions)
            solutions = [*lower.solutions, *solutions]
        claimed, value = max(value, found.bound), objective_of(cp, solutions[0])
        self.budget.note(
            f"{second.label} reported that nothing is below {claimed}, but {value} is possible: its bound was dropped"
        )
        return Answer(solutions, was_wrong=True)

    def _cp_sat(
        self,
        cp: cp_model.CpModel,
        seconds: float,
        *,
        workers: int,
        second: Submit | None = None,
        effort: float | None = None,
        may_be_infeasible: bool = False,
        trusts_infeasible: bool = True,
        strategy: str = "",
    ) -> Answer:
        """CP-SAT, until a second solver has its answer.

        With `trusts_infeasible` an unproved "infeasible" ends it too: it only decides what is tried next.
        """
        params, end = self.params, self.budget.clock() + seconds
        reported: Reported = []
        if params.deterministic:
            limits: dict[str, Any] = {"effort": seconds if effort is None else min(seconds, effort)}
        else:
            limits = {"effort": effort, "seconds": seconds}
        cp_sat = CpSat(**limits, workers=workers, seed=params.seed, log=params.log)
        if strategy != INTERLEAVED_STRATEGY and (
            workers > 1 or may_be_infeasible or len(cp.proto.variables) > SMALL_MODEL
        ):
            strategy = LP_STRATEGY
        cp_sat.add_strategy(strategy)

        def is_over() -> bool:
            if second is not None and second() is not None:
                answered = [one for one, _ in reported]
                reported.extend(
                    (one, found) for one in self._beside if one not in answered and (found := one.poll()) is not None
                )
            believed = may_be_infeasible and trusts_infeasible
            return any(found.optimal or (found.infeasible and believed) for _, found in reported) or self.budget.stopped

        status = cp_sat.run(cp, is_over)
        self.is_reproducible &= workers == 1 and not reported
        self.budget.charge(cp_sat.solver.response_proto.deterministic_time)
        answer = _of_cp_sat(cp, cp_sat, status, may_be_infeasible=may_be_infeasible)
        if not reported or second is None or (rows := second()) is None:
            return answer
        for solver, found in reported:
            solver.log(found)
        values = [found.values for _, found in reported if found.values is not None]
        if answer.infeasible or status == cp_model.OPTIMAL:
            return better(answer, Answer(values))
        if any(found.infeasible for _, found in reported):
            return answer if answer.solutions else Answer([], infeasible=may_be_infeasible)
        was_wrong = False
        for one in reported:
            theirs = self._confirmed(cp, rows, one, end, effort if may_be_infeasible else None)
            answer, was_wrong = better(answer, theirs), was_wrong or theirs.was_wrong
        if was_wrong and (left := end - self.budget.clock()) > 0.05 and not self.budget.stopped:
            more = self._cp_sat(
                cp, left, workers=workers, effort=effort, may_be_infeasible=may_be_infeasible, strategy=strategy
            )
            answer = better(answer, more)
        return answer


def _effort(cp: cp_model.CpModel) -> float:
    return SINGLE_EFFORT * max(1.0, len(cp.proto.variables) / SMALL_MODEL)


def _safe_rows(cp: cp_model.CpModel, linear_model: MakeRows | None = None) -> LinearModel | None:
    """The model for second solvers; None where its coefficients are too large for a float solver's tolerances."""
    rows = linearize.linear_model(cp) if linear_model is None else linear_model()
    return rows if rows.is_safe_in_floats else None


def _of_cp_sat(cp: cp_model.CpModel, cp_sat: CpSat, status: Any, *, may_be_infeasible: bool) -> Answer:
    if status == cp_model.MODEL_INVALID:
        raise SolverDisagreementError(f"the model is invalid: {cp.validate()}")
    if status == cp_model.INFEASIBLE:
        if may_be_infeasible:
            return Answer([], prover=CP_SAT, infeasible=True)
        raise SolverDisagreementError("the model is infeasible although the empty decision is feasible")
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Answer([cp_sat.values], _rounded_up(cp_sat.solver.best_objective_bound), CP_SAT)
    return UNKNOWN


def _rounded_up(bound: float) -> int:
    """The least integer not below the bound. CP-SAT counts in integers but reports its bound as a float, with an
    error far below the tolerance; without it a bound of 2.0000000001 would become 3.
    """
    return ceil(bound - TOLERANCE)
