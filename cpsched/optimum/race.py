"""One minimisation, two solvers: CP-SAT here, HiGHS on the same rows in a child; best value and best bound win."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import ceil
from typing import Any

from ortools.sat.python import cp_model

from cpsched.errors import CpschedError
from cpsched.optimum import linear
from cpsched.optimum.highs import TOLERANCE, Answer
from cpsched.optimum.racer import Racer
from cpsched.optimum.rows import Rows
from cpsched.options import Prover

ALONE_EFFORT = 0.6
"""CP-SAT has this much deterministic time to itself on one worker: most levels need no race, and end the same way.

More where a sketch has more variables than FEW.
"""


APPROACH_EFFORT = 2.0
"""The same for a search around a decision that is to become as good as is known to be possible."""


FEW = 2000
"""Up to this many variables CP-SAT first works alone, with its own mix; beyond it, it leans on the LP and is raced."""


LONE = 1000
"""The same for a sketch."""


class MismatchError(CpschedError):
    """Solver and judge disagree: a bug here, never a result."""


@dataclass
class Settings:
    """How hard to try; deterministic means one worker, no race, and a time limit on work instead of wall time."""

    time_limit: float = 60.0
    workers: int = 2
    seed: int = 1
    deterministic: bool = False
    prover: Prover = "both"
    log: Callable[[str], None] | None = None


@dataclass
class Outcome:
    """Assignments found, best first, and the best bound with who holds it; None is no bound."""

    solutions: list[list[int]]
    bound: int | None = None
    holder: str = ""

    @property
    def refuted(self) -> bool:
        """Whether the holder says that there is none."""
        return not self.solutions and self.bound is None and bool(self.holder)


class Race:
    """Runs minimisations one after another until it is interrupted."""

    def __init__(self, settings: Settings):
        self.settings = settings
        self.interrupted = False
        self.raced = False
        """Whether more than one worker had a say, so that another run may find another assignment that is as good."""
        self._racer = Racer()
        self._effort = 0.0

    def interrupt(self) -> None:
        """End the minimisation under way, and all that follow at once."""
        self.interrupted = True

    def warm_up(self) -> None:
        """Start the child if it is going to be asked."""
        settings = self.settings
        if settings.prover != "cp-sat" and settings.workers > 1 and not settings.deterministic:
            self._racer.start()

    def close(self) -> None:
        """End the child."""
        self._racer.stop()

    def clock(self) -> float:
        """Seconds that count against the time limit: of wall time, or of work done if that is to be deterministic."""
        return self._effort if self.settings.deterministic else time.monotonic()

    def say(self, line: str) -> None:
        """Tell the log."""
        if self.settings.log is not None:
            self.settings.log(line)

    def minimise(
        self,
        cp: cp_model.CpModel,
        seconds: float,
        rows_of: Callable[[], Rows] | None = None,
        *,
        may_fail: bool = False,
        patience: float = 1.0,
    ) -> Outcome:
        """Minimise the model's objective within the time; a sketch comes with a cheaper way to its rows.

        Where no assignment may satisfy the model, only so much is tried as CP-SAT does by itself, times the patience.
        """
        settings, sketch, size = self.settings, rows_of is not None, len(cp.proto.variables)
        effort = _effort(cp) * patience
        if settings.prover == "highs" and (rows := _safe_rows(cp, rows_of)) is not None:
            return self._highs(rows, seconds)
        if self._single:
            most = effort if may_fail else None
            return self._cp_sat(cp, seconds, workers=1, effort=most, lean=sketch, may_fail=may_fail)
        end = self.clock() + seconds
        outcome, rival = Outcome([]), self._rival(cp, rows_of, end)
        if sketch or size <= FEW:
            early = rival if sketch and size > LONE else None
            outcome = self._cp_sat(cp, seconds, workers=1, effort=effort, rival=early, lean=sketch, may_fail=may_fail)
        left = end - self.clock()
        if left > 0.05 and not self.interrupted and not may_fail and not self._closed(cp, outcome):
            workers = settings.workers if sketch or settings.prover != "both" else max(1, settings.workers - 1)
            outcome = _better(outcome, self._cp_sat(cp, left, workers=workers, rival=rival))
        self._racer.drop()
        return outcome

    def repeat(self, cp: cp_model.CpModel, seconds: float) -> list[int] | None:
        """An assignment that satisfies the model, the same in every run; None if CP-SAT by itself does not find one."""
        outcome = self._cp_sat(cp, seconds, workers=1, effort=_effort(cp), may_fail=True)
        return outcome.solutions[0] if outcome.solutions else None

    def find(self, cp: cp_model.CpModel, seconds: float, effort: float, *, alone: bool) -> Outcome:
        """An assignment that satisfies the model, if CP-SAT finds one within a measured effort or else in a race."""
        if self.interrupted:
            return Outcome([])
        if self.settings.prover == "highs":
            rows = _safe_rows(cp)
            return Outcome([]) if rows is None else self._highs(rows, seconds)
        end = self.clock() + seconds
        outcome = self._cp_sat(cp, seconds, workers=1, effort=effort, may_fail=True)
        left = end - self.clock()
        if outcome.solutions or outcome.holder or alone or self._single or left < 0.05:
            return outcome
        rival = self._rival(cp, None, end)
        outcome = self._cp_sat(cp, left, workers=self.settings.workers, rival=rival, may_fail=True)
        self._racer.drop()
        return outcome

    def approach(self, cp: cp_model.CpModel, seconds: float) -> Outcome:
        """A better assignment than the one hinted, where the bound is known: CP-SAT looks around it.

        Its strategies take turns by work done, not by time, so that it ends the same way in every run.
        """
        effort = APPROACH_EFFORT * max(1.0, len(cp.proto.variables) / FEW)
        return self._cp_sat(cp, seconds, workers=1, effort=effort, may_fail=True, in_turns=True)

    def completed(self, cp: cp_model.CpModel) -> list[int] | None:
        """All values that go with those hinted; None if there are none."""
        solver = cp_model.CpSolver()
        parameters: Any = solver.parameters
        parameters.fix_variables_to_their_hinted_value = True
        parameters.num_workers = 1
        parameters.catch_sigint_signal = False
        if self.settings.deterministic:
            parameters.max_deterministic_time = 10.0
        else:
            parameters.max_time_in_seconds = 10.0
        if solver.solve(cp) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return None
        return list(solver.response_proto.solution)

    @property
    def _single(self) -> bool:
        """Whether one worker does it all."""
        return self.settings.deterministic or self.settings.workers < 2

    def _rival(self, cp: cp_model.CpModel, rows_of: Callable[[], Rows] | None, end: float) -> Callable[[], bool]:
        """Lets HiGHS have a go the first time it is called; whether it may and can be trusted with the numbers."""

        @cache
        def ask() -> bool:
            rows = _safe_rows(cp, rows_of) if self.settings.prover == "both" else None
            if rows is not None:
                self._racer.ask(rows, end - self.clock())
            return rows is not None

        return ask

    def _highs(self, rows: Rows, seconds: float) -> Outcome:
        """HiGHS by itself; an interruption and a child that does not keep to its time leave no answer."""
        self._racer.ask(rows, seconds)
        end = time.monotonic() + seconds + 1
        answer = None
        while answer is None and time.monotonic() < end and not self.interrupted:
            answer = self._racer.answer(0.02)
        if answer is None:
            self._racer.drop()
            return Outcome([])
        self._tell(answer)
        return Outcome([], holder="highs") if answer.infeasible else _of_highs(answer)

    def _tell(self, answer: Answer) -> None:
        status = "optimal" if answer.optimal else "infeasible" if answer.infeasible else "open"
        self.say(f"highs: {status}, bound {answer.bound}")

    def _closed(self, cp: cp_model.CpModel, outcome: Outcome) -> bool:
        return any(objective_of(cp, solution) == outcome.bound for solution in outcome.solutions)

    def _cp_sat(
        self,
        cp: cp_model.CpModel,
        seconds: float,
        *,
        workers: int,
        rival: Callable[[], bool] | None = None,
        effort: float | None = None,
        may_fail: bool = False,
        lean: bool = False,
        in_turns: bool = False,
    ) -> Outcome:
        solver = cp_model.CpSolver()
        parameters: Any = solver.parameters
        parameters.num_workers = workers
        if effort is not None:
            parameters.max_deterministic_time = effort
        parameters.random_seed = self.settings.seed
        if self.settings.deterministic:
            parameters.max_deterministic_time = seconds if effort is None else min(seconds, effort)
        else:
            parameters.max_time_in_seconds = max(0.01, seconds)
        if self.settings.log is not None:
            parameters.log_search_progress = True
            parameters.log_to_stdout = False
            solver.log_callback = self.settings.log
        parameters.catch_sigint_signal = False
        if in_turns:
            parameters.interleave_search = True
            parameters.interleave_batch_size = 1
            parameters.subsolvers.append("default_lp")
        elif workers > 1 or may_fail or lean or len(cp.proto.variables) > FEW:
            parameters.subsolvers.append("max_lp")
        status, answer = self._wait(solver, cp, rival, may_fail)
        if answer is not None:
            self._tell(answer)
        self.raced |= workers > 1 or answer is not None
        self._effort += solver.response_proto.deterministic_time
        if may_fail and status == cp_model.INFEASIBLE:
            return Outcome([], holder="cp-sat")
        if may_fail and answer is not None and answer.infeasible and status == cp_model.UNKNOWN:
            return Outcome([], holder="highs")
        return _combined(cp, solver, status, answer)

    def _wait(
        self, solver: cp_model.CpSolver, cp: cp_model.CpModel, rival: Callable[[], bool] | None, may_fail: bool
    ) -> tuple[Any, Answer | None]:
        """Let CP-SAT work in a thread, so that this one asks the other solver and hears of it and of interruptions."""
        box: list[Any] = []
        thread = threading.Thread(target=lambda: box.append(solver.solve(cp)), daemon=True)
        answer: Answer | None = None
        thread.start()
        try:
            race = rival is not None and rival()
            while thread.is_alive():
                thread.join(0.005)
                if race and answer is None:
                    answer = self._racer.answer()
                if self.interrupted or (answer is not None and (answer.optimal or (may_fail and answer.infeasible))):
                    solver.stop_search()
        except BaseException:
            # A thread that outlives the interpreter's end would take the process down with it.
            solver.stop_search()
            thread.join()
            raise
        return box[0], answer


def _effort(cp: cp_model.CpModel) -> float:
    return ALONE_EFFORT * max(1.0, len(cp.proto.variables) / FEW)


def _safe_rows(cp: cp_model.CpModel, rows_of: Callable[[], Rows] | None = None) -> Rows | None:
    """The model for HiGHS; None where its numbers are too large for what that solver forgives."""
    rows = linear.rows_of(cp) if rows_of is None else rows_of()
    return rows if rows.are_moderate else None


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
    theirs = _of_highs(answer)
    return _better(outcome, theirs) if theirs.solutions or theirs.holder else outcome


def _of_highs(answer: Answer) -> Outcome:
    solutions = [] if answer.values is None else [answer.values]
    return Outcome(solutions) if answer.bound is None else Outcome(solutions, answer.bound, "highs")


def _better(one: Outcome, other: Outcome) -> Outcome:
    """All assignments of both and the higher bound."""
    bound, holder = max(
        ((o.bound, o.holder) for o in (one, other) if o.bound is not None), default=(None, ""), key=lambda pair: pair[0]
    )
    return Outcome([*other.solutions, *one.solutions], bound, holder)


def _whole(bound: float) -> int:
    """The least whole number not below the bound, with the solver's own rounding forgiven."""
    return ceil(bound - TOLERANCE)
