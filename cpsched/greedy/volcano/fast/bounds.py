"""Nodes that no set of victims can clear, told in bulk: an upper bound on whom the plugins could name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cpsched.greedy.volcano.fast.arrays import Mask, NodeArrays
from cpsched.greedy.volcano.jobs import JobState
from cpsched.greedy.volcano.plugins.conformance import is_critical
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.status import PREEMPTABLE, Status
from cpsched.greedy.volcano.tasks import TaskState

KNOWN = frozenset({"gang", "priority", "conformance"})
"""Plugins whose victims per node are empty or not by simple marks of tasks and jobs."""


class Bounds:
    """Every task that sits on a node when the session opens, as arrays; evictions change their marks."""

    def __init__(self, session: Session, arrays: NodeArrays):
        self._session, self._arrays = session, arrays
        rows = [task for node in session.node_list for task in node.tasks.values() if task.job in session.jobs]
        self._row = {task.key: row for row, task in enumerate(rows)}
        jobs = list(dict.fromkeys(task.job for task in rows))
        self._job_number = {key: number for number, key in enumerate(jobs)}
        self._surplus: Mask = np.array([_has_surplus(session.jobs[key]) for key in jobs], dtype=np.bool_)
        queues = {name: number for number, name in enumerate(session.queues)}
        self._queue_number = queues
        self._node = _ints(session.nodes[task.node].index for task in rows)
        self._job = _ints(self._job_number[task.job] for task in rows)
        self._queue = _ints(queues[session.jobs[task.job].queue] for task in rows)
        self._job_priority = _ints(session.jobs[task.job].priority for task in rows)
        self._priority = _ints(task.priority for task in rows)
        self._best_effort = np.array([task.best_effort for task in rows], dtype=np.bool_)
        self._willing = np.array([task.preemptable for task in rows], dtype=np.bool_)
        self._reclaimable = np.array([session.queue_of(task).reclaimable for task in rows], dtype=np.bool_)
        self._evictable = np.array([task.status in PREEMPTABLE for task in rows], dtype=np.bool_)
        self._running = np.array([task.status is Status.RUNNING for task in rows], dtype=np.bool_)
        self._request = {
            name: np.array([task.request.get(name, 0) for task in rows], dtype=np.float64) for name in arrays.names
        }
        critical = any(is_critical(task) for task in rows)
        self._tiers = None if critical else _known_tiers(session, "preemptable")

    def changed(self, task: TaskState) -> None:
        """Take over a task's status and its job's surplus."""
        row = self._row.get(task.key)
        if row is not None:
            self._evictable[row] = task.status in PREEMPTABLE
            self._running[row] = task.status is Status.RUNNING
        number = self._job_number.get(task.job)
        if number is not None:
            self._surplus[number] = _has_surplus(self._session.jobs[task.job])

    def preempting(self, task: TaskState, *, within_job: bool) -> Mask:
        """Nodes that preempt must look at: the others have too little even if everybody goes who may."""
        own = self._job_number.get(task.job, -1)
        queue = self._queue_number[self._session.jobs[task.job].queue]
        may_go = self._evictable & self._willing & (self._queue == queue)
        may_go &= (self._job == own) if within_job else (self._job != own)
        if task.best_effort:
            may_go &= self._best_effort
        rows = np.flatnonzero(may_go)
        if self._tiers is not None and not (within_job and own >= 0 and self._surplus[own]):
            rows = self._named(rows, task, within_job=within_job)
        return self._enough(rows, task)

    def reclaiming(self, task: TaskState) -> Mask:
        """Nodes that reclaim must look at: some candidate, and room if everybody goes who may."""
        queue = self._queue_number[self._session.jobs[task.job].queue]
        may_go = self._running & self._willing & self._reclaimable & (self._queue != queue)
        rows = np.flatnonzero(may_go)
        somebody: Mask = np.bincount(self._node[rows], minlength=self._arrays.count) > 0
        return somebody & self._enough(rows, task)

    def _enough(self, rows: Any, task: TaskState) -> Mask:
        arrays = self._arrays
        arrays.sync()
        enough = np.ones(arrays.count, dtype=np.bool_)
        nodes = self._node[rows]
        for name, amount in task.request.items():
            given = np.bincount(nodes, weights=self._request[name][rows], minlength=arrays.count)
            enough &= arrays.future[name] + given >= amount
        return enough

    def _named(self, rows: Any, task: TaskState, *, within_job: bool) -> Any:
        """The tier rule of `tiers.victims`, node by node at once, on marks instead of lists."""
        assert self._tiers is not None
        count, nodes = self._arrays.count, self._node[rows]
        undecided = np.ones(count, dtype=np.bool_)
        final = np.zeros(len(rows), dtype=np.bool_)
        for tier in self._tiers:
            agreed = np.zeros(len(rows), dtype=np.bool_)
            has, ended = np.zeros(count, dtype=np.bool_), np.zeros(count, dtype=np.bool_)
            for plugin in tier:
                named = self._marks(plugin, rows, task, within_job=within_job)
                if named is not None:
                    ended |= np.bincount(nodes[named], minlength=count) == 0
                    agreed = np.where(has[nodes], agreed & named, named)
                else:
                    agreed = np.where(has[nodes], agreed, True)
                agreed &= ~ended[nodes]
                has = np.bincount(nodes[agreed], minlength=count) > 0
            final |= agreed & undecided[nodes]
            undecided &= ~has
        return rows[final]

    def _marks(self, plugin: str, rows: Any, task: TaskState, *, within_job: bool) -> Any:
        if plugin == "gang":
            return self._surplus[self._job[rows]]
        if plugin == "priority":
            if within_job:
                return self._priority[rows] < task.priority
            return self._job_priority[rows] < self._session.jobs[task.job].priority
        return None


def _known_tiers(session: Session, point: str) -> Sequence[Sequence[str]] | None:
    """The plugins that name victims, tier by tier; None if one of them is not simple."""
    tiers = [
        [conf.name for conf, hooks in tier if getattr(hooks, point) is not None and conf.on("enablePreemptable")]
        for tier in session.hooks
    ]
    return tiers if all(name in KNOWN for tier in tiers for name in tier) else None


def _has_surplus(job: JobState) -> bool:
    return job.ready > job.min_available


def _ints(values: Any) -> npt.NDArray[np.int64]:
    return np.fromiter(values, dtype=np.int64)
