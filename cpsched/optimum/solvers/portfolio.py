"""One minimisation, two solvers: CP-SAT here, HiGHS on the same rows in a child; best value and best bound win."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import ceil
from typing import Any

from ortools.sat.python import cp_model

from cpsched.optimum.disagreement import MismatchError
from cpsched.optimum.solvers import linearize as linear
from cpsched.optimum.solvers.confirm import below, exact_bound
from cpsched.optimum.solvers.cp_sat import CpSat
from cpsched.optimum.solvers.highs import TOLERANCE, Answer
from cpsched.optimum.solvers.linear_model import Rows
from cpsched.optimum.solvers.worker import Racer
from cpsched.options import Prover
from cpsched.solution import ProverName

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


LEAN, IN_TURNS = "max_lp", "default_lp"
"""Strategies of CP-SAT: one that leans on the LP, and one that takes turns with others by work done."""


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
    holder: ProverName = ""
    refuted: bool = False
    """Whether a solver says that there is no assignment; that is proved only if the holder is named."""
    misled: bool = False
    """Whether HiGHS made a claim that turned out to be wrong, so that more can be found out without it."""


Rival = Callable[[], Rows | None]
"""Asks HiGHS the first time it is called; the rows that it was given, None if it is not asked."""


class Race:
    """Runs minimisations one after another until it is interrupted."""

    def __init__(self, settings: Settings):
        self.settings = settings
        self.interrupted = False
        self.raced = False
        """Whether more than one worker had a say, so that another run may find another assignment that is as good."""
        self.notes: list[str] = []
        """What the user is told besides the result."""
        self._racer = Racer()
        self._racer_lost = False
        self._effort = 0.0

    @property
    def stopped(self) -> bool:
        """Whether all is to end at once: by an interruption, or because the only solver that was wanted is gone."""
        return self.interrupted or (self._racer_lost and self.settings.prover == "highs")

    def interrupt(self) -> None:
        """End the minimisation under way, and all that follow at once."""
        self.interrupted = True

    def warm_up(self) -> None:
        """Start the child if it is going to be asked."""
        settings = self.settings
        if settings.prover != "cp-sat" and settings.workers > 1 and not settings.deterministic and not self._racer_lost:
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

    def note(self, text: str) -> None:
        """Tell the user, once, and the log."""
        self.say(text)
        if text not in self.notes:
            self.notes.append(text)

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
        end, before = self.clock() + seconds, Outcome([])
        if self.settings.prover == "highs" and (rows := _safe_rows(cp, rows_of)) is not None:
            before = self._highs(cp, rows, end, may_fail=may_fail)
            if not before.misled or end <= self.clock():
                return before
        return _better(before, self._minimised(cp, end, rows_of, may_fail=may_fail, patience=patience))

    def _minimised(
        self, cp: cp_model.CpModel, end: float, rows_of: Callable[[], Rows] | None, *, may_fail: bool, patience: float
    ) -> Outcome:
        """CP-SAT first by itself, then with all workers and HiGHS beside it."""
        settings, sketch, size = self.settings, rows_of is not None, len(cp.proto.variables)
        effort, seconds, lean = _effort(cp) * patience, end - self.clock(), LEAN if sketch else ""
        if self._single:
            most = effort if may_fail else None
            return self._cp_sat(cp, seconds, workers=1, effort=most, subsolver=lean, may_fail=may_fail)
        outcome, rival = Outcome([]), self._rival(cp, rows_of, end)
        if sketch or size <= FEW:
            early = rival if sketch and size > LONE else None
            outcome = self._cp_sat(
                cp, seconds, workers=1, effort=effort, rival=early, subsolver=lean, may_fail=may_fail
            )
        left = end - self.clock()
        if left > 0.05 and not self.stopped and not may_fail and not self._closed(cp, outcome):
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
        if self.stopped:
            return Outcome([])
        end = self.clock() + seconds
        if self.settings.prover == "highs":
            rows = _safe_rows(cp)
            outcome = Outcome([]) if rows is None else self._highs(cp, rows, end, may_fail=True)
            left = end - self.clock()
            if not outcome.refuted or alone or left < 0.05:
                return outcome
            # Floats prove no such thing: CP-SAT is asked the same.
            return self._cp_sat(cp, left, workers=self.settings.workers, may_fail=True)
        outcome = self._cp_sat(cp, seconds, workers=1, effort=effort, may_fail=True)
        left = end - self.clock()
        if outcome.solutions or outcome.refuted or alone or self._single or left < 0.05:
            return outcome
        rival = self._rival(cp, None, end)
        outcome = self._cp_sat(cp, left, workers=self.settings.workers, rival=rival, may_fail=True, heeds_no=False)
        self._racer.drop()
        return outcome

    def approach(self, cp: cp_model.CpModel, seconds: float) -> Outcome:
        """A better assignment than the one hinted, where the bound is known: CP-SAT looks around it.

        Its strategies take turns by work done, not by time, so that it ends the same way in every run.
        """
        effort = APPROACH_EFFORT * max(1.0, len(cp.proto.variables) / FEW)
        return self._cp_sat(cp, seconds, workers=1, effort=effort, may_fail=True, subsolver=IN_TURNS)

    def completed(self, cp: cp_model.CpModel) -> list[int] | None:
        """All values that go with those hinted; None if there are none."""
        cp_sat = CpSat(effort=10.0) if self.settings.deterministic else CpSat(seconds=10.0)
        cp_sat.parameters.fix_variables_to_their_hinted_value = True
        return cp_sat.values if cp_sat.run(cp) in (cp_model.OPTIMAL, cp_model.FEASIBLE) else None

    @property
    def _single(self) -> bool:
        """Whether one worker does it all."""
        return self.settings.deterministic or self.settings.workers < 2

    def _rival(self, cp: cp_model.CpModel, rows_of: Callable[[], Rows] | None, end: float) -> Rival:
        @cache
        def ask() -> Rows | None:
            wanted = self.settings.prover == "both" and not self._racer_lost
            rows = _safe_rows(cp, rows_of) if wanted else None
            if rows is not None:
                self._racer.ask(rows, end - self.clock())
            return rows

        return ask

    def _highs(self, cp: cp_model.CpModel, rows: Rows, end: float, *, may_fail: bool) -> Outcome:
        """HiGHS by itself; an interruption and a child that does not keep to its time leave no answer."""
        self._racer.ask(rows, end - self.clock())
        late, answer = end + 1, None
        while answer is None and self.clock() < late and not self.stopped:
            answer = self._heard(0.02)
        if answer is None:
            self._racer.drop()
            return Outcome([])
        self._tell(answer)
        if answer.infeasible:
            if not may_fail:
                self.note("HiGHS reported that a model is infeasible which is not; this was ignored")
            return Outcome([], refuted=may_fail, misled=not may_fail)
        return self._believed(cp, rows, answer, end)

    def _heard(self, patience: float = 0.0) -> Answer | None:
        """The answer of HiGHS if there is one; a child that is gone is not waited for, nor asked again."""
        answer = self._racer.answer(patience)
        if answer is None and (how := self._racer.lost()) is not None:
            self._racer_lost = True
            rest = "the levels that are open stay so" if self.settings.prover == "highs" else "CP-SAT goes on alone"
            self.note(f"the second solver (HiGHS) {how}: {rest}")
        if answer is not None and answer.failed:
            self.note("the second solver (HiGHS) failed on a question: it has no answer to it")
        return answer

    def _believed(
        self, cp: cp_model.CpModel, rows: Rows, answer: Answer, end: float, effort: float | None = None
    ) -> Outcome:
        """What can be believed of HiGHS: assignments, which were checked, and an optimum that is confirmed.

        Confirmed it is by a bound in whole numbers, or by CP-SAT, which finds nothing below it.
        """
        solutions = [] if answer.values is None else [answer.values]
        if not answer.optimal or answer.bound is None:
            return Outcome(solutions)
        value, alone = objective_of(cp, solutions[0]), self.settings.prover == "highs"
        if value >= answer.bound:
            if exact_bound(rows, relaxed=alone) >= value:
                return Outcome(solutions, value, "highs")
            found = Outcome([])
            if (left := end - self.clock()) > 0.05 and not self.stopped:
                workers = self.settings.workers
                found = self._cp_sat(below(cp, value), left, workers=workers, effort=effort, may_fail=True)
            if found.refuted:
                return Outcome(solutions, value, "highs")
            if not found.solutions:
                tell = self.note if alone and not self.stopped else self.say
                tell(f"HiGHS reported that nothing is below {value}; this was not confirmed in time and does not count")
                return Outcome(solutions)
            solutions = [*found.solutions, *solutions]
        claimed, value = max(value, answer.bound), objective_of(cp, solutions[0])
        self.note(f"HiGHS reported that nothing is below {claimed}, but {value} is possible: its bound was dropped")
        return Outcome(solutions, misled=True)

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
        rival: Rival | None = None,
        effort: float | None = None,
        may_fail: bool = False,
        heeds_no: bool = True,
        subsolver: str = "",
    ) -> Outcome:
        """CP-SAT, until a rival has its answer; one that says no is heeded where that need not be proved."""
        settings, end = self.settings, self.clock() + seconds
        answers: list[Answer] = []
        if settings.deterministic:
            limits: dict[str, Any] = {"effort": seconds if effort is None else min(seconds, effort)}
        else:
            limits = {"effort": effort, "seconds": seconds}
        cp_sat = CpSat(**limits, workers=workers, seed=settings.seed, log=settings.log)
        if subsolver == IN_TURNS:
            cp_sat.parameters.interleave_search = True
            cp_sat.parameters.interleave_batch_size = 1
        elif workers > 1 or may_fail or len(cp.proto.variables) > FEW:
            subsolver = LEAN
        if subsolver:
            cp_sat.parameters.subsolvers.append(subsolver)

        def is_over() -> bool:
            if not answers and rival is not None and rival() is not None and (heard := self._heard()) is not None:
                answers.append(heard)
            if any(answer.optimal or (answer.infeasible and may_fail and heeds_no) for answer in answers):
                return True
            return self.stopped

        status = cp_sat.run(cp, is_over)
        self.raced |= workers > 1 or bool(answers)
        self._effort += cp_sat.solver.response_proto.deterministic_time
        outcome = _of_cp_sat(cp, cp_sat, status, may_fail=may_fail)
        if not answers or rival is None or (rows := rival()) is None:
            return outcome
        [answer] = answers
        self._tell(answer)
        if outcome.refuted or status == cp_model.OPTIMAL:
            return _better(outcome, Outcome([] if answer.values is None else [answer.values]))
        if answer.infeasible:
            return outcome if outcome.solutions else Outcome([], refuted=may_fail)
        theirs = self._believed(cp, rows, answer, end, effort if may_fail else None)
        outcome, left = _better(outcome, theirs), end - self.clock()
        if theirs.misled and left > 0.05 and not self.stopped:
            more = self._cp_sat(cp, left, workers=workers, effort=effort, may_fail=may_fail, subsolver=subsolver)
            outcome = _better(outcome, more)
        return outcome


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


def _of_cp_sat(cp: cp_model.CpModel, cp_sat: CpSat, status: Any, *, may_fail: bool) -> Outcome:
    if status == cp_model.MODEL_INVALID:
        raise MismatchError(f"the model is invalid: {cp.validate()}")
    if status == cp_model.INFEASIBLE:
        if may_fail:
            return Outcome([], holder="cp-sat", refuted=True)
        raise MismatchError("the model is infeasible although the empty decision is feasible")
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Outcome([cp_sat.values], _whole(cp_sat.solver.best_objective_bound), "cp-sat")
    return Outcome([])


def _better(one: Outcome, other: Outcome) -> Outcome:
    """All assignments of both and the higher bound; without any, the refutation, rather a proved one."""
    solutions = [*other.solutions, *one.solutions]
    refuting = [found for found in (one, other) if found.refuted]
    if refuting and not solutions:
        return max(refuting, key=lambda found: bool(found.holder))
    bounded = [found for found in (one, other) if found.bound is not None]
    best = max(bounded, key=lambda found: found.bound or 0, default=Outcome([]))
    return Outcome(solutions, best.bound, best.holder)


def _whole(bound: float) -> int:
    """The least whole number not below the bound, with the solver's own rounding forgiven."""
    return ceil(bound - TOLERANCE)
