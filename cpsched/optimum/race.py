"""One minimisation, two solvers: CP-SAT here, HiGHS on the same rows in a child; best value and best bound win."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from math import ceil
from typing import Any

from ortools.sat.python import cp_model

from cpsched.errors import CpschedError
from cpsched.optimum.highs import TOLERANCE, Answer, Racer
from cpsched.optimum.rows import rows_of

ALONE_EFFORT = 0.6
"""CP-SAT has this much deterministic time to itself on one worker: most levels need no race, and end the same way."""


class MismatchError(CpschedError):
    """Solver and judge disagree: a bug here, never a result."""


@dataclass
class Settings:
    """How hard to try; deterministic means one worker and no race."""

    time_limit: float = 60.0
    workers: int = 2
    seed: int = 1
    deterministic: bool = False


@dataclass
class Outcome:
    """Assignments found, best first, and the best bound with who holds it; None is no bound."""

    solutions: list[list[int]]
    bound: int | None = None
    holder: str = ""


class Race:
    """Runs minimisations one after another; Ctrl-C ends the one under way and all that follow."""

    def __init__(self, settings: Settings):
        self.settings = settings
        self.interrupted = False
        self._racer = Racer()

    def close(self) -> None:
        """End the child."""
        self._racer.stop()

    def minimise(self, cp: cp_model.CpModel, seconds: float) -> Outcome:
        """Minimise the model's objective within the time."""
        end = time.monotonic() + seconds
        single = self.settings.deterministic or self.settings.workers < 2
        outcome = self._cp_sat(cp, seconds, workers=1, race=False, effort=None if single else ALONE_EFFORT)
        left = end - time.monotonic()
        if single or left <= 0.05 or self.interrupted or self._closed(cp, outcome):
            return outcome
        raced = self._cp_sat(cp, left, workers=max(1, self.settings.workers - 1), race=True)
        return _better(outcome, raced)

    def _closed(self, cp: cp_model.CpModel, outcome: Outcome) -> bool:
        return bool(outcome.solutions) and objective_of(cp, outcome.solutions[0]) == outcome.bound

    def _cp_sat(
        self, cp: cp_model.CpModel, seconds: float, *, workers: int, race: bool, effort: float | None = None
    ) -> Outcome:
        solver = cp_model.CpSolver()
        parameters: Any = solver.parameters
        parameters.num_workers = workers
        if effort is not None:
            parameters.max_deterministic_time = effort
        parameters.random_seed = self.settings.seed
        parameters.max_time_in_seconds = seconds
        parameters.catch_sigint_signal = False
        if parameters.num_workers > 1:
            parameters.subsolvers.append("max_lp")
        if race:
            self._racer.ask(rows_of(cp), seconds)
        status, answer = self._wait(solver, cp, race)
        if race and answer is None:
            self._racer.stop()
        return _combined(cp, solver, status, answer)

    def _wait(self, solver: cp_model.CpSolver, cp: cp_model.CpModel, race: bool) -> tuple[Any, Answer | None]:
        """Let CP-SAT work in a thread, so that this one hears of Ctrl-C and of the other solver."""
        box: list[Any] = []
        thread = threading.Thread(target=lambda: box.append(solver.solve(cp)), daemon=True)
        answer: Answer | None = None
        thread.start()
        while thread.is_alive():
            try:
                thread.join(0.02)
                if race and answer is None and (answer := self._racer.answer()) is not None and answer.optimal:
                    solver.stop_search()
            except KeyboardInterrupt:
                self.interrupted = True
                solver.stop_search()
        return box[0], answer


def objective_of(cp: cp_model.CpModel, values: list[int]) -> int:
    """The model's objective under an assignment."""
    objective: Any = cp.proto.objective
    total: int = round(objective.offset) + sum(
        c * values[v] for v, c in zip(objective.vars, objective.coeffs, strict=True)
    )
    return total


def _combined(cp: cp_model.CpModel, solver: cp_model.CpSolver, status: Any, answer: Answer | None) -> Outcome:
    if status == cp_model.MODEL_INVALID:
        raise MismatchError(f"the model is invalid: {cp.validate()}")
    if status == cp_model.INFEASIBLE:
        raise MismatchError("the model excludes even the decision to do nothing")
    outcome = Outcome([])
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        outcome = Outcome([list(solver.response_proto.solution)], _whole(solver.best_objective_bound), "cp-sat")
    if answer is None:
        return outcome
    theirs = Outcome([] if answer.values is None else [answer.values])
    if answer.bound is not None and abs(answer.bound) < 2**53:
        theirs = Outcome(theirs.solutions, _whole(answer.bound), "highs")
    return _better(outcome, theirs) if theirs.solutions or theirs.holder else outcome


def _better(one: Outcome, other: Outcome) -> Outcome:
    """All assignments of both and the higher bound."""
    bound, holder = max(
        ((o.bound, o.holder) for o in (one, other) if o.bound is not None), default=(None, ""), key=lambda pair: pair[0]
    )
    return Outcome([*other.solutions, *one.solutions], bound, holder)


def _whole(bound: float) -> int:
    """The least whole number not below the bound, with the solver's own rounding forgiven."""
    return ceil(bound - TOLERANCE)
