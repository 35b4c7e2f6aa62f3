"""allocate: pending tasks onto free or soon-to-be-free room, gang by gang; mirrors `actions/allocate/allocate.go`."""

from __future__ import annotations

from collections.abc import Iterator

from cpsched.greedy.volcano.amounts import fits
from cpsched.greedy.volcano.fast.board import NodeSet
from cpsched.greedy.volcano.fit import FitErrors
from cpsched.greedy.volcano.heap import Heap
from cpsched.greedy.volcano.jobs import JobState
from cpsched.greedy.volcano.nodes import NodeAccount
from cpsched.greedy.volcano.search import Nodes, Search, Test, best, by_shard, for_allocation
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.statement import Statement
from cpsched.greedy.volcano.tasks import TaskState

Tasks = dict[str, Heap[TaskState]]


def allocate(session: Session) -> None:
    """Serve the first job of the first queue, put both back while there is more to do, until nobody is left."""
    jobs, tasks = _waiting(session)
    queues = Heap(session.queue_before, (session.queues[name] for name in jobs))
    test = for_allocation(session)
    while queues:
        queue = queues.pop()
        if refusal := session.overused(queue):
            session.story.tell(f"allocate: queue {queue.name} is passed over: {refusal.text()}")
            for job in jobs[queue.name]:
                for task in tasks[job.key]:
                    session.story.note(task.key, "allocate", refusal)
            continue
        if not jobs[queue.name]:
            continue
        job = jobs[queue.name].pop()
        session.story.tell(f"allocate: queue {queue.name}: job {job.key}")
        statement = _serve(session, job, tasks[job.key], test)
        if statement is not None and session.is_ready(job):
            statement.commit()
            if tasks[job.key]:
                jobs[queue.name].push(job)
        queues.push(queue)


def _waiting(session: Session) -> tuple[dict[str, Heap[JobState]], Tasks]:
    """Jobs by queue and their tasks that ask for something."""
    jobs: dict[str, Heap[JobState]] = {}
    tasks: Tasks = {}
    for job in session.jobs.values():
        if job.is_pending:
            if "enqueue" in session.conf.actions:
                continue
            job.phase = "Inqueue"
        if not session.is_valid(job):
            continue
        wanted = [
            task for task in job.pending() if not (task.gated and not task.only_queue_gate) and not task.best_effort
        ]
        if wanted:
            tasks[job.key] = Heap(session.task_before, wanted)
            jobs.setdefault(job.queue, Heap(session.job_before)).push(job)
    return jobs, tasks


def _serve(session: Session, job: JobState, tasks: Heap[TaskState], test: Test) -> Statement | None:
    """Place tasks until the job is ready (`allocateResourcesForTasks`); None if it does not even become pipelined."""
    statement = Statement(session)
    cached = session.conf.configurations["allocate"].boolean("predicateErrorCacheEnable")
    search, queue = Search(session, cached=cached), session.queues[job.queue]
    while tasks:
        task = tasks.pop()
        if refusal := session.not_allocatable(queue, task):
            session.story.note(task.key, "allocate", refusal)
            if session.story.wanted:
                session.story.tell(f"  {task.key}: {refusal.text()}")
            continue
        if task.gated:
            continue
        if job.has_fit_errors(task):
            text = f"Task {task.task.name} with role spec {task.role} has already predicated failed, skip"
            job.fit_errors[task.key] = FitErrors(text)
            continue
        nodes, errors = _candidates(session, search, task, test)
        if errors is not None:
            job.fit_errors[task.key] = errors
            if session.story.wanted:
                session.story.tell(f"  {task.key}: {errors.message()}")
            if job.need_continue():
                continue
            break
        node = _choose(session, task, nodes)
        if node is not None and _place(session, statement, task, node) and session.is_ready(job):
            break
    if session.is_ready(job) or session.is_pipelined(job):
        return statement
    session.story.tell(f"  {job.key} is undone: too few of its tasks find room")
    statement.discard()
    return None


def _candidates(session: Session, search: Search, task: TaskState, test: Test) -> tuple[Nodes, FitErrors | None]:
    """Feasible nodes, the nominated one alone if it still does; or why there are none."""
    if error := session.pre_predicate(task):
        return [], FitErrors.everywhere(error, session.nodes)
    nominated = session.nodes.get(task.task.pod.status.nominated_node_name)
    if nominated is not None and nominated.fits_future(task.request):
        found, _ = search.feasible(task, [nominated], test)
        if found:
            return found, None
    found, errors = search.feasible(task, session.node_list, test)
    return found, None if found else errors


def _choose(session: Session, task: TaskState, nodes: Nodes) -> NodeAccount | None:
    """The best node of the first gradient that has any."""
    for group in _gradients(session, task, nodes):
        if group:
            return group[0] if len(group) == 1 else best(session, task, group)
    return None


def _gradients(session: Session, task: TaskState, nodes: Nodes) -> Iterator[Nodes]:
    """Free now and own, free now and of other shards, free soon and own, free soon and of other shards."""
    for room in _now_and_later(session, task, nodes):
        yield from by_shard(session, room)


def _now_and_later(session: Session, task: TaskState, nodes: Nodes) -> tuple[Nodes, Nodes]:
    if session.board is not None and isinstance(nodes, NodeSet):
        return session.board.now_and_later(task, nodes)
    now = [node for node in nodes if fits(task.request, node.idle)]
    names = {node.name for node in now}
    return now, [node for node in nodes if node.name not in names and node.fits_future(task.request)]


def _place(session: Session, statement: Statement, task: TaskState, node: NodeAccount) -> bool:
    if fits(task.request, node.idle):
        session.story.tell(f"  {task.key} takes room on {node.name}")
        return statement.allocate(task, node)
    session.story.tell(f"  {task.key} reserves room on {node.name}")
    return statement.pipeline(task, node, after_eviction=False)
