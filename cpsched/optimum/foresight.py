"""Foresight: all levels on a sketch of the session first, where they are settled quickly.

A sketch admits every decision of the session, so what is best there is a bound; and a decision that reaches what was
foreseen on all levels is the best one on all of them at once.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from ortools.sat.python import cp_model

from cpsched.objectives import level_plan
from cpsched.optimum.constraints.gang import enough
from cpsched.optimum.levels import Step, steps_of
from cpsched.optimum.linear import Linearisation
from cpsched.optimum.program import Program, Sketch
from cpsched.optimum.race import LONE, Race, objective_of
from cpsched.optimum.variables import Expr, sum_of, value_in

SEES_TASKS = frozenset({"queue_deficit_max", "queue_deficit_total", "tasks_bound", "tasks_placed", "resources_placed"})
"""Levels that are better the more tasks are placed."""

NOT_SKETCHED = frozenset({"nodes_used"})
"""Levels that a sketch knows nothing of."""


Terms = tuple[int, dict[int, int]]
"""A constant, and the coefficient of every variable."""


@dataclass(frozen=True)
class Foreseen:
    """One step of one level: its best value on the sketch, and who proved that."""

    value: int
    holder: str
    seconds: float


class Foresight:
    """The levels of a session on its sketch, from one on; `values` is an assignment that has all of `levels`."""

    def __init__(self, program: Program, race: Race, settled: Sequence[Sequence[int]]):
        self.race = race
        self.sketch = Sketch(program)
        self._linear = Linearisation()
        self.levels: list[list[Foreseen]] = []
        self.values: list[int] | None = None
        self._plan = level_plan(program.snapshot)
        self._tiers = sum(name == "jobs_admitted" for name, _ in self._plan)
        self._starving = {job.key for job in program.snapshot.starving}
        self._begin = len(settled)
        self._settled: list[tuple[Step, Terms, Foreseen]] = []
        if len(self.sketch.cp.proto.variables) > LONE:
            race.warm_up()
        for (name, priority), values in zip(self._plan, settled, strict=False):
            if name not in NOT_SKETCHED:
                for step, value in zip(steps_of(self.sketch.variables, name, priority), values, strict=False):
                    self._pin(step, value)

    def look(self, end: float) -> None:
        """Settle level after level, until one stays open."""
        for position in range(self._begin, len(self._plan)):
            name, priority = self._plan[position]
            if name in NOT_SKETCHED:
                return
            self.race.say(f"sketch of {name if priority is None else f'{name}[{priority}]'}")
            settled: list[Foreseen] = []
            for step in steps_of(self.sketch.variables, name, priority):
                least, settled_already = self._inherited(step)
                known = settled_already or self._reads(step) == least.value
                foreseen = least if known else self._minimised(step, position, end)
                if foreseen is None:
                    return
                settled.append(foreseen)
                self._settled.append((step, _terms(step.expr), foreseen))
                self._pin(step, foreseen.value)
            self.levels.append(settled)

    def _inherited(self, step: Step) -> tuple[Foreseen, bool]:
        """What can be hoped for at best, as far as earlier steps know, and whether they settled the very same.

        Over more victims nothing is less than over fewer.
        """
        found = Foreseen(step.least, "bound", 0.0)
        terms = _terms(step.expr)
        for earlier, theirs, foreseen in self._settled:
            if theirs == terms:
                return replace(foreseen, seconds=0.0), True
            if step.ladder and earlier.ladder and earlier.among <= step.among:
                value = bisect_left(step.ladder, earlier.ladder[foreseen.value - 1]) + 1 if foreseen.value else 0
            elif _grows(theirs, terms, self.sketch.cp):
                value = foreseen.value
            else:
                continue
            if value > found.value:
                found = replace(foreseen, value=value, seconds=0.0)
        return found, False

    def _reads(self, step: Step) -> int | None:
        """What the assignment at hand is worth on the step, if that can be told."""
        values = self.values
        return None if values is None or step.read is None else step.read(lambda expr: value_in(expr, values))

    def _pin(self, step: Step, value: int) -> None:
        for row in step.no_worse(value):
            self.sketch.cp.add(row)

    def _minimised(self, step: Step, position: int, end: float) -> Foreseen | None:
        """The step's best value; None if it stays open."""
        started = self.race.clock()
        if started >= end or self.race.interrupted:
            return None
        lasting = len(self.sketch.cp.proto.constraints)
        model = self._model(step, position)
        outcome = self.race.minimise(model, end - started, lambda: self._linear.rows_of(model, lasting))
        if not outcome.solutions or outcome.bound is None:
            return None
        best = min(outcome.solutions, key=lambda solution: objective_of(model, solution))
        if objective_of(model, best) > outcome.bound:
            return None
        self.values = best
        return Foreseen(outcome.bound, outcome.holder, self.race.clock() - started)

    def _model(self, step: Step, position: int) -> cp_model.CpModel:
        model: Any = self.sketch.cp.clone()
        model.minimize(step.expr)
        for row in self._reductions(position):
            model.add(row)
        if self.values:
            model.proto.solution_hint.vars.extend(range(len(self.values)))
            model.proto.solution_hint.values.extend(self.values)
        return cast(cp_model.CpModel, model)

    def _reductions(self, position: int) -> list[Any]:
        """Rows without which a level is no better: what it does not see is left away."""
        v, names = self.sketch.variables, [name for name, _ in self._plan[: position + 1]]
        rows: list[Any] = []
        if v.waiting_will_do and "tasks_bound" not in names:
            rows.append(sum_of(list(v.bind.values())) == 0)
        if v.less_will_do and SEES_TASKS.isdisjoint(names):
            priorities = [priority for name, priority in self._plan[: position + 1] if name == "jobs_admitted"]
            lowest = priorities[-1] if 0 < len(priorities) < self._tiers else None
            for jobs in v.classes.jobs:
                if jobs.sample.key not in self._starving or (lowest is not None and jobs.sample.priority < lowest):
                    rows.append(v.served(jobs) == 0)
                else:
                    rows.append(sum_of([count for _, count in v.taken(jobs)]) <= enough(v, jobs) * v.served(jobs))
        return rows


def _terms(expr: Expr) -> Terms:
    flat = cp_model.FlatIntExpr(expr)
    return flat.offset, {x.index: c for x, c in zip(flat.vars, flat.coeffs, strict=True)}


def _grows(fewer: Terms, more: Terms, cp: cp_model.CpModel) -> bool:
    """Whether the second has all of the first and beyond that only what is never negative."""
    if fewer[0] != more[0] or any(more[1].get(x) != c for x, c in fewer[1].items()):
        return False
    variables: Any = cp.proto.variables
    return all(c > 0 and min(variables[x].domain) >= 0 for x, c in more[1].items() if x not in fewer[1])
