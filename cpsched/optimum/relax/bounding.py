"""Foresight: all levels on a sketch of the session first, where they are settled quickly.

A sketch admits every decision of the session, so what is best there is a bound; and a decision that reaches what was
foreseen on all levels is the best one on all of them at once.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, cast

from ortools.sat.python import cp_model

from cpsched.check import Decision
from cpsched.objectives import level_plan
from cpsched.optimum.model.constraints.gang import enough
from cpsched.optimum.model.objective.levels import steps_of
from cpsched.optimum.model.objective.stage import Step
from cpsched.optimum.model.session_model import Program
from cpsched.optimum.model.variables import Variables, sum_of, value_in
from cpsched.optimum.relax.relaxed_model import Detail, Sketch
from cpsched.optimum.relax.stage_bounds import Foreseen, Hopes
from cpsched.optimum.solvers.linearize import Linearisation
from cpsched.optimum.solvers.portfolio import LONE, Outcome, Race, objective_of

SEES_TASKS = frozenset({"queue_deficit_max", "queue_deficit_total", "tasks_bound", "tasks_placed", "resources_placed"})
"""Levels that are better the more tasks are placed."""

ATTEMPTS = 8
"""How often a question to an exact sketch is repeated after the judge refused the answer and the rows know better."""

PATIENCE = 3
"""How many times as much is tried to find what is known to be possible in a sketch as what is only hoped for; but no
more than such a part of the time that is left."""

HOPING = 0.1
"""Which part of the time that is left may go by while hopes are gathered."""

SUSPECTS = (SEES_TASKS, frozenset({"victim_priority_sum", "victim_count", "victim_start_time"}))
"""Levels whose hopes are most often in vain; the likeliest are suspected first."""

OFTEN_LESS = frozenset({("tasks_bound", 0), ("tasks_placed", 0)})
"""Steps that seldom are as good in the session as in a sketch."""

HOPELESS = ("nodes_used", 0)
"""A step whose hope is in vain wherever nodes are left empty: without wholeness each is used in part."""


class Ahead(NamedTuple):
    """A step that is to be settled: of which level in the plan, which of its steps, and whether it is the last."""

    position: int
    name: str
    number: int
    step: Step
    last: bool

    @property
    def sort(self) -> tuple[str, int]:
        """What its hope is trusted by."""
        return self.name, self.number


class Hope(NamedTuple):
    """The best that a step can be if those before it are, and whether the assignment at hand is as good."""

    ahead: Ahead
    foreseen: Foreseen
    met: bool


class Trial(NamedTuple):
    """What was settled; whether nothing doubtful was, because a hope is in vain or not, or all came out as hoped."""

    settled: list[Foreseen]
    failed: bool = False
    in_vain: bool = False
    as_hoped: bool = False


class Foresight:
    """The levels of a session on its sketch, from one on.

    `levels` are those that were settled, each with its `steps`; `values` is an assignment that has them all, and
    `decision` what it stands for if the sketch is exact. `open` are the steps of the level after them as far as they
    are known, the last of them only as a bound.
    """

    def __init__(
        self,
        program: Program,
        race: Race,
        settled: Sequence[Sequence[int]],
        detail: Detail = Detail.POOLS,
        before: Foresight | None = None,
    ):
        """`before` looked at the same levels with less detail: what is best there is a bound here."""
        self.race, self._program, self._given, self._detail = race, program, settled, detail
        self.sketch = Sketch(program, detail)
        self._linear = Linearisation()
        self._hopes = Hopes(self.sketch.cp, self._linear, relaxed=race.settings.prover == "both")
        self.levels: list[list[Foreseen]] = []
        self.steps: list[list[Step]] = []
        self.open: list[Foreseen] = []
        self.values: list[int] | None = None
        self.decision: Decision | None = None
        self._bounds = [] if before is None else [step for level in before.levels for step in level]
        self._plan = level_plan(program.snapshot)
        self._tiers = sum(name == "jobs_admitted" for name, _ in self._plan)
        self._starving = {job.key for job in program.snapshot.starving}
        self._steps = self._made(len(settled))
        self._waiting: list[Ahead] = []
        self._distrusted: set[tuple[str, int]] = {HOPELESS}
        if self.sketch.is_exact:
            self._distrusted |= OFTEN_LESS
        if len(self.sketch.cp.proto.variables) > LONE:
            race.warm_up()
        _pin_levels(self.sketch, self._plan, settled)

    @property
    def falls_short(self) -> bool:
        """Whether it did not come to all that is known from before, though it is as good as far as it came."""
        return self.sketch.is_exact and bool(self._bounds)

    def look(self, end: float) -> None:
        """Settle step after step, many at once as long as what is hoped for comes true, until one stays open."""
        level: list[Foreseen] = []
        steps: list[Step] = []
        reach = sys.maxsize
        started = self.race.clock()
        while hopes := self._hoped(reach, started + HOPING * (end - started)):
            doubtful = [number for number, hope in enumerate(hopes) if not hope.met]
            trial = self._tried(hopes, doubtful, started, end)
            started = self.race.clock()
            for hope, foreseen in zip(hopes, trial.settled, strict=False):
                self._hopes.settle(hope.ahead.step, foreseen)
                self._bounds = self._bounds[1:] if self._bounds and self._bounds[0].value == foreseen.value else []
                _pin(self.sketch, hope.ahead.step, foreseen.value)
                level.append(foreseen)
                steps.append(hope.ahead.step)
                if hope.ahead.last:
                    self.levels.append(level)
                    self.steps.append(steps)
                    level, steps = [], []
            left = hopes[len(trial.settled) :]
            if trial.failed and not trial.in_vain and self.falls_short:
                return
            if doubtful == [len(trial.settled)] or self.race.stopped or self.race.clock() >= end:
                self.open = [*level, left[0].foreseen] if left else level
                return
            if not trial.in_vain or not self._blame(hopes[len(trial.settled) : doubtful[-1]]):
                reach = max(1, len(doubtful) // 2) if trial.failed else reach * (1 + trial.as_hoped)
            self._waiting = [hope.ahead for hope in left] + self._waiting

    def repeat(self, end: float) -> None:
        """Where solvers raced, take the assignment that one of them finds by itself, in this run as in any other."""
        left = end - self.race.clock()
        if not self.levels or not self.race.raced or self.race.stopped or left <= 0:
            return
        sketch = Sketch(self._program, self._detail)
        found = [[foreseen.value for foreseen in level] for level in self.levels]
        _pin_levels(sketch, self._plan, [*self._given, *found])
        for row in self._reductions(sketch.variables, len(self._given) + len(found) - 1, alone=False):
            sketch.cp.add(row)
        for _ in range(ATTEMPTS):
            values = self.race.repeat(sketch.cp, max(0.05, end - self.race.clock()))
            if values is None or self._takes(sketch, values):
                return

    def _blame(self, hopes: list[Hope]) -> bool:
        """Trust no longer in those of the hopes that are the likeliest to be in vain; whether there are any."""
        for names in SUSPECTS:
            suspects = {hope.ahead.sort for hope in hopes if not hope.met and hope.ahead.name in names}
            if not suspects <= self._distrusted:
                self._distrusted |= suspects
                return True
        return False

    def _made(self, begin: int) -> Iterator[Ahead]:
        for position in range(begin, len(self._plan)):
            name, priority = self._plan[position]
            if not self.sketch.knows(name):
                return
            self.race.say(f"sketch of {name if priority is None else f'{name}[{priority}]'}")
            steps = steps_of(self.sketch.variables, name, priority)
            for number, step in enumerate(steps):
                yield Ahead(position, name, number, step, last=step is steps[-1])

    def _ahead(self) -> Iterator[Ahead]:
        """Steps that are not settled, those first that were tried."""
        while (ahead := self._waiting.pop(0) if self._waiting else next(self._steps, None)) is not None:
            yield ahead

    def _hoped(self, reach: int, until: float) -> list[Hope]:
        """Hopes for the steps ahead, until so many are doubtful, or one is that is not to be trusted."""
        found: list[Hope] = []
        values, bounds, doubtful = self.values, self._bounds, False
        for ahead in self._ahead():
            if self.sketch.is_exact and doubtful and (ahead.sort in self._distrusted or not bounds):
                # Exact questions take long: what is known from before is asked for by itself.
                self._waiting.insert(0, ahead)
                break
            foreseen, met = self._hopes.of(ahead.step, _worth(ahead.step, values), bounds[0] if bounds else None)
            # Bounds from before hold as long as what comes before them is as good as it was there.
            bounds = bounds[1:] if bounds and bounds[0].value == foreseen.value else []
            found.append(Hope(ahead, foreseen, met))
            if not met:
                values, reach, doubtful = None, reach - 1, True
                if not reach or ahead.sort in self._distrusted or not self._hopes.are_founded:
                    break
                if self.race.clock() > until or self.race.stopped:
                    break
            self._hopes.assume(ahead.step, foreseen)
        self._hopes.doubt()
        return found

    def _tried(self, hopes: list[Hope], doubtful: list[int], started: float, end: float) -> Trial:
        """Look for an assignment that is as good as hoped on all of them, and on the last doubtful one the best.

        The time since `started` counts for that one.
        """
        met = [hope.foreseen for hope in hopes]
        if not doubtful:
            return Trial(met)
        last = doubtful[-1]
        if end <= self.race.clock() or self.race.stopped:
            return Trial(met[: doubtful[0]], failed=True)
        value, outcome = self._found(hopes[:last], hopes[last], end, may_fail=len(doubtful) > 1)
        if value is None:
            return Trial(met[: doubtful[0]], failed=True, in_vain=outcome.refuted)
        hope, sort = met[last], hopes[last].ahead.sort
        (self._distrusted.discard if value == hope.value else self._distrusted.add)(sort)
        seconds = self.race.clock() - started
        if value == hope.value and hope.holder != "bound":
            settled = [*met[:last], replace(hope, seconds=seconds), *met[last + 1 :]]
            return Trial(settled, as_hoped=True)
        if value != outcome.bound:
            return Trial(met[:last])
        return Trial([*met[:last], Foreseen(value, outcome.holder, seconds)], as_hoped=value == hope.value)

    def _found(self, before: Sequence[Hope], goal: Hope, end: float, *, may_fail: bool) -> tuple[int | None, Outcome]:
        """The goal's value in the best assignment that counts, which is kept, and what the solvers say in the end.

        Where others may be needed, what is hoped for is first looked for without them.
        """
        if self.sketch.is_exact and self._sees_no_tasks(goal.ahead.position):
            value, outcome = self._asked(before, goal, end, may_fail=True, alone=True)
            if value == goal.foreseen.value:
                return value, Outcome([], value, goal.foreseen.holder)
            if may_fail and not outcome.refuted:
                return None, outcome
        return self._asked(before, goal, end, may_fail=may_fail, alone=False)

    def _asked(
        self, before: Sequence[Hope], goal: Hope, end: float, *, may_fail: bool, alone: bool
    ) -> tuple[int | None, Outcome]:
        value = None
        for _ in range(ATTEMPTS):
            model, lasting = self._model(before, goal, alone=alone)
            rows, seconds, patience = partial(self._linear.rows_of, model, lasting), end - self.race.clock(), 1
            if self.sketch.is_exact:
                seconds, patience = seconds / (2 if may_fail else 1), PATIENCE
            outcome = self.race.minimise(model, max(0.05, seconds), rows, may_fail=may_fail, patience=patience)
            refused = False
            for values in sorted(outcome.solutions, key=partial(objective_of, model)):
                if self._takes(self.sketch, values):
                    value = objective_of(model, values)
                    break
                refused = True
            if not refused or end <= self.race.clock() or self.race.stopped:
                break
        return value, outcome

    def _takes(self, sketch: Sketch, values: list[int]) -> bool:
        """Keep the assignment, unless the sketch is exact and the judge refuses what it stands for."""
        if sketch.is_exact:
            decision = sketch.decision(values)
            if decision is None:
                return False
            self.decision = decision
        self.sketch, self.values = sketch, values
        return True

    def _model(self, before: Sequence[Hope], goal: Hope, *, alone: bool) -> tuple[cp_model.CpModel, int]:
        """The goal as good as can be, where all before it are as good as hoped; and how many rows are there to stay."""
        expr = goal.ahead.step.expr
        rows = [row for hope in before for row in hope.ahead.step.no_worse(hope.foreseen.value)]
        rows += [expr >= goal.foreseen.value]
        rows += self._reductions(self.sketch.variables, goal.ahead.position, alone=alone)
        model: Any = self.sketch.cp.clone()
        lasting = len(model.proto.constraints)
        model.minimize(expr)
        for row in rows:
            model.add(row)
        if self.values:
            model.proto.solution_hint.vars.extend(range(len(self.values)))
            model.proto.solution_hint.values.extend(self.values)
        return cast(cp_model.CpModel, model), lasting

    def _sees_no_tasks(self, position: int) -> bool:
        """Whether no level up to this one is better the more tasks are placed."""
        return SEES_TASKS.isdisjoint(name for name, _ in self._plan[: position + 1])

    def _reductions(self, v: Variables, position: int, *, alone: bool) -> list[Any]:
        """Rows without which a level is no better: what it does not see is left away; with `alone`, come what may."""
        rows: list[Any] = []
        if v.waiting_will_do and all(name != "tasks_bound" for name, _ in self._plan[: position + 1]):
            rows.append(sum_of(list(v.bind.values())) == 0)
        if (alone or v.less_will_do) and self._sees_no_tasks(position):
            priorities = [priority for name, priority in self._plan[: position + 1] if name == "jobs_admitted"]
            lowest = priorities[-1] if 0 < len(priorities) < self._tiers else None
            for jobs in v.classes.jobs:
                if jobs.sample.key not in self._starving or (lowest is not None and jobs.sample.priority < lowest):
                    rows.append(v.served(jobs) == 0)
                else:
                    rows.append(sum_of([count for _, count in v.taken(jobs)]) <= enough(v, jobs) * v.served(jobs))
        return rows


def _worth(step: Step, values: list[int] | None) -> int | None:
    """What the assignment is worth on the step, if that can be told."""
    return None if values is None or step.read is None else step.read(lambda expr: value_in(expr, values))


def _pin_levels(sketch: Sketch, plan: Sequence[tuple[str, int | None]], settled: Sequence[Sequence[int]]) -> None:
    """Let the levels be no worse than these values of their steps."""
    for (name, priority), values in zip(plan, settled, strict=False):
        if sketch.knows(name):
            for step, value in zip(steps_of(sketch.variables, name, priority), values, strict=False):
                _pin(sketch, step, value)


def _pin(sketch: Sketch, step: Step, value: int) -> None:
    for row in step.no_worse(value):
        sketch.cp.add(row)
