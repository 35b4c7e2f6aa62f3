"""Where victims could clear enough room, found for all nodes at once."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from cpsched.greedy.volcano.fast.arrays import Ints, Mask, NodeArrays
from cpsched.greedy.volcano.fast.plugin_bulk import ShareBulk
from cpsched.greedy.volcano.fast.victim_arrays import VictimArrays
from cpsched.greedy.volcano.fast.victim_votes import VictimVotes
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.tasks import TaskState


class Prospect(NamedTuple):
    """What preempt would find on every node."""

    worth: Mask
    """Nodes it must look at: on the others there is too little room even if all go that may."""
    doomed: Mask
    """Those of them with victims, all of whose evictions would not help: the queue may not take the task even then."""
    victims: Ints
    """The rows named, node by node; for doomed nodes these are the victims."""


class Bounds:
    """Answers per class of tasks; kept until something happens on which they depend."""

    def __init__(self, session: Session, arrays: NodeArrays, limits: ShareBulk | None):
        self._session, self._arrays, self._limits = session, arrays, limits
        self.rows = VictimArrays(session, arrays.names)
        self._preemptable = VictimVotes(session, self.rows, arrays.count, "preemptable")
        self._reclaimable = VictimVotes(session, self.rows, arrays.count, "reclaimable")
        self._kept: dict[Hashable, Any] = {}
        self._version = 0

    @property
    def names_exactly(self) -> bool:
        """Whether the victims of a prospect are those whom plugins name, not only all who might be."""
        return self._limits is not None and self._preemptable.exact

    def preempting(self, task: TaskState, *, within_job: bool) -> Prospect:
        """What preempt would find for the task."""
        job, own = self._session.jobs[task.job], self.rows.job_number.get(task.job, -1)
        asked = (tuple(task.request.items()), task.best_effort)
        key = ("preempt", job.queue, own, within_job, task.priority if within_job else job.priority, *asked)
        found: Prospect | None = self._fresh().get(key)
        if found is None:
            found = self._kept[key] = self._preempting(task, own, within_job=within_job)
        return found

    def reclaiming(self, task: TaskState) -> Mask:
        """Nodes that reclaim must look at: some candidate, and room once all go who may."""
        queue = self._session.jobs[task.job].queue
        key = ("reclaim", queue, tuple(task.request.items()))
        found: Mask | None = self._fresh().get(key)
        if found is None:
            rows = self.rows
            may_go = rows.running & rows.willing & rows.reclaimable & (rows.queue != rows.queue_number[queue])
            some = np.bincount(rows.node[may_go], minlength=self._arrays.count) > 0
            victims = self._reclaimable.named(may_go, task)
            found = self._kept[key] = some & self._enough(self._given(victims, task), task)
        return found

    def _fresh(self) -> dict[Hashable, Any]:
        if self._version != self.rows.version:
            self._kept, self._version = {}, self.rows.version
        return self._kept

    def _preempting(self, task: TaskState, own: int, *, within_job: bool) -> Prospect:
        rows = self.rows
        may_go = rows.evictable & rows.willing
        may_go &= rows.queue == rows.queue_number[self._session.jobs[task.job].queue]
        may_go &= (rows.job == own) if within_job else (rows.job != own)
        if task.best_effort:
            may_go &= rows.best_effort
        victims = self._preemptable.named(may_go, task, within_job=within_job)
        given = self._given(victims, task)
        worth = self._enough(given, task)
        doomed = np.zeros(self._arrays.count, dtype=np.bool_)
        if self._limits is not None and self.names_exactly:
            some = np.bincount(rows.node[victims], minlength=self._arrays.count) > 0
            doomed = worth & some & self._refused(given, task, self._limits)
        return Prospect(worth, doomed, victims)

    def _given(self, victims: Ints, task: TaskState) -> dict[str, Any]:
        """What the victims on each node hold of what the task asks for."""
        nodes, request, count = self.rows.node[victims], self.rows.request, self._arrays.count
        return {name: np.bincount(nodes, weights=request[name][victims], minlength=count) for name in task.request}

    def _enough(self, given: dict[str, Any], task: TaskState) -> Mask:
        arrays = self._arrays
        arrays.sync()
        enough = np.ones(arrays.count, dtype=np.bool_)
        for name, amount in task.request.items():
            enough &= arrays.future(name) + given[name] >= amount
        return enough

    def _refused(self, given: dict[str, Any], task: TaskState, limits: ShareBulk) -> Mask:
        """Nodes whose victims leave the task's queue too much: `over` of `queue_account.py` for all nodes."""
        queue = self._session.queue_of(task)
        refused = np.full(self._arrays.count, not queue.is_open, dtype=np.bool_)
        held, deserved = limits.accounts[queue.name].allocated, limits.accounts[queue.name].deserved
        scalars = any(name not in ("cpu", "memory") for name in held)
        for name, amount in task.request.items():
            if amount > 0 and name != "pods":
                left = held.get(name, 0) - (given[name] if scalars or name in ("cpu", "memory") else 0)
                refused |= left + amount > deserved.get(name, 0)
        return refused
