"""enqueue: which jobs may enter the cycle; mirrors `actions/enqueue/enqueue.go`."""

from __future__ import annotations

from cpsched.greedy.volcano.heap import Heap
from cpsched.greedy.volcano.jobs import JobState
from cpsched.greedy.volcano.session import Session


def enqueue(session: Session) -> None:
    """Ask for one pending job per turn, queue by queue; a refused job is not asked for again."""
    pending: dict[str, Heap[JobState]] = {}
    for job in session.jobs.values():
        if job.is_pending:
            pending.setdefault(job.queue, Heap(session.job_before)).push(job)
    names = dict.fromkeys(job.queue for job in session.jobs.values())
    queues = Heap(session.queue_before, (session.queues[name] for name in names))
    while queues:
        queue = queues.pop()
        jobs = pending.get(queue.name)
        if not jobs:
            continue
        job = jobs.pop()
        if job.job.min_resources is None or session.may_enqueue(job):
            for tell in (tell for tier in session.point("job_enqueued") for tell in tier):
                tell(job)
            job.phase = "Inqueue"
            session.trace.tell(f"enqueue: queue {queue.name}: job {job.key} enters")
        else:
            session.trace.tell(f"enqueue: queue {queue.name}: job {job.key} stays out: {job.enqueue_refusal}")
        queues.push(queue)
