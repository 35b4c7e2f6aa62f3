"""What users read about jobs and pods that wait; mirrors `FitError` and `TaskSchedulingReason` of `api`."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from cpsched.greedy.volcano.jobs import JobState
from cpsched.greedy.volcano.status import ALLOCATED, Status
from cpsched.greedy.volcano.tasks import TaskState

UNSCHEDULABLE, SCHEDULABLE = "Unschedulable", "Schedulable"


class WaitingReason(NamedTuple):
    """A pod's scheduling condition."""

    reason: str
    text: str = ""
    nominated: str = ""

    def line(self) -> str:
        """Reason, text and nominated node in one line."""
        return f"{self.reason}: {self.text}" + (f" [nominated {self.nominated}]" if self.nominated else "")


def task_reason(job: JobState, task: TaskState) -> WaitingReason:
    """Why a task is not running yet, by its last attempt."""
    last, pod = task.last_transaction, f"Pod {task.task.namespace}/{task.task.name}"
    if last.status is Status.ALLOCATED:
        return WaitingReason(
            SCHEDULABLE, f"{pod} can possibly be assigned to {last.node}, once minAvailable is satisfied"
        )
    if last.status is Status.PIPELINED:
        text = f"{pod} can possibly be assigned to {last.node}, once resource is released and minAvailable is satisfied"
        return WaitingReason(UNSCHEDULABLE, text, last.node if last.after_eviction else "")
    if last.status is Status.PENDING:
        errors = job.fit_errors.get(task.key)
        return WaitingReason(UNSCHEDULABLE, errors.message() if errors is not None else "")
    return WaitingReason(last.status.value)


def gang_message(job: JobState) -> str:
    """The PodGroup's Unschedulable condition, without the reason of one task that upstream appends at random."""
    pending = job.by_status[Status.PENDING].values()
    schedulable = job.ready + sum(task.last_transaction.status in ALLOCATED for task in pending)
    missing = job.min_available - schedulable
    return f"{missing}/{len(job.tasks)} tasks in gang unschedulable: {job_message(job)}"


def job_message(job: JobState) -> str:
    """Counts per status, and per reason among the pending."""
    counts = Counter({status.value: len(tasks) for status, tasks in job.by_status.items() if tasks})
    counts["minAvailable"] = job.min_available
    text = f"pod group is {'ready' if job.is_ready else 'not ready'}, {_histogram(counts)}"
    reasons = Counter(task_reason(job, task).reason for task in job.by_status[Status.PENDING].values())
    return f"{text}; Pending: {_histogram(reasons)}" if reasons else text


def _histogram(counts: Counter[str]) -> str:
    return ", ".join(sorted(f"{count} {name}" for name, count in counts.items()))
