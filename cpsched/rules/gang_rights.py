"""For whom gangpreempt and gangreclaim may evict, given a decision; shares are looked at where reclaim's are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from cpsched.instance import Task
from cpsched.policy.policy import GangAction

if TYPE_CHECKING:
    from cpsched.rules.decision import Decision


class GangRights:
    """A victim goes for a whole job: its node and all that the job newly uses lie in one domain the job may have.

    Where gangs go whole, the victims of a gang that loses everything may lie anywhere, if one of them is in the domain.
    """

    def __init__(self, decision: Decision):
        self._snapshot = decision.snapshot
        self._placed, self._nodes = decision.placed_by_job, decision.placed
        self._scope = decision.snapshot.policy.rules.eviction_scope
        self._evictions, self._victims_by_job = decision.evictions, decision.victims_by_job

    def entitled(self, victim: Task, action: GangAction) -> list[Task]:
        """The tasks of all jobs that may evict the victim by the action."""
        found: list[Task] = []
        for key, tasks in self._placed.items():
            able = [task for task in tasks if self._snapshot.gang_rights.may_evict(task, victim, action)]
            if able and (self._in_reach(key, tasks, victim) or self._goes_along(key, tasks, victim, action)):
                found += able
        return found

    def _in_reach(self, job: str, tasks: Sequence[Task], victim: Task) -> bool:
        """Without a demand that binds the whole cluster is one domain."""
        nodes = {self._nodes[task.key] for task in tasks}
        nearness = self._snapshot.nearness
        limit = nearness.limits.get(job)
        if self._scope != "domain":
            return self._scope == "cluster" or victim.node in nodes
        return limit is None or nearness.tree.spans({victim.node, *nodes}, limit)

    def _goes_along(self, job: str, tasks: Sequence[Task], victim: Task, action: GangAction) -> bool:
        """Its gang loses everything, and another of its tasks goes for the job by the same action."""
        owner = self._snapshot.job_by_task[victim.key]
        gone = self._victims_by_job[owner.key]
        if self._snapshot.policy.gang_protects(action) != "whole" or len(gone) < owner.holding:
            return False
        named = [one for one in gone if {(one.key, action), (one.key, "")} & self._named]
        others = [one for one in named if self._in_reach(job, tasks, one)]
        return any(self._snapshot.gang_rights.may_go(one, owner, action) for one in others)

    @cached_property
    def _named(self) -> frozenset[tuple[str, str]]:
        """Victims with the actions that evict them."""
        return frozenset([(item.task, item.action) for item in self._evictions])
