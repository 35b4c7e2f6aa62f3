"""Whom gangpreempt and gangreclaim may evict for whom, given a decision; shares are looked at where reclaim's are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from cpsched.instance import HOLDS_ROOM, PREEMPTABLE, Status, Task
from cpsched.policy.policy import GangAction
from cpsched.snapshot import SessionJob
from cpsched.topology.demand import demand_of
from cpsched.topology.tree import Tree

if TYPE_CHECKING:
    from cpsched.rules.decision import Decision

KINDS: dict[str, str] = {"gangpreempt": "preempt", "gangreclaim": "reclaim"}
"""By whose conditions on queues and priorities each of the two actions goes."""


class GangRights:
    """A victim goes for a whole job: its node and all that the job newly uses lie in one domain the job may have."""

    def __init__(self, decision: Decision):
        self._snapshot = decision.snapshot
        self._placed, self._nodes = decision.placed_by_job, decision.placed
        self._everywhere = decision.snapshot.policy.rules.eviction_scope == "cluster"

    @cached_property
    def _tree(self) -> Tree:
        return Tree(self._snapshot.instance)

    def entitled(self, victim: Task, action: GangAction) -> list[Task]:
        """The tasks of all jobs that may evict the victim by the action."""
        return [task for key, tasks in self._placed.items() for task in self._of(key, tasks, victim, action)]

    def _of(self, key: str, tasks: Sequence[Task], victim: Task, action: GangAction) -> list[Task]:
        snapshot = self._snapshot
        job, owner = snapshot.jobs[key], snapshot.job_of(victim)
        if owner is None or owner is job or not snapshot.policy.evicts(action) or not snapshot.is_starving(job):
            return []
        if not (self._may_go(victim, owner, action) and self._may_take(job, owner, action)):
            return []
        if not (self._everywhere or self._in_one_domain(job, tasks, victim)):
            return []
        return [task for task in tasks if not task.best_effort and not snapshot.never_preempts(task)]

    def _may_go(self, victim: Task, owner: SessionJob, action: GangAction) -> bool:
        """It holds room, and neither it nor its PodGroup says no."""
        holds = victim.status in HOLDS_ROOM if action == "gangpreempt" else victim.status is Status.RUNNING
        view = self._snapshot.instance.jobs.get(owner.key)
        metadata = None if view is None else view.group.metadata
        stated = metadata is not None and (PREEMPTABLE in metadata.annotations or PREEMPTABLE in metadata.labels)
        return holds and victim.preemptable and (not stated or (view is not None and view.preemptable))

    def _may_take(self, job: SessionJob, owner: SessionJob, action: GangAction) -> bool:
        if action == "gangpreempt":
            return job.queue == owner.queue and owner.priority < job.priority
        queues = self._snapshot.instance.queues
        return job.queue != owner.queue and owner.queue is not None and queues[owner.queue].reclaimable

    def _in_one_domain(self, job: SessionJob, tasks: Sequence[Task], victim: Task) -> bool:
        """Without a demand that binds, or a plugin that keeps it, the whole cluster is one."""
        view = self._snapshot.instance.jobs.get(job.key)
        stated = None if view is None else view.group.spec.network_topology
        if stated is None or not self._snapshot.policy.enabled("network-topology-aware", "enabledHyperNodeGradient"):
            return True
        demand = demand_of(stated, self._tree)
        limit = None if demand is None else demand.limit
        if limit is None:
            return True
        return self._tree.spans({victim.node, *(self._nodes[task.key] for task in tasks)}, limit)
