"""What jobs were promised on entering; mirrors `plugins/util/util.go` and `DeductSchGatedResources`."""

from __future__ import annotations

from collections.abc import Mapping

from cpsched.greedy.volcano.amounts import Amounts, give
from cpsched.greedy.volcano.jobs import JobState
from cpsched.resources import is_empty


def without_gated(job: JobState, amounts: Mapping[str, float]) -> Amounts:
    """The amounts less what gated tasks ask for, never below zero."""
    gated: Amounts = {}
    for task in job.tasks.values():
        if task.gated and not task.only_queue_gate:
            give(gated, task.request)
    if is_empty(gated):
        return dict(amounts)
    return {name: max(0.0, amount - gated.get(name, 0)) for name, amount in amounts.items()}


def promised(job: JobState) -> Amounts:
    """What a job in the phase Inqueue, or Running with its minimum met, may still come to hold of its minimum."""
    minimum = job.job.min_resources
    if minimum is None:
        return {}
    if job.phase != "Inqueue" and not (job.phase == "Running" and job.allocated_tasks >= job.min_available):
        return {}
    held = job.allocated()
    left = {name: max(0.0, amount - held.get(name, 0)) for name, amount in minimum.items()}
    return without_gated(job, left)
