"""jobs_admitted, gangs_broken: levels that count jobs."""

from __future__ import annotations

from typing import Any

from cpsched.optimum.model.objective.stage import LevelStage, LinearStage
from cpsched.optimum.model.variables import ZERO, Expr, Variables, sum_of, value_in


class JobsAdmitted(LevelStage, LinearStage):
    """Starving jobs of a priority that are served; maximised."""

    name, sign = "jobs_admitted", -1

    def __init__(self, v: Variables, priority: int | None):
        self.priority = priority or 0
        starving = {job.key for job in v.snapshot.starving if job.priority == priority}
        self._jobs = [jobs for jobs in v.classes.jobs if jobs.representative.key in starving]
        self._served = sum_of([v.served(one) for one in self._jobs])
        self.ideal = -sum(len(one) for one in self._jobs)
        super().__init__(v, -1 * self._served)

    def at_most(self, value: int) -> list[Any]:
        """Where all can be served, each class by itself: that fixes variables, and the sum would not."""
        if value == self.ideal:
            return [self.v.served(one) >= len(one) for one in self._jobs]
        return [-1 * self._served <= value]


class GangsBroken(LevelStage):
    """Jobs that have their minimum before the decision and lose it."""

    name = "gangs_broken"

    def __init__(self, v: Variables, _: int | None):
        super().__init__(v)
        self._left: list[tuple[str, Expr, int]] = []
        """Job, how many tasks more it has afterwards, and the least that keeps its minimum."""
        for key, groups in sorted(v.victims_by_job.items()):
            job = v.snapshot.jobs[key]
            if job.ready >= job.min_available:
                jobs = v.class_by_job.get(key)
                bound = ZERO if jobs is None else sum_of([count for _, count in v.taken(jobs, reserved=False)])
                left = bound - sum_of([v.evicted(group) for group in groups])
                self._left.append((key, left, job.min_available - job.ready))

    def value_in(self, values: list[int]) -> int | None:  # noqa: D102
        return sum(value_in(left, values) < least for _, left, least in self._left)

    def at_most(self, value: int) -> list[Any]:
        """Where no gang need be broken, one row per job and no auxiliary variable."""
        return [self.expr <= value] if value else [left >= least for _, left, least in self._left]

    def _expression(self) -> Expr:
        broken = []
        for key, left, least in self._left:
            flag = self.v.flag(f"{key} is broken")
            self.v.cp.add(left >= least).only_enforce_if(~flag)
            broken.append(flag)
        return sum_of(list(broken))
