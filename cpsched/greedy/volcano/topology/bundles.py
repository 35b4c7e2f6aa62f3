"""Victims that go together: what a gang can spare, or the whole of it; mirrors `actions/utils/bundle.go`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from cpsched.greedy.volcano.amounts import Amounts, give
from cpsched.greedy.volcano.jobs import JobState
from cpsched.greedy.volcano.status import READY, Status
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.resources import THRESHOLD


@dataclass(frozen=True)
class Bundle:
    """Tasks of one job in one domain, taken all or none; `whole` is what the gang cannot spare."""

    whole: bool
    job: JobState
    tasks: tuple[TaskState, ...]

    def worth(self, need: Amounts) -> float:
        """How much of the need it covers for what it costs; a safe one costs nothing."""
        wanted = {name: amount for name, amount in need.items() if amount >= THRESHOLD}
        local = total(self.tasks)
        gain = sum(min(local.get(name, 0), amount) / amount for name, amount in wanted.items())
        cost = 0.0
        if self.whole:
            held = total(tuple(self.job.tasks.values()))
            cost = sum(held.get(name, 0) / amount for name, amount in wanted.items())
        return gain / cost if cost else float("inf")


def total(tasks: Sequence[TaskState]) -> Amounts:
    """What tasks ask for together."""
    amounts: Amounts = {}
    for task in tasks:
        give(amounts, task.request)
    return amounts


def bundles_of(job: JobState, candidates: Sequence[TaskState]) -> list[Bundle]:
    """A safe bundle of what the job can lose and stay ready, and a whole one of the others; upstream's walk."""
    ordered = sorted(candidates, key=lambda task: (task.priority, task.uid))
    if job.ready < job.min_available:
        # The gang is incomplete anyway.
        return [Bundle(False, job, tuple(ordered))]
    spare = _Spare(job)
    marks = [spare.lets_go(task) for task in ordered]
    safe = tuple(task for task, mark in zip(ordered, marks, strict=True) if mark)
    rest = tuple(task for task, mark in zip(ordered, marks, strict=True) if not mark)
    return [Bundle(whole, job, tasks) for whole, tasks in ((False, safe), (True, rest)) if tasks]


class _Spare:
    """How many tasks, tasks of each role and sub-jobs of each policy a job has beyond its minima."""

    def __init__(self, job: JobState):
        self._job, self._tasks = job, job.ready - job.min_available
        self._roles: Counter[str] = Counter()
        if job.roles_count:
            for status in READY:
                self._roles.update(task.role for task in job.by_status[status].values())
            pending = job.by_status[Status.PENDING].values()
            self._roles.update(task.role for task in pending if task.best_effort)
            self._roles.subtract(job.min_by_role)
        self._broken = {one.key for one in job.sub_jobs.values() if not one.is_ready}
        self._groups = Counter(one.group for one in job.sub_jobs.values() if one.is_ready)
        self._groups.subtract(job.min_sub_jobs)

    def lets_go(self, task: TaskState) -> bool:
        """Whether the gang stays ready without the task; if so, it is gone from now on."""
        has_minimum = self._job.roles_count and task.role in self._job.min_by_role
        sub_job = self._job.sub_job_of[task.key]
        group_counts = self._job.has_policies and sub_job.key not in self._broken
        if self._tasks <= 0:
            return False
        if has_minimum and self._roles[task.role] <= 0:
            return False
        if group_counts and self._groups[sub_job.group] <= 0:
            return False
        self._tasks -= 1
        if has_minimum:
            self._roles[task.role] -= 1
        if group_counts:
            self._broken.add(sub_job.key)
            self._groups[sub_job.group] -= 1
        return True


def surviving(bundles: Sequence[Bundle], allowed: Sequence[TaskState]) -> list[Bundle]:
    """What is left of bundles once plugins have spoken: whole ones unbroken, safe ones perhaps smaller."""
    keys = {task.key for task in allowed}
    left = []
    for bundle in bundles:
        kept = tuple(task for task in bundle.tasks if task.key in keys)
        if kept and (len(kept) == len(bundle.tasks) or not bundle.whole):
            left.append(Bundle(bundle.whole, bundle.job, kept))
    return left
