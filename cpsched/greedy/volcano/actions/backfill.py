"""backfill: tasks that ask for nothing onto any node that lets them in; mirrors `actions/backfill/backfill.go`."""

from __future__ import annotations

from cpsched.greedy.volcano.finder import Nodes
from cpsched.greedy.volcano.fit import FitErrors
from cpsched.greedy.volcano.heap import Heap
from cpsched.greedy.volcano.jobs import JobState
from cpsched.greedy.volcano.nodes import NodeAccount
from cpsched.greedy.volcano.search import Search, by_shard, finder_of, for_backfill
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.statement import unplace
from cpsched.greedy.volcano.status import Status
from cpsched.greedy.volcano.tasks import TaskState


def backfill(session: Session) -> None:
    """Place task by task; only filters limit them, no room, no queue, no gang."""
    cached = session.conf.configurations["backfill"].boolean("predicateErrorCacheEnable")
    test = for_backfill(session)
    for task in _waiting(session):
        job = session.jobs[task.job]
        if error := session.pre_predicate(task):
            job.fit_errors[task.key] = FitErrors.everywhere(error, session.nodes)
            continue
        nodes, errors = Search(session, cached=cached).feasible(task, session.node_list, test)
        if not nodes:
            job.fit_errors[task.key] = errors
            session.trace.tell(f"backfill: {task.key}: {errors.message()}")
            continue
        node = _choose(session, task, nodes)
        session.trace.tell(f"backfill: {task.key} goes to {node.name}")
        if error := session.allocate_now(task, node):
            job.fit_errors[task.key] = FitErrors.everywhere(error, [node.name])
            session.trace.tell(f"  {error}")


def _choose(session: Session, task: TaskState, nodes: Nodes) -> NodeAccount:
    if len(nodes) == 1:
        return nodes[0]
    return next(finder_of(session, group).best(task, group) for group in by_shard(session, nodes) if group)


def _waiting(session: Session) -> list[TaskState]:
    """Such tasks by queue, job and task order; reservations that preempt or reclaim made for them are undone."""
    jobs: dict[str, Heap[JobState]] = {}
    tasks: dict[str, list[TaskState]] = {}
    for job in session.jobs.values():
        if job.is_pending or not session.is_valid(job):
            continue
        wanted = [task for task in job.pending() if task.best_effort and not task.gated]
        for task in sorted(job.by_status[Status.PIPELINED].values(), key=lambda task: task.uid):
            if task.best_effort:
                unplace(session, task)
                wanted.append(task)
        if wanted:
            tasks[job.key] = wanted
            jobs.setdefault(job.queue, Heap(session.job_before)).push(job)
    ordered = []
    queues = Heap(session.queue_before, (session.queues[name] for name in jobs))
    while queues:
        waiting = jobs[queues.pop().name]
        while waiting:
            heap = Heap(session.task_before, tasks[waiting.pop().key])
            while heap:
                ordered.append(heap.pop())
    return ordered
