"""drf: the job with the smallest dominant share first; mirrors `plugins/drf/drf.go`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cpsched.greedy.volcano.amounts import Amounts, give, take
from cpsched.greedy.volcano.hooks import PERMIT, Hooks
from cpsched.greedy.volcano.jobs import JobState
from cpsched.greedy.volcano.plugins.drf_tree import DrfTree
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.policy import PluginConf
from cpsched.resources import names, share

_EQUAL = 1e-6


class Shares:
    """What each job holds and its dominant share."""

    def __init__(self, session: Session):
        self.session = session
        self.names = names(session.total)
        self.allocated: dict[str, Amounts] = {}
        self.share: dict[str, float] = {}
        for job in session.jobs.values():
            self.allocated[job.key] = job.allocated()
            self.share[job.key] = self.of(self.allocated[job.key])

    def of(self, held: Mapping[str, float]) -> float:
        """The largest fraction of the cluster."""
        total = self.session.total
        return max((share(held.get(name, 0), total[name]) for name in self.names), default=0.0)


def drf(session: Session, conf: PluginConf) -> Hooks:
    """Job order and victims by dominant share; queue order and reclaim too where queues form a tree."""
    shares = Shares(session)
    first = session.conf.plugin("drf")
    tree = DrfTree(session, shares.names) if first is not None and first.on("enableHierarchy") else None
    if tree is not None:
        for job in session.jobs.values():
            tree.enter(job, shares.allocated[job.key])

    def victims(preemptor: TaskState, candidates: Sequence[TaskState]) -> tuple[list[TaskState], int]:
        if preemptor.job not in shares.allocated:
            return [], PERMIT
        held = dict(shares.allocated[preemptor.job])
        give(held, preemptor.request)
        mine = shares.of(held)
        left: dict[str, Amounts] = {}
        named = []
        for candidate in candidates:
            if candidate.job not in shares.allocated:
                continue
            theirs = left.setdefault(candidate.job, dict(shares.allocated[candidate.job]))
            take(theirs, candidate.request)
            other = shares.of(theirs)
            if mine < other or abs(mine - other) <= _EQUAL:
                named.append(candidate)
        return named, PERMIT

    def order(left: JobState, right: JobState) -> int:
        mine, other = shares.share[left.key], shares.share[right.key]
        return (mine > other) - (mine < other)

    def allocated(task: TaskState) -> None:
        if task.job in shares.allocated:
            give(shares.allocated[task.job], task.request)
            changed(task, 1)

    def deallocated(task: TaskState) -> None:
        if task.job in shares.allocated:
            take(shares.allocated[task.job], task.request)
            changed(task, -1)

    def changed(task: TaskState, sign: int) -> None:
        shares.share[task.job] = shares.of(shares.allocated[task.job])
        if tree is not None:
            tree.move(session.jobs[task.job], shares.allocated[task.job], task, sign)

    return Hooks(
        preemptable=victims,
        reclaimable=None if tree is None else tree.victims(shares.allocated),
        job_order=order,
        queue_order=None if tree is None else tree.compare,
        on_allocate=allocated,
        on_deallocate=deallocated,
        order_matters=True,
    )
