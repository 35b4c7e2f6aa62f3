"""Trying changes out: is the job placed in the changed cluster, and how little is enough?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from cpsched import engines
from cpsched.explanation.changes import Change, applied
from cpsched.explanation.goal import Clock, Goal, decision_with, is_large
from cpsched.instance import Instance
from cpsched.objectives import OF_VICTIMS
from cpsched.optimum.queries.feasibility import Demand, UndecidedError
from cpsched.options import Options
from cpsched.policy import Policy
from cpsched.rules import Decision
from cpsched.snapshot import Snapshot
from cpsched.solution import SolutionStatus

Changes = tuple[Change, ...]


@dataclass(frozen=True)
class Lever:
    """A change that comes in steps: version(1) is the smallest, version(most) more than could ever be needed."""

    version: Callable[[int], Change]
    most: int

    @property
    def largest(self) -> Change:
        """The change at its largest."""
        return self.version(self.most)


@dataclass
class Progress:
    """How far the search for repairs came, by kind of repair."""

    kind: str = ""
    """The kind that is being looked for."""
    begun: set[str] = field(default_factory=set)
    """Kinds about which a question was asked while there was time."""
    open: set[str] = field(default_factory=set)
    """Kinds about which a question stayed open: time ran out, or not all there is to try was tried."""


@dataclass(frozen=True)
class Trial:
    """One session and what is to be reached in it while those ahead of the job keep what they have."""

    instance: Instance
    policy: Policy
    goal: Goal
    best: Decision
    clock: Clock
    thorough: bool = False
    """Whether only what the optimum of the changed cluster does counts."""
    progress: Progress = field(default_factory=Progress)

    @cached_property
    def snapshot(self) -> Snapshot:
        """The session before any change."""
        return Snapshot(self.instance, self.policy)

    def reached(self, changes: Sequence[Change]) -> bool:
        """Whether the goal is reached in the changed cluster; what stays open counts as no, and is noted."""
        if not self.has_time():
            return False
        instance = applied(self.instance, changes)
        try:
            if self._asks_optimum:
                return self._optimum_reaches(instance)
            snapshot = Snapshot(instance, self.policy)
            only = {self.goal.job, *self.ahead(snapshot)} if is_large(snapshot) else None
            return (
                decision_with(snapshot, self.goal, self.wanted(snapshot), self.clock.part(0.1), only=only) is not None
            )
        except UndecidedError:
            self.leaves_open()
            return False

    def has_time(self) -> bool:
        """Whether another question can be asked; either way it is noted for the kind of repair at hand."""
        if self.clock.left <= 0:
            self.leaves_open()
            return False
        self.progress.begun.add(self.progress.kind)
        return True

    def leaves_open(self) -> None:
        """Note that not everything is known about the kind of repair at hand."""
        self.progress.open.add(self.progress.kind)

    def wanted(self, snapshot: Snapshot) -> Demand:
        """The goal, with what those ahead get and what victims it costs them left as it is."""
        levels = tuple(level for level in self.goal.levels_ahead(snapshot) if level[0] in OF_VICTIMS)
        return replace(self.goal.wanted(self.ahead(snapshot), levels), reference=self.best)

    def ahead(self, snapshot: Snapshot) -> list[str]:
        """Those ahead who still want something."""
        ahead = self.goal.jobs_ahead(self.best)
        return [job for job in ahead if job in snapshot.jobs and snapshot.jobs[job].pending]

    @cached_property
    def _asks_optimum(self) -> bool:
        """Whether what is ahead does not tell the goal from what is reached already, so that only the optimum can."""
        if self.thorough:
            return True
        try:
            found = decision_with(self.snapshot, self.goal, self.wanted(self.snapshot), self.clock.part(0.1))
        except UndecidedError:
            self.leaves_open()
            return False
        return found is not None

    def _optimum_reaches(self, instance: Instance) -> bool:
        if self.clock.left <= 0:
            raise UndecidedError
        limit = max(0.05, self.clock.left * 0.1)
        options = Options(time_limit=limit, workers=1, deterministic=self.clock.deterministic)
        solution, decision = engines.decide("optimal", instance, self.policy, options)
        if self.goal.is_met(decision):
            return True
        if solution.status is not SolutionStatus.OPTIMAL:
            self.clock.spend(limit)
            raise UndecidedError
        return False

    def smallest(self, levers: Sequence[Lever]) -> Changes:
        """Of levers that together suffice at their largest those that are needed, each as small as the others allow."""
        needed = list(levers)
        for lever in levers:
            others = [one for one in needed if one is not lever]
            if others and self.reached([one.largest for one in others]):
                needed = others
        steps = [lever.most for lever in needed]
        for place, lever in enumerate(needed):
            others_now = [one.version(n) for one, n in zip(needed, steps, strict=True) if one is not lever]
            steps[place] = self.fewest(lever, others_now)
        return tuple(lever.version(n) for lever, n in zip(needed, steps, strict=True))

    def fewest(self, lever: Lever, others: Sequence[Change] = ()) -> int:
        """The fewest steps that suffice, given that all of them do; more never hurts."""
        low, high = 1, lever.most
        while low < high:
            middle = (low + high) // 2
            if self.reached([*others, lever.version(middle)]):
                high = middle
            else:
                low = middle + 1
        return high
