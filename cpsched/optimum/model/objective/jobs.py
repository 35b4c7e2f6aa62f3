"""jobs_admitted, gangs_broken: levels that count jobs."""

from __future__ import annotations

from typing import Any

from cpsched.optimum.model.minimum import kept
from cpsched.optimum.model.objective.stage import LevelStage, LinearStage
from cpsched.optimum.model.variables import Expr, Variables, sum_of


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
        losers = [v.snapshot.jobs[key] for key in sorted(v.victims_by_job)]
        self._minima = {job.key: kept(v, job) for job in losers if job.is_whole}

    def value_in(self, values: list[int]) -> int | None:  # noqa: D102
        return sum(not minimum.holds(values) for minimum in self._minima.values())

    def at_most(self, value: int) -> list[Any]:
        """Where no gang need be broken, rows per job and no auxiliary variable but for sub-groups."""
        if value:
            return [self.expr <= value]
        return [row for minimum in self._minima.values() for row in minimum.rows(self.v)]

    def _expression(self) -> Expr:
        broken = []
        for key, minimum in self._minima.items():
            flag = self.v.flag(f"{key} is broken")
            minimum.post(self.v, ~flag)
            broken.append(flag)
        return sum_of(list(broken))
