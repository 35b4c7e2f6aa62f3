"""cdp: pods that started a short while ago are not evicted; mirrors `plugins/cdp/cdp.go`."""

from __future__ import annotations

from collections.abc import Sequence

from cpsched.greedy.volcano.hooks import PERMIT, Hooks
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.instance import Task
from cpsched.policy import PluginConf, durations

COOLDOWN = "volcano.sh/cooldown-time"


def cdp(session: Session, conf: PluginConf) -> Hooks:
    """Spare every candidate whose cooldown is not over."""

    def victims(preemptor: TaskState, candidates: Sequence[TaskState]) -> tuple[list[TaskState], int]:
        return [one for one in candidates if not _cools_down(one.task, session.now)], PERMIT

    return Hooks(preemptable=victims, reclaimable=victims)


def _cools_down(task: Task, now: int) -> bool:
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
