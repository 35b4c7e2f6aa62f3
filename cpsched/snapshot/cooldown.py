"""Cooldown: pods that say for how long they are not to be evicted once they are scheduled."""

from __future__ import annotations

from cpsched.instance import Task
from cpsched.policy import durations

COOLDOWN = "volcano.sh/cooldown-time"


def cools_down(task: Task, now: int) -> bool:
    """Whether the time that the pod states has not passed since it was scheduled."""
    metadata = task.pod.metadata
    # A label that cannot be read is not made good by the annotation.
    stated = metadata.labels.get(COOLDOWN, metadata.annotations.get(COOLDOWN))
    if stated is None or task.pod_status.phase != "Running":
        return False
    try:
        cooldown = durations.nanoseconds(stated)
    except ValueError:
        return False
    scheduled = (one for one in task.pod_status.conditions if (one.type, one.status) == ("PodScheduled", "True"))
    first = next(scheduled, None)
    return first is not None and first.last_transition_time is not None and first.last_transition_time + cooldown > now
