"""Place tasks of a sub-job on the nodes of a HyperNode; mirrors `allocateResourcesForTasks` of `actions/allocate`."""

from __future__ import annotations

from collections.abc import Sequence

from cpsched.greedy.volcano.amounts import fits
from cpsched.greedy.volcano.finder import Nodes, Test
from cpsched.greedy.volcano.fit import FitErrors
from cpsched.greedy.volcano.jobs import JobState
from cpsched.greedy.volcano.nodes import NodeAccount
from cpsched.greedy.volcano.search import Search, choose
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.statement import Statement
from cpsched.greedy.volcano.task_queue import TaskQueue
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.greedy.volcano.topology.sub_jobs import SubJob
from cpsched.topology.tree import TOP


def place_tasks(
    session: Session,
    job: JobState,
    sub_job: SubJob,
    tasks: TaskQueue,
    domain: str,
    test: Test,
    *,
    detailed: bool = True,
) -> Statement | None:
    """Place tasks until the sub-job is ready; None if it does not even become pipelined.

    Without `detailed` it is noted that a task found no node, but not what speaks against each.
    """
    nodes = session.nodes_in(domain)
    if not nodes:
        return None
    statement = Statement(session)
    cached = session.conf.configurations["allocate"].boolean("predicateErrorCacheEnable")
    search, near = Search(session, cached=cached), sub_job.allocated_in
    while tasks:
        task = tasks.pop()
        if _passed_over(session, job, task):
            continue
        found, errors = _candidates(session, search, task, nodes, domain, test, detailed=detailed)
        if errors is not None:
            job.fit_errors[task.key] = errors
            if session.trace.wanted:
                session.trace.tell(f"  {task.key}: {errors.message()}")
            if job.need_continue(sub_job):
                continue
            break
        if sub_job.demand is not None:
            task.here = near
        node = choose(session, task, found)
        if node is None or not place(session, statement, task, node):
            continue
        if sub_job.demand is not None and (leaf := session.tree.leaf(node.name)):
            near = session.tree.common(leaf, near)
        if session.is_sub_job_ready(job, sub_job):
            break
    if session.is_sub_job_ready(job, sub_job) or session.is_sub_job_pipelined(job, sub_job):
        return statement
    session.trace.tell(f"  {sub_job.key} is undone: too few of its tasks find room")
    statement.discard()
    return None


def _passed_over(session: Session, job: JobState, task: TaskState) -> bool:
    """Whether the queue may not take the task, a gate holds it, or its role has failed before."""
    if refusal := session.not_allocatable(session.queues[job.queue], task):
        session.trace.note(task.key, "allocate", refusal)
        if session.trace.wanted:
            session.trace.tell(f"  {task.key}: {refusal.text()}")
        return True
    if task.gated:
        return True
    if job.has_fit_errors(task):
        text = f"Task {task.task.name} with role spec {task.role} has already predicated failed, skip"
        job.fit_errors[task.key] = FitErrors(text)
        return True
    return False


def _candidates(
    session: Session,
    search: Search,
    task: TaskState,
    nodes: Sequence[NodeAccount],
    domain: str,
    test: Test,
    *,
    detailed: bool,
) -> tuple[Nodes, FitErrors | None]:
    """Feasible nodes, the nominated one alone if it still does; or why there are none."""
    if error := session.pre_predicate(task):
        return [], FitErrors.everywhere(error, [node.name for node in nodes])
    name = session.nominated_node(task)
    nominated = session.nodes.get(name) if session.tree.holds(domain, name) else None
    if nominated is not None and nominated.fits_future(task.request):
        found, _ = search.feasible(task, [nominated], test)
        if found:
            return found, None
    found, errors = search.feasible(task, nodes, test, detailed=detailed)
    if found:
        return found, None
    if domain != TOP:
        errors.hyper_node = domain
    return found, errors


def place(session: Session, statement: Statement, task: TaskState, node: NodeAccount) -> bool:
    """Take room that is free, or else reserve what will be."""
    if fits(task.request, node.idle):
        session.trace.tell(f"  {task.key} takes room on {node.name}")
        return statement.allocate(task, node)
    session.trace.tell(f"  {task.key} reserves room on {node.name}")
    return statement.pipeline(task, node, after_eviction=False)
