"""victim_max_priority, victim_priority_sum, victim_count, victim_start_time, pdb_violations: levels of victims."""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from math import gcd
from typing import Any

from ortools.sat.python import cp_model

from cpsched import objectives
from cpsched.instance import Task
from cpsched.objectives import PRIORITY_OFFSET, out_of_reach
from cpsched.optimum.model.classes import VictimClass
from cpsched.optimum.model.objective.stage import LevelStage, LinearStage, LpBound, Stage
from cpsched.optimum.model.variables import Expr, Variables, sum_of, value_in, weighted
from cpsched.optimum.model.victims import started
from cpsched.rules import Decision
from cpsched.rules.protections import covers

Victims = list[VictimClass]


def in_question(v: Variables, priority: int | None) -> Victims:
    """The victim classes that a level reads: all, or, with a priority, those that jobs of it are out of reach of."""
    if priority is None:
        return list(v.classes.victims)
    beyond = out_of_reach(v.snapshot, priority)
    return [group for group in v.classes.victims if beyond(group.representative)]


def _among(v: Variables, decision: Decision, groups: Victims) -> list[Task]:
    """The decision's victims that belong to the classes."""
    if len(groups) == len(v.classes.victims) and decision.evicted <= v.class_of_victim.keys():
        return list(decision.victims)
    wanted = {group.index for group in groups}
    return [victim for victim in decision.victims if v.class_of_victim.get(victim.key) in wanted]


class VictimCount(LinearStage):
    """How many tasks are evicted."""

    is_doubtful = True

    def __init__(self, v: Variables, groups: Victims):
        super().__init__(v, sum_of([v.evicted(group) for group in groups]))
        self.groups = groups

    def _value(self, decision: Decision) -> int:
        return objectives.victim_count(_among(self.v, decision, self.groups), self.v.snapshot)


class CountOfPrioritySum(VictimCount):
    """The count as first stage of the priority sum: each victim adds PRIORITY_OFFSET, so fewer victims sum to less."""

    def level_bound(self, bound: int) -> int | None:  # noqa: D102
        lowest = min((group.representative.pod_priority for group in self.groups), default=0)
        return bound * (PRIORITY_OFFSET + lowest)


