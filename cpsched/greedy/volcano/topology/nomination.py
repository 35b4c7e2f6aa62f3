"""Place a sub-job where a gang action of this session has made room; mirrors `allocateFromNomination`."""

from __future__ import annotations

from cpsched.greedy.volcano.finder import Test
from cpsched.greedy.volcano.jobs import JobState
from cpsched.greedy.volcano.nodes import NodeAccount
from cpsched.greedy.volcano.placing import place
from cpsched.greedy.volcano.search import Search
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.statement import Statement
from cpsched.greedy.volcano.task_queue import TaskQueue
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.greedy.volcano.topology.recorder import Recorder
from cpsched.greedy.volcano.topology.sub_jobs import SubJob


def from_nomination(
    session: Session,
    job: JobState,
    sub_job: SubJob,
    tasks: TaskQueue,
    domain: str,
    recorder: Recorder,
    test: Test,
) -> Statement | None:
    """Every task on its own nominated node; one miss, and neither the domain nor the nodes are nominated any more."""
    statement = Statement(session)
    plan = _plan(session, job, sub_job, tasks, test)
    # A task that fits neither now nor later is passed over without a word.
    if plan is None or not all(
        place(session, statement, task, node) for task, node in plan if node.fits_future(task.request)
    ):
        statement.discard()
        _forget(session, sub_job, tasks)
        return None
    while tasks:
        tasks.pop()
    sub_job.allocated_in = session.tree.common(sub_job.allocated_in, sub_job.nominated)
    recorder.choose_part(job, domain, sub_job.key, sub_job.allocated_in)
    return statement


def _plan(
    session: Session, job: JobState, sub_job: SubJob, tasks: TaskQueue, test: Test
) -> list[tuple[TaskState, NodeAccount]] | None:
    cached = session.conf.configurations["allocate"].boolean("predicateErrorCacheEnable")
    search, queue, plan, left = Search(session, cached=cached), session.queues[job.queue], [], tasks.clone()
    while left:
        task = left.pop()
        name = session.nominated_node(task)
        if session.not_allocatable(queue, task) or not session.tree.holds(sub_job.nominated, name):
            return None
        node = session.nodes[name]
        if session.pre_predicate(task) is not None or not search.feasible(task, [node], test)[0]:
            return None
        plan.append((task, node))
    return plan


def _forget(session: Session, sub_job: SubJob, tasks: TaskQueue) -> None:
    sub_job.nominated = ""
    session.forgotten.update(task.key for task in tasks)
