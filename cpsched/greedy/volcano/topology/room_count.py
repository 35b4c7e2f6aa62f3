"""Domains with too little room for a sub-job, or with room at once, found by counting instead of by trying."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cpsched.greedy.outcomes import First
from cpsched.greedy.volcano.fast.arrays import Ints
from cpsched.greedy.volcano.fast.bulk_finder import NodeSet
from cpsched.greedy.volcano.fast.task_kind import TaskKind
from cpsched.greedy.volcano.hooks import FLAGS
from cpsched.greedy.volcano.jobs import JobState
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.status import READY, Status
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.greedy.volcano.topology.sub_jobs import SubJob

_POINTS = {True: ("sub_job_ready", "sub_job_pipelined"), False: ("job_ready", "job_pipelined")}


@dataclass(frozen=True)
class Counted:
    """What counting says of the domains of a row."""

    row: Sequence[str]
    later: dict[str, int]
    """How many tasks each takes, now or later."""
    hopeless: frozenset[str]
    """Too few, even later: the sub-job stays as it is."""
    sure: list[str]
    """Enough at once: the sub-job becomes ready before any task finds no node."""

    @property
    def is_clear(self) -> bool:
        """Whether it is known of each domain what a try would come to."""
        return len(self.sure) + len(self.hopeless) == len(self.row)

    def worth_trying(self) -> list[str]:
        """All but hopeless ones that a later one, with as much room, follows.

        A try that fails leaves nothing but texts: what the last domain lacks, and on which node a task could have been.
        The later one leaves them too.
        """
        kept, most = list[str](), -1
        for name in reversed(self.row):
            if name not in self.hopeless or self.later[name] > most:
                kept.append(name)
                most = max(most, self.later[name])
        return kept[::-1]


class RoomCount:
    """Counts how many tasks of one kind the nodes of a domain take."""

    def __init__(self, session: Session):
        self._session = session
        self._usable = (
            session.bulk_finder is not None and not session.trace.wanted and isinstance(session.choices, First)
        )
        self._gang_decides = {grouped: all(map(self._only_gang, points)) for grouped, points in _POINTS.items()}
        self._known: tuple[TaskKind, int, tuple[Ints, Ints]] | None = None

    def count(self, row: Sequence[str], job: JobState, sub_job: SubJob, tasks: Iterable[TaskState]) -> Counted | None:
        """What is known of the domains for a sub-job with these tasks left, None where counting says nothing."""
        waiting = list(tasks)
        if not self._usable or not self._gang_decides[job.has_policies] or sub_job.nominated:
            return None
        kind = self._only_kind(job, waiting)
        if kind is None:
            return None
        ready, pipelined = _missing(job, sub_job)
        if job.min_by_role and job.roles_count:
            # Each role has a minimum of its own, so only all of them are certain to be enough.
            ready = len(waiting)
        counts = {name: self._room(kind, name) for name in row}
        hopeless = frozenset(name for name, (_, later) in counts.items() if later < pipelined)
        at_once = max(ready, 1)
        sure = [name for name, (now, _) in counts.items() if now >= at_once] if ready <= len(waiting) else []
        later = {name: count for name, (_, count) in counts.items()}
        return Counted(row, later, hopeless, [name for name in sure if name not in hopeless])

    def _only_gang(self, point: str) -> bool:
        """Whether the plugin gang alone says if enough tasks are placed."""
        flag = FLAGS[point] or ""
        hooks = ((plugin, hooks) for tier in self._session.hooks for plugin, hooks in tier)
        return {plugin.name for plugin, one in hooks if getattr(one, point) and plugin.on(flag)} == {"gang"}

    def _only_kind(self, job: JobState, tasks: Sequence[TaskState]) -> TaskKind | None:
        """The kind of all the tasks, if it is one, and each task simply waits."""
        finder = self._session.bulk_finder
        assert finder is not None
        for task in tasks:
            waits = task.status is Status.PENDING and not task.node and not task.gated and job.tasks[task.key] is task
            if not waits or self._session.nominated_node(task) or not finder.knows(task):
                return None
        kinds = finder.kinds_of(tasks)
        return kinds[0] if len(kinds) == 1 else None

    def _room(self, kind: TaskKind, domain: str) -> tuple[int, int]:
        """How many tasks of the kind find room in a domain now, and now or later."""
        finder = self._session.bulk_finder
        assert finder is not None
        finder.arrays.sync()
        version = len(finder.arrays.log)
        if self._known is None or self._known[0] is not kind or self._known[1] != version:
            self._known = kind, version, kind.counts()
        nodes = self._session.nodes_in(domain)
        if not nodes:
            return 0, 0
        places = nodes.indexes if isinstance(nodes, NodeSet) else [node.index for node in nodes]
        now, later = self._known[2]
        return int(now[places].sum()), int(later[places].sum())


def _missing(job: JobState, sub_job: SubJob) -> tuple[int, int]:
    """How many more tasks must hold room, or room or a reservation; those that ask for nothing count as they are."""
    if job.has_policies:
        idle = sum(task.best_effort for task in sub_job.by_status.get(Status.PENDING, {}).values())
        ready = sub_job.min_available - sub_job.count(*READY) - idle
        return ready, ready - sub_job.count(Status.PIPELINED)
    ready = job.min_available - job.ready - job.pending_best_effort
    return ready, ready - job.waiting
