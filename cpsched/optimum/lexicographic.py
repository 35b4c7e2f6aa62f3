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
        value = step.measure(self.best)
        if value == step.least:
            return value, value, "bound"
        end = time.monotonic() + seconds
        while True:
            self._hint()
            solver = self._solver(max(0.05, end - time.monotonic()))
            self.program.cp.minimize(step.expr)
            status = solver.solve(self.program.cp)
            if status == cp_model.MODEL_INVALID:
                raise MismatchError(f"the model is invalid: {self.program.cp.validate()}")
            if status == cp_model.INFEASIBLE:
                raise MismatchError("the model excludes even the decision to do nothing")
            if status == cp_model.UNKNOWN:
                return value, step.least, ""
            if self._accept(solver):
                break
        return self._settled(step, solver, status, value)

    def _settled(self, step: Step, solver: cp_model.CpSolver, status: Any, before: int) -> tuple[int, int, str]:
        value = step.measure(self.best)
        if value > before or value > solver.value(step.expr):
            raise MismatchError(f"the solver claims {solver.value(step.expr)} for a decision worth {value}")
        if status == cp_model.OPTIMAL:
            if value != solver.value(step.expr):
                raise MismatchError(f"the solver proves {solver.value(step.expr)} but finds a decision worth {value}")
            return value, value, "bound" if value == step.least else "cp-sat"
        return value, min(value, max(step.least, ceil(solver.best_objective_bound - 1e-6))), "cp-sat"

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
        """Start from the best decision; helper variables that a new level added are filled in by the solver first."""
        cp: Any = self.program.cp
        cp.clear_hints()
        if self._values is None:
            return
        for index, value in enumerate(self._values):
            cp.add_hint(cp.get_int_var_from_proto_index(index), value)
        if len(self._values) < len(cp.proto.variables):
            solver = self._solver(10.0)
            parameters: Any = solver.parameters
            parameters.fix_variables_to_their_hinted_value = True
            parameters.num_workers = 1
            cp.clear_objective()
            if solver.solve(cp) in (cp_model.OPTIMAL, cp_model.FEASIBLE):
                self._values = list(solver.response_proto.solution)
                self._hint()
