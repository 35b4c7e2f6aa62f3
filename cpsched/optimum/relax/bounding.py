"""Bounding pass: lower bounds for all levels on one relaxed model, and a solution of it that attains them.

Every decision of the session is a solution of a relaxed model, so the lexicographic optimum there is a bound level by
level; and a decision that attains all these bounds is optimal on all these levels at once.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, cast

from ortools.sat.python import cp_model

from cpsched.objectives import level_plan
from cpsched.optimum.model.constraints.gang import enough
from cpsched.optimum.model.level_traits import LEVEL_TRAITS
from cpsched.optimum.model.objective import stages_of
from cpsched.optimum.model.objective.stage import Stage
from cpsched.optimum.model.session_model import SessionModel
from cpsched.optimum.model.variables import Variables, sum_of
from cpsched.optimum.params import BOUNDING_SHARE, EXACT_EFFORT_FACTOR, ROUNDS, SMALL_RELAXATION
from cpsched.optimum.provers import LP
from cpsched.optimum.relax.relaxed_model import Granularity, RelaxedModel
from cpsched.optimum.relax.stage_bounds import StageBound, StageBounds
from cpsched.optimum.solvers.linearize import Linearizer
from cpsched.optimum.solvers.portfolio import Portfolio
from cpsched.optimum.solvers.prover import UNKNOWN, Answer, objective_of
from cpsched.policy.levels import LevelRef
from cpsched.rules import Decision

Plan = Sequence[LevelRef]


class PendingStage(NamedTuple):
    """A stage that is not fixed yet: of which level in the plan, which of its stages, and whether it is the last."""

    position: int
    name: str
    number: int
    stage: Stage
    last: bool

    @property
    def sort(self) -> tuple[str, int]:
        """What its bound is trusted by."""
        return self.name, self.number


class TargetedStage(NamedTuple):
    """A stage with its bound as target, and whether the solution at hand attains it."""

    pending: PendingStage
    target: StageBound
    attained: bool


class BoundingAttempt(NamedTuple):
    """What came of looking for a solution that attains several targets: values of the first stages, all proved."""

    proved: list[StageBound]
    failed: bool = False
    """Nothing beyond what the solution at hand attains was proved."""
    unattainable: bool = False
    """The targets contradict each other: at least one is not attained by any solution."""
    as_targeted: bool = False


class LexicographicBounds:
    """The levels of a session on one relaxed model, from one on.

    `levels` are those that were bounded and attained, each with its `stages`; `values` is a solution that attains them
    all, and `decision` what it stands for if the model is exact. `first_open` are the stages of the level after them
    as far as they are known, the last of them only as a bound.
    """

    def __init__(
        self,
        model: SessionModel,
        portfolio: Portfolio,
        fixed: Sequence[Sequence[int]],
        granularity: Granularity = Granularity.NODE_CLASSES,
        coarser: LexicographicBounds | None = None,
    ):
        """`coarser` bounded the same levels on a coarser model: a bound there is one here."""
        self.portfolio, self.budget = portfolio, portfolio.budget
        self._model, self._given, self._granularity = model, fixed, granularity
        self.relaxed = RelaxedModel(model, granularity)
        self._linear = Linearizer()
        self._bounds = StageBounds(self.relaxed.cp, self._linear, with_lp=LP in portfolio.params.provers)
        self.levels: list[list[StageBound]] = []
        self.stages: list[list[Stage]] = []
        self.first_open: list[StageBound] = []
        self.first_open_stages: list[Stage] = []
        self.values: list[int] | None = None
        self.decision: Decision | None = None
        self._from_coarser = [] if coarser is None else [bound for level in coarser.levels for bound in level]
        self._plan = level_plan(model.snapshot)
        self._admission_levels = sum(name == "jobs_admitted" for name, _ in self._plan)
        self._starving = {job.key for job in model.snapshot.starving}
        self._stages = self._pending_from(len(fixed))
        self._put_back: list[PendingStage] = []
        self._distrusted: set[tuple[str, int]] = set()
        if len(self.relaxed.cp.proto.variables) > SMALL_RELAXATION:
            portfolio.start_worker()
        self._is_exact = self.relaxed.is_exact
        _fix_levels(self.relaxed, self._plan, fixed)

    @property
    def is_incomplete(self) -> bool:
        """Whether it did not reach all levels that the coarser pass did; as far as it came it attains those bounds."""
        return self._is_exact and bool(self._from_coarser)

    def run(self, end: float) -> None:
        """Bound and attain stage after stage, many at once as long as their bounds are attained, until one is open."""
        level: list[StageBound] = []
        stages: list[Stage] = []
        reach = sys.maxsize
        started = self.budget.clock()
        while targets := self._targets(reach, started + BOUNDING_SHARE * (end - started)):
            doubtful = [number for number, target in enumerate(targets) if not target.attained]
            attempt = self._attempt(targets, doubtful, started, end)
            started = self.budget.clock()
            self._bounds.fix([(one.pending.stage, bound) for one, bound in zip(targets, attempt.proved, strict=False)])
            for target, bound in zip(targets, attempt.proved, strict=False):
                self._fix(target.pending.stage, bound)
                level.append(bound)
                stages.append(target.pending.stage)
                if target.pending.last:
                    self.levels.append(level)
                    self.stages.append(stages)
                    level, stages = [], []
            left = targets[len(attempt.proved) :]
            if attempt.failed and not attempt.unattainable and self.is_incomplete:
                return
            if doubtful == [len(attempt.proved)] or self.budget.stopped or self.budget.clock() >= end:
                self.first_open = [*level, left[0].target] if left else level
                self.first_open_stages = [*stages, left[0].pending.stage] if left else stages
                return
            if not attempt.unattainable or not self._distrust(targets[len(attempt.proved) : doubtful[-1]]):
                # Fewer targets at once after a failure, twice as many after a success.
                reach = max(1, len(doubtful) // 2) if attempt.failed else reach * (1 + attempt.as_targeted)
            self._put_back = [target.pending for target in left] + self._put_back

    def take_attained(self, decision: Decision) -> None:
        """Take the levels, from the first on, on which the decision attains a bound that takes no search.

        A decision is a solution of the relaxed model, so nothing has to be found that attains them.
        """
        level: list[StageBound] = []
        stages: list[Stage] = []
        for pending in self._pending():
            started = self.budget.clock()
            bound, attained = self._bounds.bound(pending.stage, pending.stage.value(decision), None)
            if not attained or self.budget.is_used_up:
                return
            bound = replace(bound, seconds=self.budget.clock() - started)
            self._bounds.fix([(pending.stage, bound)])
            self._fix(pending.stage, bound)
            level.append(bound)
            stages.append(pending.stage)
            if pending.last:
                self.levels.append(level)
                self.stages.append(stages)
                level, stages = [], []

    def bounds_given(self, decision: Decision) -> Iterator[tuple[PendingStage, StageBound]]:
        """Every stage's bound by itself, given that all stages before it are no worse than in the decision."""
        for pending in self._pending():
            stage, value = pending.stage, pending.stage.value(decision)
            bound, _ = self._bounds.bound(stage, value, None)
            yield pending, bound
            if self.budget.is_used_up:
                return
            self._bounds.fix([(stage, bound)])
            for row in stage.at_most(value) if bound.value == value else [stage.expr <= value]:
                self.relaxed.cp.add(row)

    def reproduce(self, end: float) -> None:
        """Where solvers ran in parallel, take the solution that one worker finds alone: the same in every run."""
        left = end - self.budget.clock()
        if not self.levels or self.portfolio.is_reproducible or self.budget.stopped or left <= 0:
            return
        relaxed = RelaxedModel(self._model, self._granularity)
        found = [[bound.value for bound in level] for level in self.levels]
        _fix_levels(relaxed, self._plan, [*self._given, *found])
        for row in self._dominance_rows(relaxed.variables, len(self._given) + len(found) - 1, only_counted=False):
            relaxed.cp.add(row)
        for _ in range(ROUNDS):
            values = self.portfolio.reproduce(relaxed.cp, max(0.05, end - self.budget.clock()))
            if values is None or self._accept(relaxed, values):
                return

    def _fix(self, stage: Stage, bound: StageBound) -> None:
        coarser = self._from_coarser
        # Bounds of the coarser pass hold as long as the values before them are the same here as there.
        self._from_coarser = coarser[1:] if coarser and coarser[0].value == bound.value else []
        _fix(self.relaxed, stage, bound.value)

    def _distrust(self, targets: list[TargetedStage]) -> bool:
        """Look for the likeliest of the targets by themselves from now on; whether there are any that are not yet.

        Those that count placements first: where tasks do not fit exactly, a relaxation promises too many.
        """
        missed = [one.pending for one in targets if not one.attained]
        for likely in (
            {one.sort for one in missed if one.stage.counts_placements},
            {one.sort for one in missed if one.stage.is_doubtful},
        ):
            if not likely <= self._distrusted:
                self._distrusted |= likely
                return True
        return False

    def _is_distrusted(self, pending: PendingStage) -> bool:
        return pending.sort in self._distrusted

    def _pending_from(self, begin: int) -> Iterator[PendingStage]:
        for position in range(begin, len(self._plan)):
            level = self._plan[position]
            name, priority = level
            if name in self.relaxed.unbounded_levels:
                return
            if self.budget.is_logged:
                self.budget.log_level("relaxation: level", level)
            stages = stages_of(self.relaxed.variables, name, priority)
            for number, stage in enumerate(stages):
                if stage.is_loose_at_once or (stage.is_loose_in_exact and self._is_exact):
                    self._distrusted.add((name, number))
                yield PendingStage(position, name, number, stage, last=stage is stages[-1])

    def _pending(self) -> Iterator[PendingStage]:
        """Stages that are not fixed, those first that were put back."""
        while (one := self._put_back.pop(0) if self._put_back else next(self._stages, None)) is not None:
            yield one

    def _targets(self, reach: int, until: float) -> list[TargetedStage]:
        """Bounds of the stages ahead, until so many are not attained yet, or one is that is not to be trusted."""
        found: list[TargetedStage] = []
        values, coarser, doubtful = self.values, self._from_coarser, False
        for pending in self._pending():
            if self._is_exact and doubtful and (self._is_distrusted(pending) or not coarser):
                # Questions to an exact model take long: what a coarser one says is looked for by itself.
                self._put_back.insert(0, pending)
                break
            value = None if values is None else pending.stage.value_in(values)
            bound, attained = self._bounds.bound(pending.stage, value, coarser[0] if coarser else None)
            coarser = coarser[1:] if coarser and coarser[0].value == bound.value else []
            found.append(TargetedStage(pending, bound, attained))
            if not attained:
                values, reach, doubtful = None, reach - 1, True
                if not reach or self._is_distrusted(pending) or not self._bounds.has_lp:
                    break
                if self.budget.is_over(until):
                    break
        self._bounds.retract()
        return found

    def _attempt(
        self, targets: list[TargetedStage], doubtful: list[int], started: float, end: float
    ) -> BoundingAttempt:
        """Look for a solution that attains all targets but the last doubtful one, and is best on that one.

        The time since `started` counts for that one.
        """
        known = [target.target for target in targets]
        if not doubtful:
            return BoundingAttempt(known)
        last = doubtful[-1]
        if end <= self.budget.clock() or self.budget.stopped:
            return BoundingAttempt(known[: doubtful[0]], failed=True)
        value, answer = self._solve(targets[:last], targets[last], end, may_be_infeasible=len(doubtful) > 1)
        if value is None:
            return BoundingAttempt(known[: doubtful[0]], failed=True, unattainable=answer.infeasible)
        target, sort = known[last], targets[last].pending.sort
        (self._distrusted.discard if value == target.value else self._distrusted.add)(sort)
        seconds = self.budget.clock() - started
        if value == target.value and target.prover.solver:
            proved = [*known[:last], replace(target, seconds=seconds), *known[last + 1 :]]
            return BoundingAttempt(proved, as_targeted=True)
        if value != answer.bound or answer.prover is None:
            return BoundingAttempt(known[:last])
        return BoundingAttempt(
            [*known[:last], StageBound(value, answer.prover, seconds)], as_targeted=value == target.value
        )

    def _solve(
        self, before: Sequence[TargetedStage], goal: TargetedStage, end: float, *, may_be_infeasible: bool
    ) -> tuple[int | None, Answer]:
        """The goal's value in the best solution accepted, which is kept, and what the solvers answered in the end.

        Where the levels so far count no placements, the target is first looked for with only what they count placed.
        """
        if self._is_exact and not self._counts_placements(goal.pending.position):
            value, answer = self._solve_rounds(before, goal, end, may_be_infeasible=True, only_counted=True)
            if value == goal.target.value:
                return value, Answer([], value, goal.target.prover)
            if may_be_infeasible and not answer.infeasible:
                return None, answer
        return self._solve_rounds(before, goal, end, may_be_infeasible=may_be_infeasible, only_counted=False)

    def _solve_rounds(
        self,
        before: Sequence[TargetedStage],
        goal: TargetedStage,
        end: float,
        *,
        may_be_infeasible: bool,
        only_counted: bool,
    ) -> tuple[int | None, Answer]:
        """Solve; where the checker refuses a solution of an exact model, it is cut off and the model solved again."""
        value, answer = None, UNKNOWN
        for _ in range(ROUNDS):
            model, permanent = self._goal_model(before, goal, only_counted=only_counted)
            linear, seconds, factor = partial(self._linear.linear_model, model, permanent), end - self.budget.clock(), 1
            if self._is_exact:
                # Half the time if others follow: finding out that targets contradict each other is no result.
                seconds, factor = seconds / (2 if may_be_infeasible else 1), EXACT_EFFORT_FACTOR
            answer = self.portfolio.minimize(
                model, max(0.05, seconds), linear, may_be_infeasible=may_be_infeasible, effort_factor=factor
            )
            refused = False
            for values in sorted(answer.solutions, key=partial(objective_of, model)):
                if self._accept(self.relaxed, values):
                    value = objective_of(model, values)
                    break
                refused = True
            if not refused or end <= self.budget.clock() or self.budget.stopped:
                break
        return value, answer

    def _accept(self, relaxed: RelaxedModel, values: list[int]) -> bool:
        """Keep the solution, unless the model is exact and the checker refuses the decision."""
        if self._is_exact:
            decision = relaxed.decision(values)
            if decision is None:
                return False
            self.decision = decision
        self.relaxed, self.values = relaxed, values
        return True

    def _goal_model(
        self, before: Sequence[TargetedStage], goal: TargetedStage, *, only_counted: bool
    ) -> tuple[cp_model.CpModel, int]:
        """Minimise the goal where all before it attain their targets; and how many constraints are permanent."""
        expr = goal.pending.stage.expr
        rows = [row for one in before for row in one.pending.stage.at_most(one.target.value)]
        rows += [expr >= goal.target.value]
        rows += self._dominance_rows(self.relaxed.variables, goal.pending.position, only_counted=only_counted)
        model: Any = self.relaxed.cp.clone()
        permanent = len(model.proto.constraints)
        model.minimize(expr)
        for row in rows:
            model.add(row)
        if self.values:
            model.proto.solution_hint.vars.extend(range(len(self.values)))
            model.proto.solution_hint.values.extend(self.values)
        return cast(cp_model.CpModel, model), permanent

    def _counts_placements(self, position: int) -> bool:
        """Whether a level up to this one is better the more tasks are placed."""
        return any(LEVEL_TRAITS[name].counts_placements for name, _ in self._plan[: position + 1])

    def _dominance_rows(self, v: Variables, position: int, *, only_counted: bool) -> list[Any]:
        """Rows that keep some optimal solution of the levels up to this one, and leave less to search.

        A start can be turned into a reservation where no level so far tells them apart; a job that no level so far
        counts can be left out where placing less breaks no rule, and a counted one gets no more than it needs. With
        `only_counted` the second is done in any case: then it is a restriction, whose solutions are solutions.
        """
        rows: list[Any] = []
        plan = self._plan[: position + 1]
        if v.reserve_dominates_bind and not any(LEVEL_TRAITS[name].counts_binds for name, _ in plan):
            rows.append(sum_of(list(v.bind.values())) == 0)
        if (only_counted or v.fewer_dominate) and not self._counts_placements(position):
            priorities = [priority for name, priority in plan if name == "jobs_admitted"]
            lowest = priorities[-1] if 0 < len(priorities) < self._admission_levels else None
            for jobs in v.classes.jobs:
                job = jobs.representative
                if job.key not in self._starving or (lowest is not None and job.priority < lowest):
                    rows.append(v.served(jobs) == 0)
                else:
                    rows.append(sum_of([count for _, count in v.taken(jobs)]) <= enough(v, jobs) * v.served(jobs))
        return rows


def _fix_levels(relaxed: RelaxedModel, plan: Plan, fixed: Sequence[Sequence[int]]) -> None:
    """Let the levels be no worse than these values of their stages."""
    for (name, priority), values in zip(plan, fixed, strict=False):
        if name not in relaxed.unbounded_levels:
            for stage, value in zip(stages_of(relaxed.variables, name, priority), values, strict=False):
                _fix(relaxed, stage, value)


def _fix(relaxed: RelaxedModel, stage: Stage, value: int) -> None:
    for row in stage.at_most(value):
        relaxed.cp.add(row)
