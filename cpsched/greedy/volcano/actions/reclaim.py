"""reclaim: starving jobs take back what other queues borrowed; mirrors `actions/reclaim/reclaim.go`."""

from __future__ import annotations

from cpsched.greedy.volcano.amounts import fits, give
from cpsched.greedy.volcano.heap import Heap
from cpsched.greedy.volcano.hooks import Refusal
from cpsched.greedy.volcano.jobs import JobState
from cpsched.greedy.volcano.nodes import NodeAccount
from cpsched.greedy.volcano.search import Search, by_shard, enough, finder_of, for_preemption, resolvable
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.statement import Statement
from cpsched.greedy.volcano.status import Status
from cpsched.greedy.volcano.tasks import TaskState


def reclaim(session: Session) -> None:
    """One queue after the other, each drained before the next."""
    starving: dict[str, Heap[JobState]] = {}
    names: dict[str, None] = {}
    for job in session.jobs.values():
        if job.is_pending or not session.is_valid(job):
            continue
        names[job.queue] = None
        if session.is_starving(job):
            starving.setdefault(job.queue, Heap(session.job_before)).push(job)
    tasks = {
        job.key: Heap(session.task_before, (task for task in job.pending() if not task.gated))
        for jobs in starving.values()
        for job in jobs
    }
    queues = Heap(session.queue_before, (session.queues[name] for name in names))
    while queues:
        queue = queues.pop()
        if refusal := session.overused(queue):
            session.trace.tell(f"reclaim: queue {queue.name} is passed over: {refusal.text()}")
            _note(session, list(starving.get(queue.name, ())), refusal)
            continue
        jobs = starving.get(queue.name)
        while jobs:
            job = jobs.pop()
            session.trace.tell(f"reclaim: queue {queue.name}: job {job.key}")
            _serve(session, job, tasks[job.key])


def _serve(session: Session, job: JobState, tasks: Heap[TaskState]) -> None:
    """Reclaim for task after task while the job starves; keep it only if the gang is complete."""
    queue, statement = session.queues[job.queue], Statement(session)
    while session.is_starving(job) and tasks:
        task = tasks.pop()
        if task.task.never_preempts:
            session.trace.note(task.key, "reclaim", "its preemptionPolicy is Never")
        elif refusal := session.not_preemptive(queue, task.request):
            session.trace.note(task.key, "reclaim", refusal)
        elif session.pre_predicate(task) is None:
            _reclaim_for(session, statement, task)
    if session.is_pipelined(job):
        statement.commit()
    else:
        session.trace.tell(f"  {job.key} is undone: its gang stays incomplete")
        statement.discard()


def _reclaim_for(session: Session, statement: Statement, task: TaskState) -> None:
    cached = session.conf.configurations["reclaim"].boolean("predicateErrorCacheEnable")
    nodes, _ = Search(session, cached=cached).feasible(task, resolvable(session, task), for_preemption(session))
    finder = finder_of(session, nodes)
    for node in (node for group in by_shard(session, nodes) if group for node in finder.reclaiming(task, group)):
        if reclaim_on(session, statement, task, node):
            return
    session.trace.note(task.key, "reclaim", f"no node among {len(nodes)} gives enough up")


def reclaim_on(session: Session, statement: Statement, task: TaskState, node: NodeAccount) -> bool:
    """Evict in victim order on the node until the task fits; False and nothing done if it does not."""
    candidates = session.victim_candidates("reclaimable", (t for t in node.tasks.values() if may_go(session, task, t)))
    if not candidates:
        return False
    victims = session.victims("reclaimable", task, candidates)
    if not enough(task, node, victims):
        return False
    attempt, room = Statement(session), node.future_idle
    waiting, evicted = session.victims_queue(victims, task), False
    while waiting and not fits(task.request, room):
        victim = waiting.pop()
        attempt.evict(victim, "reclaim", task.job)
        give(room, victim.request)
        evicted = True
        session.trace.tell(f"  {victim.key} on {node.name} goes for {task.key}")
    # Neither filters nor the queue's limit are asked again here.
    if fits(task.request, room) and attempt.pipeline(task, node, after_eviction=evicted):
        session.trace.tell(f"  {task.key} reserves room on {node.name}")
        statement.merge(attempt)
        return True
    attempt.discard()
    return False


def may_go(session: Session, task: TaskState, other: TaskState) -> bool:
    """A running, preemptable task of another queue that gives back."""
    if other.status is not Status.RUNNING or not other.preemptable or other.job not in session.jobs:
        return False
    theirs = session.jobs[other.job].queue
    return theirs != session.jobs[task.job].queue and session.queues[theirs].reclaimable


def _note(session: Session, jobs: list[JobState], refusal: Refusal) -> None:
    for job in jobs:
        for task in job.pending():
            session.trace.note(task.key, "reclaim", refusal)
