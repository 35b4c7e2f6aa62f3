"""allocate: pending tasks onto free or soon-to-be-free room, gang by gang; mirrors `actions/allocate/allocate.go`."""

from __future__ import annotations

from cpsched.greedy.volcano.finder import Test
from cpsched.greedy.volcano.heap import Heap
from cpsched.greedy.volcano.jobs import JobState
from cpsched.greedy.volcano.placing import place_tasks
from cpsched.greedy.volcano.search import for_allocation
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.statement import Statement
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.greedy.volcano.topology.allocation import DomainAllocation
from cpsched.greedy.volcano.topology.needless import Needless
from cpsched.greedy.volcano.topology.nomination import from_nomination
from cpsched.greedy.volcano.topology.recorder import Recorder
from cpsched.greedy.volcano.topology.worksheet import Worksheet, worksheet
from cpsched.topology.tree import TOP


def allocate(session: Session) -> None:
    """Serve the first job of the first queue, put both back while there is more to do, until no job is left."""
    jobs, sheets = _waiting(session)
    queues = Heap(session.queue_before, (session.queues[name] for name in jobs))
    test, recorder, needless = for_allocation(session), Recorder(session.tree), Needless(session)
    while queues:
        queue = queues.pop()
        if refusal := session.overused(queue):
            session.trace.tell(f"allocate: queue {queue.name} is passed over: {refusal.text()}")
            for job in jobs[queue.name]:
                for task in (task for heap in sheets[job.key].tasks.values() for task in heap):
                    session.trace.note(task.key, "allocate", refusal)
            continue
        if not jobs[queue.name]:
            continue
        job = jobs[queue.name].pop()
        session.trace.tell(f"allocate: queue {queue.name}: job {job.key}")
        if _serve(session, job, sheets[job.key], recorder, test, needless):
            jobs[queue.name].push(job)
        queues.push(queue)


def _waiting(session: Session) -> tuple[dict[str, Heap[JobState]], dict[str, Worksheet]]:
    """Jobs by queue and their tasks that ask for something."""
    jobs: dict[str, Heap[JobState]] = {}
    sheets: dict[str, Worksheet] = {}
    for job in session.jobs.values():
        if job.is_pending:
            if "enqueue" in session.conf.actions:
                continue
            job.phase = "Inqueue"
        if not session.is_valid(job):
            continue
        if not session.tree.ready and job.with_topology:
            session.trace.tell(f"allocate: job {job.key} waits: the tree of HyperNodes is broken")
            continue
        sheet = worksheet(session, job, _asks)
        if sheet.sub_jobs:
            sheets[job.key] = sheet
            jobs.setdefault(job.queue, Heap(session.job_before)).push(job)
    return jobs, sheets


def _asks(task: TaskState) -> bool:
    return not (task.gated and not task.only_queue_gate) and not task.best_effort


def _serve(
    session: Session, job: JobState, sheet: Worksheet, recorder: Recorder, test: Test, needless: Needless
) -> bool:
    """Place what makes the job ready, and bind it if it is; returns whether more is to be done for it then."""
    if job.binding_topology or job.has_policies:
        statement = DomainAllocation(session, job, recorder, test, needless).job(sheet)
        if statement is None or not session.is_ready(job):
            return False
        statement.commit()
        recorder.commit(job)
        return bool(sheet.sub_jobs)
    statement = _anywhere(session, job, sheet, recorder, test)
    if statement is None or not session.is_ready(job):
        return False
    statement.commit()
    job.sub_jobs[job.key].nominated = ""
    return bool(sheet.tasks[job.key])


def _anywhere(session: Session, job: JobState, sheet: Worksheet, recorder: Recorder, test: Test) -> Statement | None:
    """A job that is one group and may run anywhere."""
    sub_job, tasks = job.sub_jobs[job.key], sheet.tasks[job.key]
    if sub_job.nominated:
        statement = from_nomination(session, job, sub_job, tasks, TOP, recorder, test)
        if statement is not None:
            return statement
    return place_tasks(session, job, sub_job, tasks, TOP, test)
