"""cdp: pods that started a short while ago are not evicted; mirrors `plugins/cdp/cdp.go`."""

from __future__ import annotations

from collections.abc import Sequence

from cpsched.greedy.volcano.hooks import PERMIT, Hooks
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.policy import PluginConf
from cpsched.snapshot.cooldown import cools_down


def cdp(session: Session, conf: PluginConf) -> Hooks:
    """Spare every candidate whose cooldown is not over."""

    def victims(preemptor: TaskState, candidates: Sequence[TaskState]) -> tuple[list[TaskState], int]:
        return [one for one in candidates if not cools_down(one.task, session.now)], PERMIT

    return Hooks(preemptable=victims, reclaimable=victims)
