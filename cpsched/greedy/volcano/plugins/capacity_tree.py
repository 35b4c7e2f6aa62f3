"""Queues and their ancestors; mirrors `buildHierarchicalQueueAttrs` and the orders of `plugins/capacity`."""

from __future__ import annotations

from collections.abc import Iterator

from cpsched.greedy.volcano.amounts import Amounts, give, take
from cpsched.greedy.volcano.plugins.queue_account import QueueAccount, over
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.instance import Queue
from cpsched.resources import is_empty
from cpsched.shares import NotReady, capacity_flat, capacity_hierarchical, capacity_share, floats, in_float64
from cpsched.snapshot.jobs import group_jobs
from cpsched.snapshot.queues import queue_demands

NAME = "capacity"
ROOT = "root"


class Queues:
    """Accounts by name; `refused` says why nothing may be decided."""

    def __init__(
        self,
        session: Session,
        accounts: dict[str, QueueAccount],
        *,
        hierarchical: bool,
        ancestor_level: int,
        refused: str | None,
    ):
        self._session = session
        self.accounts, self.hierarchical, self.refused = accounts, hierarchical, refused
        self.ancestor_level = ancestor_level if hierarchical else 0

    @classmethod
    def opened(cls, session: Session, *, ancestor_level: int) -> Queues:
        """The queues as the session opens."""
        first = session.conf.plugin(NAME)
        hierarchical = first is not None and first.on("enableHierarchy")
        demands = queue_demands(session.instance, group_jobs(session.instance))
        shares = (capacity_hierarchical if hierarchical else capacity_flat)(floats(session.total), in_float64(demands))
        refused = f"queues are no usable tree: {shares.reason}" if isinstance(shares, NotReady) else None
        opened = {} if isinstance(shares, NotReady) else shares
        accounts = {name: QueueAccount(name, one, capacity_share) for name, one in opened.items()}
        return cls(session, accounts, hierarchical=hierarchical, ancestor_level=ancestor_level, refused=refused)

    def __getitem__(self, name: str) -> QueueAccount:
        return self.accounts[name]

    def chain(self, name: str) -> Iterator[QueueAccount]:
        """The queue, then its ancestors upwards."""
        account = self.accounts[name]
        yield account
        for ancestor in reversed(account.ancestors):
            yield self.accounts[ancestor]

    def ancestor(self, account: QueueAccount, distance: int) -> str | None:
        """The name of the ancestor so many steps above."""
        return account.ancestors[-distance] if 0 < distance <= len(account.ancestors) else None

    def distances(self, account: QueueAccount) -> range:
        """The steps up to the ancestors within the configured level, which may be any number."""
        return range(1, min(self.ancestor_level, len(account.ancestors)) + 1)

    def near_ancestors(self, account: QueueAccount) -> Iterator[QueueAccount]:
        """Ancestors other than the root within the configured level."""
        for distance in self.distances(account):
            name = self.ancestor(account, distance)
            if name is not None and name != ROOT:
                yield self.accounts[name]

    def allocated(self, task: TaskState) -> None:
        """A task took room: upstream recomputes the share of the queue itself only."""
        if (account := self._of(task)) is not None:
            for one in self.chain(account.name):
                one.give(task.request)
            account.refresh()

    def deallocated(self, task: TaskState) -> None:
        """A task gave room back."""
        if (account := self._of(task)) is not None:
            for one in self.chain(account.name):
                one.take(task.request)
            account.refresh()

    def compare(self, left: Queue, right: Queue) -> int:
        """QueueOrder: by priority, then by share just below the lowest common ancestor."""
        if left.priority != right.priority:
            return right.priority - left.priority
        mine, other = self.accounts[left.name], self.accounts[right.name]
        if self.hierarchical:
            if mine.is_leaf != other.is_leaf:
                return -1 if mine.is_leaf else 1
            if mine.is_leaf:
                below = _common_level(mine, other) + 1
                mine, other = self._at(mine, below), self._at(other, below)
        return _by_share(mine, other)

    def compare_victims(self, left: Queue, right: Queue, preemptor: Queue) -> int:
        """VictimQueueOrder: nearer relatives of the preemptor's queue go first."""
        own = self.accounts[preemptor.name]
        mine, other = (_common_level(self.accounts[queue.name], own) for queue in (left, right))
        return (mine < other) - (mine > other)

    def _at(self, account: QueueAccount, level: int) -> QueueAccount:
        return self.accounts[account.ancestors[level]] if level < len(account.ancestors) else account

    def _of(self, task: TaskState) -> QueueAccount | None:
        job = self._session.jobs.get(task.job)
        return None if job is None else self.accounts.get(job.queue)


def _common_level(left: QueueAccount, right: QueueAccount) -> int:
    level = 0
    for place, (mine, other) in enumerate(zip(left.ancestors, right.ancestors, strict=False)):
        if mine != other:
            return level
        level = place
    return level


def _by_share(left: QueueAccount, right: QueueAccount) -> int:
    """The smaller share; of equal ones the queue that deserves anything."""
    if left.share == right.share:
        return int(is_empty(left.deserved)) - int(is_empty(right.deserved))
    return -1 if left.share < right.share else 1


class CapacityTrial:
    """The queues while victims are tried out (`Simulate…Fn`)."""

    def __init__(self, session: Session, queues: Queues, task: TaskState, *, prepared: bool):
        self._session, self._queues, self._task, self._prepared = session, queues, task, prepared
        self._held: dict[str, Amounts] = {}

    def add(self, other: TaskState) -> bool:
        """The other comes back."""
        if self._known(other):
            for held in self._chain(other):
                give(held, other.request)
        return self._known(other)

    def remove(self, other: TaskState) -> bool:
        """The other goes."""
        if self._known(other):
            for held in self._chain(other):
                take(held, other.request)
        return self._known(other)

    def allocatable(self) -> bool:
        """Whether the task's queue and everything above would stay within their limits."""
        queue = self._session.jobs[self._task.job].queue
        if not self._prepared or self._queues.refused is not None or not self._queues[queue].is_leaf:
            return False
        request = self._task.request
        for account, held in zip(self._queues.chain(queue), self._chain(self._task), strict=True):
            if over(NAME, "", held, account.limit, request) is not None:
                return False
        return True

    def predicate(self) -> bool:
        """Nothing to say about the node."""
        return True

    def _known(self, other: TaskState) -> bool:
        return self._prepared and self._session.jobs[other.job].queue in self._queues.accounts

    def _chain(self, task: TaskState) -> Iterator[Amounts]:
        for account in self._queues.chain(self._session.jobs[task.job].queue):
            if account.name not in self._held:
                self._held[account.name] = dict(account.allocated)
            yield self._held[account.name]
