"""Whom the plugins name as victims on all nodes at once: the rule of `tiers.victims` on marks instead of lists."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cpsched.greedy.outcomes import First
from cpsched.greedy.volcano.fast.arrays import Ints, Mask
from cpsched.greedy.volcano.fast.plugin_bulk import ShareBulk
from cpsched.greedy.volcano.fast.victim_arrays import VictimArrays
from cpsched.greedy.volcano.hooks import FLAGS
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.resources import THRESHOLD

KNOWN = {
    "preemptable": frozenset({"gang", "priority", "conformance"}),
    "reclaimable": frozenset({"gang", "conformance", "proportion"}),
}
"""Plugins whose victims follow from the arrays."""


class VictimVotes:
    """The victims of one extension point."""

    def __init__(self, session: Session, rows: VictimArrays, nodes: int, point: str):
        self._session, self._rows, self._nodes = session, rows, nodes
        self._tiers = _known_tiers(session, point)
        self.exact = self._tiers is not None and isinstance(session.choices, First)
        """Whether the rows named are the victims; with candidates in another order gang spares others of a job."""
        self._bounded = self.exact or (self._tiers is not None and point == "preemptable" and not rows.critical.any())
        self._share = next((h.bulk for tier in session.hooks for _, h in tier if isinstance(h.bulk, ShareBulk)), None)

    def named(self, may_go: Mask, task: TaskState, *, within_job: bool = False) -> Ints:
        """The rows named among those that may go; if not exact, at least all that any order would let be named."""
        rows = np.flatnonzero(may_go)
        if not self._bounded or self._tiers is None or (within_job and not self.exact):
            return rows
        nodes, count = self._rows.node[rows], self._nodes
        undecided = np.ones(count, dtype=np.bool_)
        final = np.zeros(len(rows), dtype=np.bool_)
        for tier in self._tiers:
            agreed = np.zeros(len(rows), dtype=np.bool_)
            has, ended = np.zeros(count, dtype=np.bool_), np.zeros(count, dtype=np.bool_)
            for plugin in tier:
                marks = self._marks(plugin, may_go, rows, task, within_job=within_job)
                ended |= np.bincount(nodes[marks], minlength=count) == 0
                agreed = np.where(has[nodes], agreed & marks, marks) & ~ended[nodes]
                has = np.bincount(nodes[agreed], minlength=count) > 0
            final |= agreed & undecided[nodes]
            undecided &= ~has
        return rows[final]

    def _marks(self, plugin: str, may_go: Mask, rows: Ints, task: TaskState, *, within_job: bool) -> Mask:
        table = self._rows
        if plugin == "priority":
            if within_job:
                return table.priority[rows] < task.priority
            return table.job_priority[rows] < self._session.jobs[task.job].priority
        if plugin == "gang":
            # The first candidates of each job on the node, as many as the job can spare.
            earlier = table.by_job.before(may_go.astype(np.int64))[rows] if self.exact else 0
            spared: Mask = table.surplus[table.job[rows]] > earlier
            return spared
        if plugin == "proportion":
            return self._over_deserved(may_go, rows)
        return ~table.critical[rows]

    def _over_deserved(self, may_go: Mask, rows: Ints) -> Mask:
        """Candidates whose queue holds more than it deserves after the earlier candidates on the node are gone."""
        assert self._share is not None
        table, over = self._rows, np.zeros(len(rows), dtype=np.bool_)
        for name, number in table.queue_number.items():
            account = self._share.accounts.get(name)
            if account is None:
                continue
            for resource, held in account.allocated.items():
                excess = held - account.deserved.get(resource, 0)
                if excess < THRESHOLD:
                    continue
                mine = table.queue[rows] == number
                if resource not in table.request:
                    over |= mine
                    continue
                gone = table.by_queue.before(np.where(may_go, table.request[resource], 0))[rows]
                over |= mine & (held - gone - account.deserved.get(resource, 0) >= THRESHOLD)
        return over


def _known_tiers(session: Session, point: str) -> Sequence[Sequence[str]] | None:
    """The plugins that name victims, tier by tier; None if one of them is not known."""
    flag = FLAGS[point] or ""
    tiers = [
        [conf.name for conf, hooks in tier if getattr(hooks, point) is not None and conf.on(flag)]
        for tier in session.hooks
    ]
    return tiers if all(name in KNOWN[point] for tier in tiers for name in tier) else None
