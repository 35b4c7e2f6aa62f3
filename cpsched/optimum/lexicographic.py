"""Level by level: solve, let the judge look, fix, go on; nothing is called proved that was not."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from ortools.sat.python import cp_model

from cpsched.check import Decision, Violation, violations
from cpsched.errors import CpschedError
from cpsched.objectives import level_plan, value_of
from cpsched.optimum.extract import extract
from cpsched.optimum.levels import Step, steps_of
from cpsched.optimum.program import Program
from cpsched.snapshot import Snapshot

LAZY_RULES = frozenset({"filters", "charge", "eviction"})
"""Rules that the rows may state too weakly; the checker finds what slipped through and a no-good excludes it."""


class MismatchError(CpschedError):
    """The solver's decision is not what the judge sees: a bug here, never a result."""


@dataclass
class LevelResult:
    """One settled level."""

    name: str
    priority: int | None
    value: int | None
    bound: int | None
    proved: bool
    prover: str
    seconds: float


@dataclass
class Settings:
    """How hard to try."""

    time_limit: float = 60.0
    workers: int = 2
    seed: int = 1
    deterministic: bool = False


@dataclass
class Search:
    """The state of a lexicographic search; `best` is always a decision without findings."""

    snapshot: Snapshot
    settings: Settings
    program: Program = field(init=False)
    best: Decision = field(init=False)
    levels: list[LevelResult] = field(default_factory=list)
    finished: bool = True

    def __post_init__(self) -> None:
        self.program = Program(self.snapshot)
        self.best = Decision(self.snapshot, {}, {})
        self._values: list[int] | None = None
        self._end = time.monotonic() + self.settings.time_limit

    def run(self) -> None:
        """Settle every level in order."""
        plan = level_plan(self.snapshot)
        for position, (name, priority) in enumerate(plan):
            started = time.monotonic()
            share = max(0.1, (self._end - started) * 2 / (len(plan) - position + 1))
            bounds, proved, prover = self._level(steps_of(self.program.variables, name, priority), share)
            value = value_of(self.best, name, priority)
            bound = value if proved else bounds
            self.levels.append(LevelResult(name, priority, value, bound, proved, prover, time.monotonic() - started))

    def _level(self, steps: list[Step], share: float) -> tuple[int | None, bool, str]:
        proved, prover, bound = True, "bound", None
        end = time.monotonic() + share
        for step in steps:
            value, least, by = self._settle(step, max(0.05, end - time.monotonic()))
            self.program.cp.add(step.expr == value if least == value else step.expr <= value)
            if by == "cp-sat":
                prover = by
            if least != value:
                return step.level(least), False, by
        return bound, proved, prover

    def _settle(self, step: Step, seconds: float) -> tuple[int, int, str]:
        """(value, bound, who proved it) of one step; decisions the judge refuses are excluded and the step repeated."""
        flat = cp_model.FlatIntExpr(step.expr)
        if not flat.vars:
            return flat.offset, flat.offset, "bound"
        end = time.monotonic() + seconds
        while True:
            solver = self._solver(max(0.05, end - time.monotonic()))
            cp = self.program.cp
            cp.minimize(step.expr)
            self._hint()
            status = solver.solve(cp)
            if status == cp_model.MODEL_INVALID:
                raise MismatchError(f"the model is invalid: {cp.validate()}")
            if status == cp_model.INFEASIBLE:
                raise MismatchError("the model excludes even the decision to do nothing")
            if status == cp_model.UNKNOWN:
                self.finished = False
                return self._value_of_best(step), step.least, ""
            if self._accept(solver):
                value = solver.value(step.expr)
                least = value if status == cp_model.OPTIMAL else max(step.least, _whole(solver.best_objective_bound))
                self.finished &= status == cp_model.OPTIMAL
                return value, least, "bound" if value == step.least else "cp-sat"

    def _accept(self, solver: cp_model.CpSolver) -> bool:
        """Take the solver's decision if the judge has nothing against it."""
        v = self.program.variables
        binds, reserves, evictions = extract(v, solver.value)
        entered = frozenset(key for key in v.jobs if v.jobs[key].is_pending and solver.value(v.served[key]))
        decision = Decision(self.snapshot, binds, reserves, evictions, entered)
        found = violations(decision)
        if not found:
            self.best = decision
            self._values = list(solver.response_proto.solution)
            return True
        wrong = [item for item in found if item.rule not in LAZY_RULES]
        if wrong:
            raise MismatchError(f"the solver's decision breaks {wrong[0].rule}: {wrong[0].subject} {wrong[0].message}")
        self.program.forbid({count: solver.value(count) for count in self._involved(found)})
        return False

    def _involved(self, found: list[Violation]) -> list[cp_model.IntVar]:
        """The counts that the first violation hangs on; for a filter, those of tasks that it can make meet."""
        v = self.program.variables
        if found[0].rule != "filters":
            return [*v.bind.values(), *v.reserve.values(), *v.evict.values()]
        task = self.snapshot.instance.tasks[found[0].subject]
        tasks, victims = self.program.interplay.company(task)
        placements = [x for places in (v.bind, v.reserve) for (index, _), x in places.items() if index in tasks]
        return placements + [x for (index, _), x in v.evict.items() if index in victims]

    def _solver(self, seconds: float) -> cp_model.CpSolver:
        solver = cp_model.CpSolver()
        parameters: Any = solver.parameters
        parameters.num_workers = 1 if self.settings.deterministic else self.settings.workers
        parameters.random_seed = self.settings.seed
        parameters.max_time_in_seconds = seconds
        if parameters.num_workers > 1:
            parameters.subsolvers.append("max_lp")
        return solver

    def _hint(self) -> None:
        cp: Any = self.program.cp
        cp.clear_hints()
        if self._values is not None:
            for index, value in enumerate(self._values):
                cp.add_hint(cp.get_int_var_from_proto_index(index), value)

    def _value_of_best(self, step: Step) -> int:
        if self._values is None:
            raise MismatchError("no decision was found in time, not even to do nothing")
        return evaluate(step, self._values)


def evaluate(step: Step, values: list[int]) -> int:
    """The step's value under an assignment."""
    flat = cp_model.FlatIntExpr(step.expr)
    total: int = flat.offset + sum(c * values[x.index] for x, c in zip(flat.vars, flat.coeffs, strict=True))
    return total


def _whole(bound: float) -> int:
    """The least whole number that is not below the bound, with the solver's own rounding forgiven."""
    return ceil(bound - 1e-6)
