"""Whom a task may evict in preempt before plugins are asked; mirrors the filters in `actions/preempt/preempt.go`."""

from __future__ import annotations

from dataclasses import dataclass

from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.status import PREEMPTABLE
from cpsched.greedy.volcano.tasks import TaskState


@dataclass(frozen=True, slots=True)
class Hunt:
    """A task that looks for victims among other jobs of its queue, or within its own job."""

    session: Session
    task: TaskState
    within_job: bool

    def may_go(self, other: TaskState) -> bool:
        """Placed, willing, and no more than best effort if the task itself is."""
        if (
            other.status not in PREEMPTABLE
            or not other.preemptable
            or (self.task.best_effort and not other.best_effort)
        ):
            return False
        if self.within_job:
            return other.job == self.task.job
        jobs = self.session.jobs
        return other.job != self.task.job and other.job in jobs and jobs[other.job].queue == jobs[self.task.job].queue
