"""preempt: starving jobs evict less important tasks of their own queue; mirrors `actions/preempt/preempt.go`."""

from __future__ import annotations

from cpsched.greedy.volcano.actions.hunt import Hunt
from cpsched.greedy.volcano.actions.preempt_normal import preempt_normally
from cpsched.greedy.volcano.actions.preempt_topology import preempt_by_dry_run
from cpsched.greedy.volcano.heap import Heap
from cpsched.greedy.volcano.jobs import JobState
from cpsched.greedy.volcano.search import Search, by_shard, for_preemption, resolvable
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.statement import Statement
from cpsched.greedy.volcano.tasks import TaskState


def preempt(session: Session) -> None:
    """Queue by queue: first between jobs, then within each starving job."""
    starving: dict[str, list[JobState]] = {}
    for job in session.jobs.values():
        if job.with_topology:
            # Tasks that must be near each other are left to allocate and gangpreempt.
            continue
        if not job.is_pending and session.is_valid(job) and session.is_starving(job):
            starving.setdefault(job.queue, []).append(job)
    tasks = {job.key: _tasks(session, job) for jobs in starving.values() for job in jobs}
    jobs_by_queue = {name: Heap(session.job_before, jobs) for name, jobs in starving.items()}
    queues = Heap(session.queue_before, (session.queues[name] for name in starving))
    arguments = session.conf.configurations["preempt"]
    search = Search(session, cached=arguments.boolean("predicateErrorCacheEnable"))
    while queues:
        queue = queues.pop()
        jobs = jobs_by_queue[queue.name]
        while jobs:
            job = jobs.pop()
            session.trace.tell(f"preempt: queue {queue.name}: job {job.key}")
            _between_jobs(session, search, job, tasks[job.key])
        for job in session.choices.order(starving[queue.name]):
            _within_job(session, search, job)


def _tasks(session: Session, job: JobState) -> Heap[TaskState]:
    return Heap(session.task_before, (task for task in job.pending() if not task.gated))


def _between_jobs(session: Session, search: Search, job: JobState, tasks: Heap[TaskState]) -> None:
    """Evict tasks of other jobs of the queue; keep it only if the gang is complete."""
    statement = Statement(session)
    while session.is_starving(job) and tasks:
        _preempt(session, search, statement, Hunt(session, tasks.pop(), within_job=False))
    if session.is_pipelined(job):
        statement.commit()
    else:
        session.trace.tell(f"  {job.key} is undone: its gang stays incomplete")
        statement.discard()


def _within_job(session: Session, search: Search, job: JobState) -> None:
    """Evict the job's own tasks, each success kept for itself, until one fails."""
    tasks = _tasks(session, job)
    while tasks:
        statement = Statement(session)
        if not _preempt(session, search, statement, Hunt(session, tasks.pop(), within_job=True)):
            statement.discard()
            return
        statement.commit()


def _preempt(session: Session, search: Search, statement: Statement, hunt: Hunt) -> bool:
    task = hunt.task
    if reason := not_eligible(session, task):
        session.trace.note(task.key, "preempt", reason)
        return False
    if session.pre_predicate(task) is not None:
        return False
    nodes, _ = search.feasible(task, resolvable(session, task), for_preemption(session))
    topology_aware = session.conf.configurations["preempt"].boolean("enableTopologyAwarePreemption")
    attempt = preempt_by_dry_run if topology_aware else preempt_normally
    return any(attempt(session, statement, hunt, group) for group in by_shard(session, nodes))


def not_eligible(session: Session, task: TaskState) -> str | None:
    """Why the task may not evict any task: its policy, or a nominated node that is already being cleared for it."""
    if task.task.never_preempts:
        return "its preemptionPolicy is Never"
    name = session.nominated_node(task)
    if not name:
        return None
    node = session.nodes.get(name)
    if node is None:
        return f"its nominated node {name} is not in the session"
    error = session.predicate(task, node)
    if error is None:
        return f"its nominated node {name} would do already"
    if error.unresolvable:
        return None
    for other in node.tasks.values():
        if other.task.pod_priority < task.task.pod_priority and _terminating(other):
            return f"{other.key} is being cleared off its nominated node {name}"
    return None


def _terminating(task: TaskState) -> bool:
    """Going because a scheduler evicted it; upstream looks at the first such condition only."""
    pod = task.task.pod
    if pod.metadata.deletion_timestamp is None:
        return False
    condition = next((one for one in pod.status.conditions if one.type == "DisruptionTarget"), None)
    return condition is not None and condition.status == "True" and condition.reason == "PreemptionByScheduler"
