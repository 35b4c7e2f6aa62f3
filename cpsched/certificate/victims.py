"""Who can be evicted at all, and which of them the values of earlier levels leave."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import cached_property

from cpsched.certificate.waiting import Waiting
from cpsched.instance import HOLDS_ROOM, Task
from cpsched.objectives import out_of_reach
from cpsched.policy.policy import VICTIM_ACTIONS
from cpsched.snapshot import Snapshot
from cpsched.snapshot.gang_rights import keeps_gang
from cpsched.snapshot.rights import actions_against, is_above_share_now


class Victims:
    """Tasks that some pending task may evict, were both on one node; no other task ever is a victim."""

    def __init__(self, snapshot: Snapshot, waiting: Iterable[Waiting]):
        self.snapshot = snapshot
        self._evictors = {
            (one.job.key, t.priority, t.best_effort, snapshot.never_preempts(t), kind.nodes): t
            for one in waiting
            for kind in one.kinds
            for t in (kind.sample,)
            if kind.nodes
        }
        self._beyond: dict[int, frozenset[str]] = {}

    @cached_property
    def all(self) -> tuple[Task, ...]:
        """Every possible victim."""
        verdicts: dict[Hashable, bool] = {}
        found = []
        for node, tasks in self.snapshot.instance.tasks_by_node.items():
            for task in tasks:
                if task.status in HOLDS_ROOM and self.snapshot.job_of(task) is not None:
                    alike = (node, *self._alike(task))
                    if alike not in verdicts:
                        verdicts[alike] = self._may_go(task)
                    if verdicts[alike]:
                        found.append(task)
        return tuple(found)

    def most_of(self, job: str) -> int | None:
        """How many of a job's tasks may go at most, so that it keeps its minimum; None if nothing protects it."""
        policy, owner = self.snapshot.policy, self.snapshot.jobs[job]
        evicting = [action for action in VICTIM_ACTIONS if policy.evicts(action)]
        if not all(keeps_gang(policy, owner, action) for action in evicting):
            return None
        return max(0, owner.ready + len(owner.pending) - owner.min_available)

    def is_counted(self, victim: Task, priority: int | None) -> bool:
        """Whether a victim level looks at the victim: one that is settled after a priority not at those in reach."""
        if priority is None:
            return True
        if priority not in self._beyond:
            verdicts: dict[Hashable, bool] = {}
            test = out_of_reach(self.snapshot, priority)
            for task in self.all:
                alike = self._alike(task)
                if alike not in verdicts:
                    verdicts[alike] = test(task)
            self._beyond[priority] = frozenset(task.key for task in self.all if verdicts[self._alike(task)])
        return victim.key in self._beyond[priority]

    def _alike(self, task: Task) -> tuple[Hashable, ...]:
        """Victims that agree in this are evicted by the same tasks."""
        critical = (task.pod.is_critical, task.status)
        resources = tuple(sorted(task.requests))
        return (self.snapshot.job_key(task), task.priority, task.best_effort, task.preemptable, critical, resources)

    def _may_go(self, victim: Task) -> bool:
        policy = self.snapshot.policy
        everywhere = policy.rules.eviction_scope == "cluster"
        critical = victim.pod.is_critical
        for (*_, nodes), task in self._evictors.items():
            beside = actions_against(self.snapshot, task, victim) if everywhere or victim.node in nodes else ()
            for action in (*beside, *self.snapshot.gang_rights.actions(task, victim)):
                if critical and policy.conformance_protects(action):
                    continue
                if not policy.asks_shares(action) or is_above_share_now(self.snapshot, victim):
                    return True
        return False
