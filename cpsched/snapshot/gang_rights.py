"""Which tasks may evict which by gangpreempt and gangreclaim, wherever they are: the static half of their rights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cpsched.instance import HOLDS_ROOM, Status, Task
from cpsched.policy import Policy
from cpsched.policy.policy import GANG_ACTIONS, AnyAction, GangAction
from cpsched.snapshot.jobs import SessionJob

if TYPE_CHECKING:
    from cpsched.snapshot import Snapshot


class StaticGangRights:
    """What the snapshot alone says of them; where the victim lies is looked at once all is placed."""

    def __init__(self, snapshot: Snapshot):
        self._snapshot = snapshot
        self._configured = [action for action in sorted(GANG_ACTIONS) if snapshot.policy.evicts(action)]

    @property
    def exist(self) -> bool:
        """Whether any gang action evicts."""
        return bool(self._configured)

    def may_evict(self, task: Task, victim: Task, action: GangAction) -> bool:
        """Whether the task's job may evict the victim, and the task is one that evicts at all."""
        job, owner = self._snapshot.job_of(task), self._snapshot.job_of(victim)
        if job is None or owner is None or owner is job or not self._snapshot.policy.evicts(action):
            return False
        if task.best_effort or self._snapshot.never_preempts(task) or not self._snapshot.is_starving(job):
            return False
        return self.may_go(victim, owner, action) and self._may_take(job, owner, action)

    def actions(self, task: Task, victim: Task) -> list[GangAction]:
        """The gang actions by which the task's job may evict the victim."""
        return [action for action in self._configured if self.may_evict(task, victim, action)]

    def may_go(self, victim: Task, owner: SessionJob, action: GangAction) -> bool:
        """It holds room, and neither it nor its PodGroup says no."""
        holds = victim.status in HOLDS_ROOM if action == "gangpreempt" else victim.status is Status.RUNNING
        return holds and victim.preemptable and owner.is_willing

    def _may_take(self, job: SessionJob, owner: SessionJob, action: GangAction) -> bool:
        if action == "gangpreempt":
            return job.queue == owner.queue and owner.priority < job.priority
        queues = self._snapshot.instance.queues
        return job.queue != owner.queue and owner.queue is not None and queues[owner.queue].reclaimable


def keeps_gang(policy: Policy, owner: SessionJob, action: AnyAction) -> bool:
    """Whether a job that loses a task to the action keeps its minimum in any case."""
    return policy.gang_protects(action) == "keep" and (action not in GANG_ACTIONS or owner.is_whole)
