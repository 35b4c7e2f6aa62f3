"""Identical tasks: a question that cannot tell two of them apart is asked about one.

Rules and levels are stated for every task. Where a question reads less of a task than there is to read, tasks equal in
what it reads form a class, and `once` asks the question of one of each class. This saves time and changes no answer:
`Snapshot(instance, policy, shortcuts=False)` asks everything of every task, and a test compares both ways.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, TypeVar, TypeVarTuple

from cpsched.instance import HOLDS_ROOM, Instance, Task
from cpsched.snapshot.rights import Action, actions_against

if TYPE_CHECKING:
    from cpsched.snapshot import SessionJob, Snapshot

Given = TypeVarTuple("Given")
Answer = TypeVar("Answer")
Item = TypeVar("Item")


class Identical:
    """Asks questions once per class, or, switched off, every time."""

    def __init__(self, *, shortcuts: bool = True):
        self._shortcuts = shortcuts

    def once(
        self, question: Callable[[*Given], Answer], class_of: Callable[[*Given], Hashable]
    ) -> Callable[[*Given], Answer]:
        """The question, asked of the first of each class; the others of the class get its answer.

        What was asked about is kept, so a class may be named by `id`: nothing else can come to be in the same place.
        """
        if not self._shortcuts:
            return question
        known: dict[Hashable, tuple[Answer, object]] = {}

        def ask(*given: *Given) -> Answer:
            kind = class_of(*given)
            found = known.get(kind)
            if found is None:
                found = known[kind] = (question(*given), given)
            return found[0]

        return ask

    def one_of_each(self, items: Iterable[Item], class_of: Callable[[Item], Hashable]) -> list[Item]:
        """The first of each class; switched off, all of them."""
        if not self._shortcuts:
            return list(items)
        first: dict[Hashable, Item] = {}
        for item in items:
            first.setdefault(class_of(item), item)
        return list(first.values())


def load_of(instance: Instance, node: str) -> Hashable:
    """Equal for nodes of one size whose tasks share their requests."""
    return (*instance.nodes[node].allocatable.items(), *[id(task.requests) for task in instance.tasks_by_node[node]])


class StaticRights:
    """actions_against for a whole session, asked once for every two kinds of task that it can distinguish."""

    def __init__(self, snapshot: Snapshot):
        self._snapshot, self._identities = snapshot, snapshot.identities
        self._numbers: dict[Hashable, int] = {}
        self._preemptors: dict[int | None, int] = {}
        self._victims: dict[int | None, int] = {}
        self.against = snapshot.identical.once(self._against, self.victim_kind)
        """The actions by which a task may evict the victim, asked task by task."""

    def actions(self, task: Task, victim: Task) -> tuple[Action, ...]:
        """The actions by which the task may evict the victim."""
        return self.against(victim)(task)

    def claimants(self, tasks: Iterable[Task]) -> list[Task]:
        """One task of every kind."""
        return self._snapshot.identical.one_of_each(tasks, self.preemptor_kind)

    def preemptor_kind(self, task: Task) -> int:
        """Equal for tasks that may evict the same victims."""
        identity = self._identities.get(task.key)
        kind = self._preemptors.get(identity)
        if kind is None:
            kind = self._preemptors[identity] = self._number(self._preemptor(task))
        return kind

    def victim_kind(self, victim: Task) -> int:
        """Equal for tasks that the same tasks may evict."""
        identity = self._identities.get(victim.key)
        kind = self._victims.get(identity)
        if kind is None:
            kind = self._victims[identity] = self._number(self._victim(victim))
        return kind

    def reach_of(self, victim: Task) -> Hashable:
        """Equal for tasks that the same tasks may evict and that hold the same of one queue's share."""
        return self.victim_kind(victim), id(victim.requests)

    def _against(self, victim: Task) -> Callable[[Task], tuple[Action, ...]]:
        snapshot = self._snapshot
        return snapshot.identical.once(lambda task: tuple(actions_against(snapshot, task, victim)), self.preemptor_kind)

    def _preemptor(self, task: Task) -> Hashable:
        job = self._snapshot.job_of(task)
        if job is None:
            return None
        snapshot = self._snapshot
        return (
            job.queue,
            job.priority,
            self._family(job),
            snapshot.is_starving(job),
            job.key in snapshot.unrestricted,
            task.priority,
            task.best_effort,
            snapshot.never_preempts(task),
        )

    def _victim(self, victim: Task) -> Hashable:
        job = self._snapshot.job_of(victim)
        if job is None or victim.status not in HOLDS_ROOM:
            return None
        kind = (job.queue, job.priority, self._family(job), victim.priority, victim.best_effort, victim.preemptable)
        return (*kind, victim.status, job.is_willing) if self._snapshot.gang_rights.exist else kind

    def _family(self, job: SessionJob) -> str | None:
        """The job, where one of its tasks could be another's victim; a task alone in it does not outrank itself."""
        return job.key if job.holding and self._snapshot.has_siblings(job) else None

    def _number(self, kind: Hashable) -> int:
        return self._numbers.setdefault(kind, len(self._numbers))
