"""Whom capacity gives up to a reclaimer; mirrors the Reclaimable function of `plugins/capacity/capacity.go`."""

from __future__ import annotations

from collections.abc import Sequence

from cpsched.greedy.volcano.amounts import Amounts, take
from cpsched.greedy.volcano.hooks import PERMIT, REJECT, GangEviction
from cpsched.greedy.volcano.plugins.capacity_tree import ROOT, Queues
from cpsched.greedy.volcano.plugins.queue_account import QueueAccount
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.resources import Vector, greater_partly_relevant, less_equal, shared_names, sub


class Reclaim:
    """Victims of queues above what they deserve, never below what they are guaranteed."""

    def __init__(self, session: Session, queues: Queues):
        self._session, self._queues = session, queues

    def victims(self, reclaimer: TaskState, candidates: Sequence[TaskState]) -> tuple[list[TaskState], int]:
        """Candidates in victim order, each looked at after those before it are gone."""
        own = self._account(reclaimer)
        if self._queues.refused is not None or own is None:
            return [], REJECT
        left: dict[str, Amounts] = {}
        named = []
        ordered = self._session.victims_queue(candidates, reclaimer)
        while ordered:
            candidate = ordered.pop()
            account = self._account(candidate)
            if account is not None and self._gives_up(reclaimer, own, candidate, account, left):
                named.append(candidate)
        return named, PERMIT

    def evictable(self, eviction: GangEviction, candidates: Sequence[TaskState]) -> tuple[list[TaskState], int]:
        """Gang actions: any task within a queue; between queues what is above deserved, ancestors left out."""
        if eviction.action == "gangpreempt":
            return list(candidates), PERMIT
        if self._queues.refused is not None:
            return [], REJECT
        left: dict[str, Amounts] = {}
        named = []
        for candidate in candidates:
            account = self._account(candidate)
            if account is None:
                continue
            held = left.setdefault(account.name, dict(account.allocated))
            if not less_equal(account.guarantee, sub(held, candidate.request)):
                continue
            unclaimed = _unclaimed(candidate.request, account.deserved)
            if unclaimed or greater_partly_relevant(held, account.deserved, candidate.request):
                take(held, candidate.request)
                named.append(candidate)
        return named, PERMIT

    def _gives_up(
        self,
        reclaimer: TaskState,
        own: QueueAccount,
        candidate: TaskState,
        account: QueueAccount,
        left: dict[str, Amounts],
    ) -> bool:
        if not any(name != "pods" for name in shared_names(candidate.request, reclaimer.request)):
            return False
        held = left.setdefault(account.name, dict(account.allocated))
        if not less_equal(account.guarantee, sub(held, candidate.request)):
            return False
        if _unclaimed(candidate.request, account.deserved):
            if self._one_family(own, account) and _unclaimed(reclaimer.request, own.deserved):
                return False
        elif not greater_partly_relevant(held, account.deserved, candidate.request):
            return False
        above = self._ancestors_give_up(own, candidate, account, left)
        if above is None:
            return False
        for amounts in (held, *above):
            take(amounts, candidate.request)
        return True

    def _ancestors_give_up(
        self, own: QueueAccount, candidate: TaskState, account: QueueAccount, left: dict[str, Amounts]
    ) -> list[Amounts] | None:
        """What the ancestors that were asked hold, None if one of them is within its share."""
        asked = []
        for distance in self._queues.distances(account):
            name = self._queues.ancestor(account, distance)
            if name is None or name == ROOT or name == self._queues.ancestor(own, distance):
                continue
            ancestor = self._queues[name]
            held = left.setdefault(name, dict(ancestor.allocated))
            asked.append(held)
            if _unclaimed(candidate.request, ancestor.deserved):
                continue
            if not greater_partly_relevant(held, ancestor.deserved, candidate.request):
                return None
        return asked

    def _one_family(self, own: QueueAccount, account: QueueAccount) -> bool:
        """Whether both queues are below one ancestor, not the root, within the configured level."""
        mine = {ancestor.name for ancestor in self._queues.near_ancestors(own)}
        return any(ancestor.name in mine for ancestor in self._queues.near_ancestors(account))

    def _account(self, task: TaskState) -> QueueAccount | None:
        job = self._session.jobs.get(task.job)
        return None if job is None else self._queues.accounts.get(job.queue)


def _unclaimed(request: Vector, deserved: Vector) -> bool:
    """Nothing the task asks for is declared as deserved; pods count."""
    return not shared_names(request, deserved)
