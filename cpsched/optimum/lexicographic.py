"""Level by level: solve, let the judge look, fix, go on; nothing is called proved that was not."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ortools.sat.python import cp_model

from cpsched.check import Decision, Violation, violations
from cpsched.objectives import comparable, level_plan, value_of, vector
from cpsched.optimum.constraints.charging import refine
from cpsched.optimum.constraints.own_room import own_room
from cpsched.optimum.extract import counts_of, extract
from cpsched.optimum.interrupt import on_interrupt
from cpsched.optimum.levels import Step, steps_of
from cpsched.optimum.program import Program, relaxation
from cpsched.optimum.race import MismatchError, Outcome, Race, Settings, objective_of
from cpsched.optimum.variables import Expr
from cpsched.snapshot import Snapshot

LAZY_RULES = frozenset({"filters", "charge", "eviction"})
"""Rules that the rows may state too weakly; the checker finds what slipped through and a no-good excludes it."""

POOL_EFFORT = 1.0
"""Deterministic time for a level on pools of nodes."""
PLANS = 8
"""How often a plan is tried again after the judge refused what came of it and the rows were made exact there."""
PLAN_EFFORT = 1.0
"""Deterministic time for trying the plan found there on the nodes."""

GIVEN = "given open levels"
"""What is said of a level that was closed after one that stayed open."""


def rank(decision: Decision) -> tuple[tuple[int, int], ...]:
    """The smaller, the better."""
    return comparable(level_plan(decision.snapshot), vector(decision))


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


class Search:
    """A lexicographic search; `best` is always a decision without findings."""

    def __init__(self, snapshot: Snapshot, settings: Settings, hint: Callable[[], Decision] | None = None):
        self.snapshot, self.settings = snapshot, settings
        self.race = Race(settings)
        self._clock = self.race.clock
        self._end = self._clock() + settings.time_limit
        self.program = Program(snapshot)
        self.relaxation = relaxation(self.program)
        self.best = Decision(snapshot, {}, {})
        self.levels: list[LevelResult] = []
        self._values: list[int] | None = None
        self._ask_hint = hint

    def run(self) -> None:
        """Settle every level in order; Ctrl-C and the time limit leave the rest as the best decision has it."""
        plan = level_plan(self.snapshot)
        with on_interrupt(self.race.interrupt), closing(self.race):
            for position, (name, priority) in enumerate(plan):
                self._level(name, priority, left=len(plan) - position)
        for level in self.levels:
            # A decision found for a later level may be better on one that stayed open.
            level.value = value_of(self.best, level.name, level.priority)

    def _level(self, name: str, priority: int | None, left: int) -> None:
        started = self._clock()
        self.race.say(f"level {name if priority is None else f'{name}[{priority}]'}")
        end = started + max(0.1, (self._end - started) * 2 / (left + 1))
        holders: list[str] = []
        open_step: tuple[Step, int] | None = None
        pooled = self._pooled_steps(name, priority)
        for number, step in enumerate(steps_of(self.program.variables, name, priority)):
            bound, holder = self._settle(step, end, pooled[number] if pooled else None, priority)
            value = step.measure(self.best)
            self.program.cp.add(step.expr == value if bound == value else step.expr <= value)
            if pooled and self.relaxation is not None:
                self.relaxation.cp.add(pooled[number].expr <= value)
            holders.append(holder)
            if bound != value:
                open_step = (step, bound)
                break
        if open_step is None:
            solver = next((holder for holder in holders if holder != "bound"), "bound")
            self._record(name, priority, value_of(self.best, name, priority), solver, started, closed=True)
        else:
            self._record(name, priority, open_step[0].level(open_step[1]), holders[-1], started)

    def _record(
        self, name: str, priority: int | None, bound: int | None, holder: str, started: float, *, closed: bool = False
    ) -> None:
        earlier_open = any(not level.proved for level in self.levels)
        prover = f"{holder}, {GIVEN}" if closed and earlier_open and holder else holder
        value = value_of(self.best, name, priority)
        proved = closed and not earlier_open
        self.levels.append(LevelResult(name, priority, value, bound, proved, prover, self._clock() - started))

    def _pooled_steps(self, name: str, priority: int | None) -> list[Step]:
        """The level on pools of nodes, unless it counts nodes."""
        if self.relaxation is None or name == "nodes_used":
            return []
        return steps_of(self.relaxation.variables, name, priority)

    def _glance(self, step: Step, pooled: Step, priority: int | None, end: float) -> int:
        """A bound from the pools of nodes; what is best there is tried on the nodes themselves."""
        assert self.relaxation is not None
        self.relaxation.cp.minimize(pooled.expr)
        outcome = self.race.glance(self.relaxation.cp, end - self._clock(), POOL_EFFORT)
        if outcome.bound is None or not outcome.solutions:
            return step.least
        bound = max(step.least, outcome.bound)
        for _ in range(PLANS):
            if step.measure(self.best) <= bound or self._clock() >= end:
                break
            tried = self.race.glance(self._plan(step, outcome, priority), end - self._clock(), PLAN_EFFORT)
            if not self._refused(tried.solutions, step):
                break
        return bound

    def _plan(self, step: Step, outcome: Outcome, priority: int | None) -> cp_model.CpModel:
        """The program with everybody served whom the pools serve, and nobody below the priority that is at stake."""
        assert self.relaxation is not None
        self._hint()
        plan = self.program.cp.clone()
        plan.minimize(step.expr)
        plan.add(step.expr <= objective_of(self.relaxation.cp, outcome.solutions[0]))
        for row in self._own_room:
            plan.add(row)
        ready, pipelined = self.relaxation.variables.ready, self.relaxation.variables.pipelined
        for jobs in self.program.variables.classes.jobs:
            total = sum(outcome.solutions[0][x[jobs.index].index] for x in (ready, pipelined))
            beneath = priority is not None and jobs.sample.priority < priority
            plan.add(self.program.variables.served(jobs) == (0 if beneath else total))
        return plan

    @cached_property
    def _own_room(self) -> list[Any]:
        return list(own_room(self.program.variables))

    def _settle(self, step: Step, end: float, pooled: Step | None, priority: int | None) -> tuple[int, str]:
        """(bound, who holds it); decisions that the judge refuses are excluded and the step is repeated."""
        least, holder = step.least, "bound"
        if pooled is not None and step.measure(self.best) > least and self._clock() < end:
            least, holder = self._glance(step, pooled, priority, end), "cp-sat"
            if least > step.least:
                self.program.cp.add(step.expr >= least)
        if step.measure(self.best) > least:
            self._take_hint()
        while True:
            value = step.measure(self.best)
            if value == step.least:
                return value, "bound"
            if value == least:
                return value, holder
            seconds = end - self._clock()
            if seconds <= 0 or self.race.interrupted:
                return least, holder if least > step.least else ""
            self._hint()
            self.program.cp.minimize(step.expr)
            outcome = self.race.minimise(self.program.cp, max(0.05, seconds))
            refused = self._refused(outcome.solutions, step)
            value = step.measure(self.best)
            if refused and value != outcome.bound:
                continue
            if outcome.bound is None or outcome.bound <= step.least:
                return (value, "bound") if value == step.least else (step.least, "")
            if outcome.bound > value:
                raise MismatchError(f"{outcome.holder} claims that nothing is below {outcome.bound}, but {value} is")
            return outcome.bound, outcome.holder

    def _refused(self, solutions: list[list[int]], step: Step) -> bool:
        """Take the best of the solutions that the judge accepts; whether a better one was refused."""
        refused = False
        for values in sorted(solutions, key=lambda values: objective_of(self.program.cp, values)):
            if self._accept(values, step):
                break
            refused = True
        return refused

    def _accept(self, values: list[int], step: Step) -> bool:
        """Take a decision if the judge has nothing against it and it is no worse; else exclude it."""

        def value(expr: Expr) -> int:
            flat = cp_model.FlatIntExpr(expr)
            total: int = flat.offset + sum(c * values[x.index] for x, c in zip(flat.vars, flat.coeffs, strict=True))
            return total

        v = self.program.variables
        binds, reserves, evictions, entered = extract(v, value)
        decision = Decision(self.snapshot, binds, reserves, evictions, entered)
        found = violations(decision)
        if not found:
            worth = step.measure(decision)
            if worth > value(step.expr):
                raise MismatchError(f"a decision worth {worth} is claimed to be worth {value(step.expr)}")
            if worth <= step.measure(self.best):
                self.best, self._values = decision, values
            return True
        wrong = [item for item in found if item.rule not in LAZY_RULES]
        if wrong:
            raise MismatchError(f"the decision breaks {wrong[0].rule}: {wrong[0].subject} {wrong[0].message}")

        self._exclude(found, value)
        return False

    def _exclude(self, found: list[Violation], value: Callable[[Expr], int]) -> None:
        """Make the rows exact where they let the decision pass, or exclude the counts that the violation hangs on."""
        v, charged = self.program.variables, [item.subject for item in found if item.rule == "charge"]
        refined = [node for node in charged if refine(self.program.cp, v, node)]
        if refined:
            return
        if found[0].rule == "filters":
            task = self.snapshot.instance.tasks[found[0].subject]
            tasks, victims = self.program.interplay.company(task)
            counts = [x for places in (v.bind, v.reserve) for (index, _), x in places.items() if index in tasks]
            counts += [x for (index, _), x in v.evict.items() if index in victims]
        else:
            counts = [*v.bind.values(), *v.reserve.values(), *v.evict.values()]
        self.program.forbid({count: value(count) for count in counts})

    def _take_hint(self) -> None:
        """Go on from the decision made elsewhere, once, if it is better so far."""
        if self._ask_hint is None:
            return
        hint, self._ask_hint = self._ask_hint(), None
        if not violations(hint) and rank(hint) < rank(self.best):
            self._adopt(hint)

    def _adopt(self, decision: Decision) -> None:
        """Start from a decision made elsewhere."""
        cp: Any = self.program.cp
        cp.clear_hints()
        for variable, count in counts_of(self.program.variables, decision).items():
            cp.add_hint(variable, count)
        if (values := self._completed()) is not None:
            self.best, self._values = decision, values

    def _hint(self) -> None:
        """Start from the best decision; helper variables that a new level added are filled in by the solver first."""
        cp: Any = self.program.cp
        cp.clear_hints()
        if self._values is None:
            return
        for index, value in enumerate(self._values):
            cp.add_hint(cp.get_int_var_from_proto_index(index), value)
        if len(self._values) < len(cp.proto.variables) and (values := self._completed()) is not None:
            self._values = values
            self._hint()

    def _completed(self) -> list[int] | None:
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
        cp: Any = self.program.cp
        cp.clear_objective()
        if solver.solve(cp) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return None
        return list(solver.response_proto.solution)
