"""What is asked for: that a job, or one more task of it, is placed while those ahead of it keep what they have."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from cpsched.explanation.lifting import Lifted
from cpsched.explanation.requirements import Requirement
from cpsched.objectives import level_plan
from cpsched.optimum.queries.feasibility import Demand, Effort, Limit, UndecidedError, find
from cpsched.options import Options
from cpsched.policy.levels import LevelRef
from cpsched.rules import Decision
from cpsched.snapshot import Snapshot

LEAST_EFFORT = 0.001
"""Deterministic time that every question counts for, so that they come to an end."""
LARGE = 100_000
"""Pending tasks times nodes from which on only the job itself and those ahead of it take part in a question."""


class Clock:
    """How much time is left for an explanation; `now` tells the time in seconds."""

    deterministic = False

    def __init__(self, seconds: float, now: Callable[[], float] = time.monotonic):
        self._now = now
        self._end = now() + seconds

    @property
    def left(self) -> float:
        """Seconds left."""
        return self._end - self._now()

    def part(self, share: float, most: float = math.inf) -> Limit:
        """A share of what is left; UndecidedError if nothing is."""
        if (left := self.left) <= 0:
            raise UndecidedError
        return self._limit(min(max(0.05, left * share), most))

    def spend(self, effort: float) -> None:
        """A search took so much deterministic time; this clock looks at the time itself."""

    def _limit(self, seconds: float) -> Limit:
        return seconds


class WorkClock(Clock):
    """The same in deterministic time: only what questions and searches take passes."""

    deterministic = True

    def __init__(self, effort: float):
        self._spent = 0.0
        super().__init__(effort, now=lambda: self._spent)

    def spend(self, effort: float) -> None:
        """A question took so much."""
        self._spent += max(effort, LEAST_EFFORT)

    def _limit(self, seconds: float) -> Limit:
        return Effort(seconds, self.spend)


def clock_of(options: Options) -> Clock:
    """The clock that the options ask for."""
    return WorkClock(options.time_limit) if options.deterministic else Clock(options.time_limit)


@dataclass(frozen=True)
class Goal:
    """A job to be served, or with `task` one more of its tasks that are like this one."""

    job: str
    task: str | None = None
    identical: frozenset[str] = frozenset()
    """The task and those of its job that are just like it."""
    alike: int = 0
    """How many of them are placed already."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """For a task: how many tasks every job is given in the decision that leaves it out."""

    def wanted(self, ahead: Collection[str] = (), levels: tuple[LevelRef, ...] = ()) -> Demand:
        """The goal, with these jobs and levels left as the reference has them."""
        if self.task is None:
            return Demand(served=frozenset({self.job, *ahead}), levels=levels)
        counts = {job: self.counts.get(job, 0) + (job == self.job) for job in ahead}
        return Demand(alike={self.task: self.alike + 1}, tasks=counts, levels=levels)

    def is_met(self, decision: Decision) -> bool:
        """Whether the decision serves the job, or places one more of its tasks that are like the one asked for."""
        if self.task is None:
            return self.job in decision.placed_by_job
        return sum(task in decision.placed for task in self.identical) > self.alike

    def jobs_ahead(self, best: Decision) -> list[str]:
        """Jobs served in the decision that the levels put before this one or beside it."""
        jobs = best.snapshot.jobs
        served = [key for key in best.placed_by_job if self.task is not None or key != self.job]
        if self.task is None:
            starving = {job.key for job in best.snapshot.starving}
            served = [k for k in served if k in starving and jobs[k].priority >= jobs[self.job].priority]
        return sorted(served, key=lambda key: (-jobs[key].priority, key))

    def levels_ahead(self, snapshot: Snapshot) -> list[LevelRef]:
        """Levels that come before the one that would count this job or task; admission counts job by job."""
        plan = level_plan(snapshot)
        own = (
            LevelRef("jobs_admitted", snapshot.jobs[self.job].priority)
            if self.task is None
            else LevelRef("tasks_placed")
        )
        before = plan[: plan.index(own)] if own in plan else plan
        return [level for level in before if level.name != "jobs_admitted"]


def decision_with(
    snapshot: Snapshot,
    goal: Goal,
    wanted: Demand,
    limit: Limit,
    lifted: Collection[Requirement] = (),
    only: Collection[str] | None = None,
) -> Decision | None:
    """A feasible decision that reaches the goal with some requirements lifted, None if there is none."""
    return find(Lifted(snapshot, goal.job, lifted, only=only, apart=wanted.tasks), wanted, limit)


def is_large(snapshot: Snapshot) -> bool:
    """Whether questions about all jobs at once take too long."""
    return sum(len(job.pending) for job in snapshot.jobs.values()) * len(snapshot.instance.nodes) > LARGE
