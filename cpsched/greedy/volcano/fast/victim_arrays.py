"""Tasks that may be evicted as arrays, node by node in the order of the node's list; events keep them up to date."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from cpsched.greedy.volcano.fast.arrays import Ints, Mask
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.status import PREEMPTABLE, Status
from cpsched.greedy.volcano.tasks import TaskState

MAY_BE_EVICTED = PREEMPTABLE | {Status.RELEASING}
"""Evictable now, or once an eviction is undone; no other placed task of a session becomes so."""


class RowGroups:
    """Rows that belong together."""

    def __init__(self, numbers: Ints):
        self._order = np.argsort(numbers, kind="stable")
        grouped = numbers[self._order]
        starts = np.ones(len(grouped), dtype=np.bool_)
        starts[1:] = grouped[1:] != grouped[:-1]
        self._first = np.flatnonzero(starts)[np.cumsum(starts) - 1]

    def before(self, amounts: Ints) -> Ints:
        """For every row, the sum over the earlier rows of its group."""
        ordered = amounts[self._order]
        earlier = np.cumsum(ordered) - ordered
        sums = np.empty_like(earlier)
        sums[self._order] = earlier - earlier[self._first]
        return sums


class VictimArrays:
    """Whatever decides who may be evicted."""

    def __init__(self, session: Session, names: Sequence[str]):
        self._session = session
        self.tasks = [
            task
            for node in session.node_list
            for task in node.tasks.values()
            if task.status in MAY_BE_EVICTED and task.job in session.jobs
        ]
        self._row = {task.key: row for row, task in enumerate(self.tasks)}
        keys = list(dict.fromkeys(task.job for task in self.tasks))
        self.job_number = {key: number for number, key in enumerate(keys)}
        self.queue_number = {name: number for number, name in enumerate(session.queues)}
        jobs = [session.jobs[task.job] for task in self.tasks]
        self.node = _ints(session.nodes[task.node].index for task in self.tasks)
        self.job = _ints(self.job_number[job.key] for job in jobs)
        self.queue = _ints(self.queue_number[job.queue] for job in jobs)
        self.job_priority = _ints(job.priority for job in jobs)
        self.priority = _ints(task.priority for task in self.tasks)
        self.best_effort = _marks(task.best_effort for task in self.tasks)
        self.willing = _marks(task.preemptable for task in self.tasks)
        self.critical = _marks(task.task.pod.is_critical for task in self.tasks)
        self.reclaimable = _marks(session.queues[job.queue].reclaimable for job in jobs)
        self.request = {name: _ints(int(task.request.get(name, 0)) for task in self.tasks) for name in names}
        self.evictable = _marks(task.status in PREEMPTABLE for task in self.tasks)
        self.running = _marks(task.status is Status.RUNNING for task in self.tasks)
        self.surplus = _ints(_surplus(session, key) for key in keys)
        """Per job, how many tasks hold room beyond the minimum."""
        self.heard_of = np.zeros(len(self.tasks), dtype=np.bool_)
        """Rows of which plugins have heard: each has been evicted, if only to be restored."""
        self.by_job = RowGroups(self.node * (len(keys) + 1) + self.job)
        self.by_queue = RowGroups(self.node * (len(session.queues) + 1) + self.queue)
        self.version = 0
        """Grows with every change of a row, a job, a queue's holdings or a node's room."""

    def changed(self, task: TaskState) -> None:
        """An event: take over the task's status and its job's surplus."""
        self.version += 1
        row = self._row.get(task.key)
        if row is not None:
            self.evictable[row] = task.status in PREEMPTABLE
            self.running[row] = task.status is Status.RUNNING
            self.heard_of[row] = True
            self.tasks[row] = task
        number = self.job_number.get(task.job)
        if number is not None:
            self.surplus[number] = _surplus(self._session, task.job)


def _surplus(session: Session, key: str) -> int:
    job = session.jobs[key]
    return job.ready - job.min_available


def _ints(values: Iterable[int]) -> Ints:
    return np.fromiter(values, dtype=np.int64)


def _marks(values: Iterable[bool]) -> Mask:
    return np.fromiter(values, dtype=np.bool_)
