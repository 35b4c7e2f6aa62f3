"""capacity: queues hold what they declare, alone or in a tree; mirrors `plugins/capacity/capacity.go`."""

from __future__ import annotations

from cpsched.greedy.volcano.amounts import Amounts, give
from cpsched.greedy.volcano.hooks import PERMIT, REJECT, Hooks, Refusal
from cpsched.greedy.volcano.jobs import JobState
from cpsched.greedy.volcano.nodes import NodeAccount
from cpsched.greedy.volcano.plugins.capacity_reclaim import Reclaim
from cpsched.greedy.volcano.plugins.capacity_tree import NAME, CapacityTrial, Queues
from cpsched.greedy.volcano.plugins.promises import without_gated
from cpsched.greedy.volcano.plugins.queue_account import over, quota_vote
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.instance import Queue
from cpsched.policy import PluginConf
from cpsched.resources import less_equal_partly_for_zero_filtered


def capacity(session: Session, conf: PluginConf) -> Hooks:
    """Order, limits and victims by declared shares; a tree that is none refuses everything."""
    queues = Queues.opened(session, ancestor_level=conf.arguments.integer("ancestorReclaimLevel"))
    gates = _Gates(session, queues)
    reclaim = Reclaim(session, queues)
    tree = queues.hierarchical and queues.refused is None

    def simulate(task: TaskState, node: NodeAccount) -> CapacityTrial:
        return CapacityTrial(session, queues, task, prepared=conf.on("enablePredicate"))

    return Hooks(
        queue_order=None if queues.refused is not None else queues.compare,
        victim_queue_order=queues.compare_victims if tree else None,
        allocatable=gates.allocatable,
        preemptive=gates.preemptive,
        reclaimable=reclaim.victims,
        evictable=reclaim.evictable,
        job_enqueueable=gates.enqueueable,
        job_enqueued=gates.enqueued,
        simulate=simulate,
        on_allocate=queues.allocated,
        on_deallocate=queues.deallocated,
    )


class _Gates:
    """Who may take, reclaim and enter."""

    def __init__(self, session: Session, queues: Queues):
        self._session, self._queues = session, queues

    def allocatable(self, queue: Queue, task: TaskState) -> Refusal | None:
        """The queue and everything above it stay within their limits."""
        if not queue.is_open:
            return Refusal(NAME, f"queue {queue.name} is not open")
        if self._queues.refused is not None:
            return Refusal(NAME, self._queues.refused)
        if not self._queues[queue.name].is_leaf:
            return Refusal(NAME, f"queue {queue.name} is not a leaf")
        for account in self._queues.chain(queue.name):
            if refusal := over(NAME, account.over_limit, account.allocated, account.limit, task.request):
                return refusal
        return None

    def preemptive(self, queue: Queue, request: Amounts) -> Refusal | None:
        """Within its limit, and in some dimension within what it, or an ancestor near enough, deserves."""
        if self._queues.refused is not None:
            return Refusal(NAME, self._queues.refused)
        if not queue.is_open:
            return Refusal(NAME, f"queue {queue.name} is not open")
        account = self._queues[queue.name]
        held = account.with_(request)
        if refusal := over(NAME, account.over_limit, account.allocated, account.limit, request):
            return refusal
        if less_equal_partly_for_zero_filtered(held, account.deserved, request):
            return None
        for ancestor in self._queues.near_ancestors(account):
            if less_equal_partly_for_zero_filtered(ancestor.with_(request), ancestor.deserved, request):
                return None
        rule = f"queue {queue.name} is above its deserved share in all that is asked for"
        return over(NAME, rule, account.allocated, account.deserved, request) or Refusal(NAME, rule)

    def enqueueable(self, job: JobState) -> int:
        """The job's minimum fits the queue and everything above it."""
        if self._queues.refused is not None:
            job.enqueue_refusal = self._queues.refused
            return REJECT
        if not self._queues[job.queue].is_leaf or not self._session.queues[job.queue].is_open:
            job.enqueue_refusal = f"queue {job.queue} is not an open leaf"
            return REJECT
        if job.job.min_resources is None:
            return PERMIT
        for account in self._queues.chain(job.queue):
            if missing := account.refuses(NAME, job):
                return quota_vote(job, missing)
        return PERMIT

    def enqueued(self, job: JobState) -> None:
        """Remember the promise in the queue and everything above it."""
        if job.job.min_resources is None or job.queue not in self._queues.accounts:
            return
        promise = without_gated(job, job.job.min_resources)
        for account in self._queues.chain(job.queue):
            give(account.inqueue, promise)