class SumOfPriorities(LinearStage):
    """The sum of priorities among as many victims: the second stage of the priority sum."""

    is_doubtful = True

    def __init__(self, v: Variables, groups: Victims):
        ranked = [(group.representative.pod_priority, group) for group in groups]
        super().__init__(v, weighted((rank, v.evicted(group)) for rank, group in ranked))
        self.groups = groups
        self.ideal = sum([min(0, rank) * group.most for rank, group in ranked])
        self._common = gcd(*{rank for rank, _ in ranked}) or 1

    def next_value(self, bound: int) -> int:
        """Sums are multiples of what all priorities have in common."""
        return -(-bound // self._common) * self._common

    def level_bound(self, bound: int) -> int | None:
        """Nothing: the level's value includes the count."""
        return None

    def _value(self, decision: Decision) -> int:
        return sum(task.pod_priority for task in _among(self.v, decision, self.groups))


class LiteralPrioritySum(LinearStage):
    """The priority sum as it is written: where priorities are so large that fewer victims could sum to more."""

    is_doubtful = True
    has_decision_variables_only = False
    """Not read off solutions at hand: priorities this large are rare, and the solver may as well be called."""

    def __init__(self, v: Variables, groups: Victims):
        terms = ((group.representative.pod_priority + PRIORITY_OFFSET, v.evicted(group)) for group in groups)
        super().__init__(v, weighted(terms))
        self.groups = groups

    def _value(self, decision: Decision) -> int:
        return objectives.victim_priority_sum(_among(self.v, decision, self.groups), self.v.snapshot)


def priority_sum(v: Variables, groups: Victims) -> list[Stage]:
    """Fewest victims first, then the smallest sum of priorities: exact while the sum is below the offset.

    Two stages of small coefficients instead of one of 2³¹, which no LP can bound to the last digit.
    """
    total = sum([abs(group.representative.pod_priority) * group.most for group in groups])
    if total >= PRIORITY_OFFSET:
        return [LiteralPrioritySum(v, groups)]
    stages: list[Stage] = [CountOfPrioritySum(v, groups)]
    if len({group.representative.pod_priority for group in groups}) > 1:
        stages.append(SumOfPriorities(v, groups))
    return stages


class RankStage(Stage):
    """A value that is one of few: the number of thresholds reached, which is 0 for none.

    The encoding keeps the order of values, so minimising the rank minimises the value (exact).
    """

    def __init__(self, v: Variables, groups: Victims, thresholds: list[int]):
        super().__init__(v)
        self.groups, self.thresholds = groups, thresholds

    @abstractmethod
    def beyond(self, value: int) -> Expr:
        """What must be 0 for the rank to be at most the value."""

    def lower_bound(self, lp: LpBound, known: int, upper: int | None) -> int:
        """By bisection: the LP is asked whether a rank is enough; the expression itself has no useful LP."""
        low, high = known, len(self.thresholds) if upper is None else upper
        while low < high:
            middle = (low + high) // 2
            if (lp(self.beyond(middle)) or 0) > 0:
                low = middle + 1
            else:
                high = middle
        return low


class MaxPriority(RankStage):
    """The highest priority among victims: rank k means that one has at least the k-th lowest priority."""

    def __init__(self, v: Variables, groups: Victims):
        super().__init__(v, groups, sorted({group.representative.pod_priority for group in groups}))
        self._rank_of = {group.index: self.thresholds.index(group.representative.pod_priority) for group in groups}
        self._indices = frozenset(self._rank_of)

    def beyond(self, value: int) -> Expr:  # noqa: D102
        return sum_of(self._above(value))

    def value_in(self, values: list[int]) -> int | None:  # noqa: D102
        gone = (group for group in self.groups if value_in(self.v.evicted(group), values))
        return max((self._rank_of[group.index] + 1 for group in gone), default=0)

    def at_most(self, value: int) -> list[Any]:  # noqa: D102
        return [evicted == 0 for evicted in self._above(value)]

    def level_bound(self, bound: int) -> int | None:  # noqa: D102
        return self.thresholds[bound - 1] if bound > 0 else None

    def is_same_as(self, earlier: Stage) -> bool:  # noqa: D102
        return (
            isinstance(earlier, MaxPriority)
            and bool(self.thresholds)
            and (self.thresholds, self._indices) == (earlier.thresholds, earlier._indices)
        )

    def bound_from(self, earlier: Stage, value: int) -> int | None:
        """Over more victims the highest priority is no lower; ranks are translated by the priorities they mean."""
        if not isinstance(earlier, MaxPriority) or not (self.thresholds and earlier.thresholds):
            return None
        if not earlier._indices <= self._indices:
            return None
        return bisect_left(self.thresholds, earlier.thresholds[value - 1]) + 1 if value else 0

    def _above(self, value: int) -> list[Expr]:
        return [self.v.evicted(group) for group in self.groups if self._rank_of[group.index] >= value]

    def _expression(self) -> Expr:
        v = self.v
        reached = [v.flag(f"victims reach priority {priority}") for priority in self.thresholds]
        for group in self.groups:
            v.cp.add(v.evicted(group) <= group.most * reached[self._rank_of[group.index]])
        for lower, higher in pairwise(reached):
            v.cp.add_implication(higher, lower)
        return sum_of(list(reached))

    def _value(self, decision: Decision) -> int:
        top = objectives.victim_max_priority(_among(self.v, decision, self.groups), self.v.snapshot)
        return 0 if top is None else self.thresholds.index(top) + 1


class StartTime(RankStage):
    """The earliest start among victims of the highest priority; a later start is better.

    Of a class the tasks that started last go first: dominance, as no other level and no rule tells them apart.
    Rank 1 is the latest of all starts, so the earliest start has the highest rank.
    """

    is_doubtful = True

    def __init__(self, v: Variables, groups: Victims):
        super().__init__(v, groups, sorted({started(v.snapshot, task) for group in groups for task in group.tasks}))
        self._priority_of = {group.index: group.representative.pod_priority for group in groups}

    def beyond(self, value: int) -> Expr:  # noqa: D102
        return sum_of(list(self._too_early(value)))

    def value_in(self, values: list[int]) -> int | None:  # noqa: D102
        counts = [(group, value_in(self.v.evicted(group), values)) for group in self.groups]
        gone = [(group, count) for group, count in counts if count]
        top = max((self._priority_of[group.index] for group, _ in gone), default=0)
        last = (group.tasks[count - 1] for group, count in gone if self._priority_of[group.index] == top)
        starts = (started(self.v.snapshot, task) for task in last)
        return self._rank(min(starts, default=None))

    def at_most(self, value: int) -> list[Any]:  # noqa: D102
        return [flag == 0 for flag in self._too_early(value)]

    def level_bound(self, bound: int) -> int | None:  # noqa: D102
        return self.thresholds[len(self.thresholds) - bound] if bound > 0 else None

    def _rank(self, start: int | None) -> int:
        return 0 if start is None else len(self.thresholds) - self.thresholds.index(start)

    def _too_early(self, value: int) -> list[cp_model.IntVar]:
        return self._early[: len(self.thresholds) - value]

    @cached_property
    def _early(self) -> list[cp_model.IntVar]:
        """Per start whether a victim of the highest priority among victims started no later."""
        v = self.v
        flags = [v.flag(f"a top victim started by {start}") for start in self.thresholds]
        place = {start: number for number, start in enumerate(self.thresholds)}
        for lower, higher in pairwise(flags):
            v.cp.add_implication(lower, higher)
        above: Victims = []
        for priority in sorted(set(self._priority_of.values()), reverse=True):
            equal = [group for group in self.groups if self._priority_of[group.index] == priority]
            higher_evicted = v.flag(f"a victim above {priority}") if above else None
            if higher_evicted is not None:
                v.cp.add(sum_of([v.evicted(group) for group in above]) >= 1).only_enforce_if(higher_evicted)
            for group in equal:
                for later, start in self._starts(group):
                    row = v.cp.add(v.evicted(group) <= later + (group.most - later) * flags[place[start]])
                    if higher_evicted is not None:
                        row.only_enforce_if(~higher_evicted)
            above += equal
        return flags

    def _starts(self, group: VictimClass) -> Iterator[tuple[int, int]]:
        """The starts among those of the class that can go, and how many started later; they go in this order."""
        starts = [started(self.v.snapshot, task) for task in group.tasks[: group.most]]
        return ((count, start) for count, start in enumerate(starts) if not count or start != starts[count - 1])

    def _expression(self) -> Expr:
        return sum_of(list(self._early))

    def _value(self, decision: Decision) -> int:
        return self._rank(objectives.victim_start_time(_among(self.v, decision, self.groups), self.v.snapshot))


class PdbViolations(LevelStage, LinearStage):
    """Pods evicted beyond what budgets allow."""

    name = "pdb_violations"
    has_decision_variables_only = False

    def __init__(self, v: Variables, _: int | None):
        excess = []
        for budget in v.snapshot.instance.budgets:
            covered = [group for group in v.classes.victims if covers(budget, group.representative)]
            if covered:
                most = sum(group.most for group in covered)
                over = v.cp.new_int_var(0, most, f"excess of {budget.key}")
                lost = sum_of([v.evicted(group) for group in covered])
                v.cp.add(over >= lost - max(0, budget.status.disruptions_allowed))
                excess.append(over)
        super().__init__(v, sum_of(list(excess)))
