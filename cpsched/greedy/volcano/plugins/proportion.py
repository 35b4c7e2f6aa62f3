"""proportion: queues share the cluster by weight; mirrors `plugins/proportion/proportion.go`."""

from __future__ import annotations

from collections.abc import Sequence

from cpsched.greedy.volcano.amounts import Amounts, give, take
from cpsched.greedy.volcano.fast.plugin_bulk import ShareBulk
from cpsched.greedy.volcano.hooks import PERMIT, REJECT, Hooks, Refusal
from cpsched.greedy.volcano.jobs import JobState
from cpsched.greedy.volcano.nodes import NodeAccount
from cpsched.greedy.volcano.plugins.promises import without_gated
from cpsched.greedy.volcano.plugins.queue_account import QueueAccount, over, quota_vote
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.instance import Queue
from cpsched.policy import PluginConf
from cpsched.resources import less_equal
from cpsched.shares import dominant_share
from cpsched.shares import proportion as water_filling
from cpsched.snapshot.jobs import group_jobs
from cpsched.snapshot.queues import queue_demands

NAME = "proportion"


def proportion(session: Session, conf: PluginConf) -> Hooks:
    """Order, limits and victims by deserved share; the share is fixed when the session opens."""
    demands = queue_demands(session.instance, group_jobs(session.instance))
    queues = {
        name: QueueAccount(name, opened, dominant_share)
        for name, opened in water_filling(session.total, demands).items()
    }

    def order(left: Queue, right: Queue) -> int:
        if left.priority != right.priority:
            return right.priority - left.priority
        mine, other = queues[left.name].share, queues[right.name].share
        return (mine > other) - (mine < other)

    def overused(queue: Queue) -> Refusal | None:
        account = queues[queue.name]
        if not less_equal(account.deserved, account.allocated):
            return None
        shown = ((name, account.allocated.get(name, 0), due) for name, due in account.deserved.items())
        return Refusal(NAME, f"queue {queue.name} holds all it deserves", tuple(shown))

    def beyond(queue: Queue, task: TaskState) -> Refusal | None:
        return beyond_without(queue, task, ())

    def preemptive(queue: Queue, request: Amounts) -> Refusal | None:
        if not queue.is_open:
            return Refusal(NAME, f"queue {queue.name} is not open")
        account = queues[queue.name]
        return over(NAME, account.over_deserved, account.allocated, account.deserved, request)

    def beyond_without(queue: Queue, task: TaskState, gone: Sequence[TaskState]) -> Refusal | None:
        if not queue.is_open:
            return Refusal(NAME, f"queue {queue.name} is not open")
        account = queues[queue.name]
        held = account.without(gone) if gone else account.allocated
        return over(NAME, account.over_deserved, held, account.deserved, task.request)

    def victims(reclaimer: TaskState, candidates: Sequence[TaskState]) -> tuple[list[TaskState], int]:
        left: dict[str, Amounts] = {}
        named = []
        for candidate in candidates:
            job = session.jobs.get(candidate.job)
            if job is None:
                continue
            held = left.setdefault(job.queue, dict(queues[job.queue].allocated))
            if not less_equal(held, queues[job.queue].deserved):
                take(held, candidate.request)
                named.append(candidate)
        return named, PERMIT

    def enqueueable(job: JobState) -> int:
        if not session.queues[job.queue].is_open:
            job.enqueue_refusal = f"queue {job.queue} is not open"
            return REJECT
        if job.job.min_resources is None:
            return PERMIT
        return quota_vote(job, queues[job.queue].refuses(NAME, job))

    def enqueued(job: JobState) -> None:
        if job.job.min_resources is not None:
            give(queues[job.queue].inqueue, without_gated(job, job.job.min_resources))

    def allocated(task: TaskState) -> None:
        if task.job in session.jobs:
            account = queues[session.jobs[task.job].queue]
            account.give(task.request)
            account.refresh()

    def deallocated(task: TaskState) -> None:
        if task.job in session.jobs:
            account = queues[session.jobs[task.job].queue]
            account.take(task.request)
            account.refresh()

    def simulate(task: TaskState, node: NodeAccount) -> _Trial:
        return _Trial(session, queues, task, prepared=conf.on("enablePredicate"))

    return Hooks(
        queue_order=order,
        overused=overused,
        allocatable=beyond,
        preemptive=preemptive,
        reclaimable=victims,
        job_enqueueable=enqueueable,
        job_enqueued=enqueued,
        simulate=simulate,
        on_allocate=allocated,
        on_deallocate=deallocated,
        bulk=ShareBulk(queues, beyond_without),
        order_matters=True,
    )


class _Trial:
    """The queues while victims are tried out; the queue's state is not looked at here."""

    def __init__(self, session: Session, queues: dict[str, QueueAccount], task: TaskState, *, prepared: bool):
        self._session, self._queues, self._task, self._prepared = session, queues, task, prepared
        self._held: dict[str, Amounts] = {}

    def add(self, other: TaskState) -> bool:
        """The other comes back."""
        if self._prepared:
            give(self._of(other), other.request)
        return self._prepared

    def remove(self, other: TaskState) -> bool:
        """The other goes."""
        if self._prepared:
            take(self._of(other), other.request)
        return self._prepared

    def allocatable(self) -> bool:
        """Whether the task's queue would stay within what it deserves."""
        if not self._prepared:
            return False
        deserved = self._queues[self._session.jobs[self._task.job].queue].deserved
        return over(NAME, "", self._of(self._task), deserved, self._task.request) is None

    def predicate(self) -> bool:
        """Nothing to say about the node."""
        return True

    def _of(self, task: TaskState) -> Amounts:
        queue = self._session.jobs[task.job].queue
        if queue not in self._held:
            self._held[queue] = dict(self._queues[queue].allocated)
        return self._held[queue]
