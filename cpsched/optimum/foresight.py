"""Foresight: all levels on a sketch of the session first, where they are settled quickly.

A sketch admits every decision of the session, so what is best there is a bound; and a decision that reaches what was
foreseen on all levels is the best one on all of them at once.
"""

from __future__ import annotations

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
from cpsched.optimum.variables import sum_of

SEES_TASKS = frozenset({"queue_deficit_max", "queue_deficit_total", "tasks_bound", "tasks_placed", "resources_placed"})
"""Levels that are better the more tasks are placed."""

NOT_SKETCHED = frozenset({"nodes_used"})
"""Levels that a sketch knows nothing of."""


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
        if len(self.sketch.cp.proto.variables) > LONE:
            race.warm_up()
        for (name, priority), values in zip(self._plan, settled, strict=False):
            if name not in NOT_SKETCHED:
                for step, value in zip(steps_of(self.sketch.variables, name, priority), values, strict=False):
                    self._pin(step, value)

    def look(self, end: float) -> None:
        """Settle level after level, until one stays open."""
        known: dict[Any, Foreseen] = {}
        for position in range(self._begin, len(self._plan)):
            name, priority = self._plan[position]
            if name in NOT_SKETCHED:
                return
            self.race.say(f"sketch of {name if priority is None else f'{name}[{priority}]'}")
            settled: list[Foreseen] = []
            for step in steps_of(self.sketch.variables, name, priority):
                form = _form(step)
                foreseen = known.get(form) or self._minimised(step, position, end)
                if foreseen is None:
                    return
                if form not in known:
                    self._pin(step, foreseen.value)
                settled.append(foreseen)
                known[form] = replace(foreseen, seconds=0.0)
            self.levels.append(settled)

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
        for index, value in enumerate(self.values or []):
            model.add_hint(model.get_int_var_from_proto_index(index), value)
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


def _form(step: Step) -> tuple[Any, ...]:
    """What is minimised, so that two ways to say the same are recognised."""
    flat = cp_model.FlatIntExpr(step.expr)
    return flat.offset, *sorted((x.index, c) for x, c in zip(flat.vars, flat.coeffs, strict=True))
