"""What a session leaves behind: phases, nominations, why tasks wait; mirrors `framework/session.go:closeSession`."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from cpsched.greedy.volcano.explain import task_reason
from cpsched.greedy.volcano.jobs import JobState
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.status import ALLOCATED, COMPLETED, Status
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.instance import Queue

ROOT = "root"
WAITING = (Status.ALLOCATED, Status.PENDING, Status.PIPELINED)


def phases(session: Session) -> dict[str, str]:
    """PodGroup phases (`getPodGroupPhase`)."""
    return {key: _phase(job) for key, job in session.jobs.items()}


def _phase(job: JobState) -> str:
    if job.by_status[Status.RUNNING] and job.unschedulable:
        return "Unknown"
    scheduled = job.scheduled
    if scheduled >= job.min_available:
        completed = sum(len(job.by_status[status]) for status in COMPLETED)
        return "Completed" if scheduled == completed else "Running"
    return "Inqueue" if job.phase == "Inqueue" else "Pending"


def task_messages(session: Session) -> dict[str, str]:
    """The condition of every waiting task of a job that is reported as unschedulable."""
    return {
        task.key: task_reason(job, task).line()
        for job in session.jobs.values()
        if job.unschedulable
        for task in _waiting(job)
    }


def nominations(session: Session) -> dict[str, str]:
    """Nodes that tasks will be tried on first next time; a session that nominates no other leaves the old one."""
    found = {
        task.key: task_reason(job, task).nominated or task.task.pod_status.nominated_node_name
        for job in session.jobs.values()
        for task in _waiting(job)
    }
    return {key: node for key, node in found.items() if node}


def unplaced(session: Session, failing: Collection[str]) -> dict[str, list[str]]:
    """Why pending tasks stay: upstream's text, then what upstream keeps to itself."""
    found: dict[str, list[str]] = {}
    for job in session.jobs.values():
        for task in job.by_status[Status.PENDING].values():
            found[task.key] = _reasons(session, job, task)
    for key in failing:
        task = session.tasks[key]
        pod = f"{task.task.namespace}/{task.task.name}"
        found[key] = [f"SchedulerError: execute preBind for pod {pod} failed: cpsched/bind-fails, resync the task"]
    return found


def _reasons(session: Session, job: JobState, task: TaskState) -> list[str]:
    if task.gated:
        gates = ", ".join(gate.name for gate in task.task.pod.spec.scheduling_gates)
        return [f"held back by scheduling gates: {gates}"]
    texts = []
    if job.is_pending:
        refusal = f": {job.enqueue_refusal}" if job.enqueue_refusal else ""
        texts.append(f"its PodGroup is Pending{refusal}")
    if text := task_reason(job, task).text:
        texts.append(text)
    texts += session.trace.reasons(task.key)
    return texts or [f"its job {job.key} was not reached" if session.is_valid(job) else "its gang has too few pods"]


def _waiting(job: JobState) -> list[TaskState]:
    return [task for status in WAITING for task in job.by_status[status].values()]


def crashes(session: Session) -> tuple[str, ...]:
    """Why Volcano's scheduler does not survive the close of the session (`updateQueueStatus`).

    From the queue of every job that holds room it walks up to the queue `root`, if there is one, and does not check
    whether it ever comes there. Binds and evictions are under way by then.
    """
    if ROOT not in session.queues:
        return ()
    holding = (job for job in session.jobs.values() if any(job.by_status[status] for status in ALLOCATED))
    texts = (_lost_on_the_way(queue, session.queues) for queue in sorted({job.queue for job in holding}))
    return tuple(dict.fromkeys(text for text in texts if text))


def _lost_on_the_way(queue: str, queues: Mapping[str, Queue]) -> str:
    """What keeps the walk over the parents from its end."""
    seen = [queue]
    while (parent := queues[seen[-1]].parent or ROOT) != ROOT:
        if parent not in queues:
            what = f"queue {seen[-1]} names the parent {parent}, which is not in the input"
            return f"Volcano's scheduler panics as it closes this session, unless it knows more queues: {what}"
        if parent in seen:
            circle = " -> ".join([*seen[seen.index(parent) :], parent])
            return f"Volcano's scheduler never ends this session: the parents of queues form a cycle, {circle}"
        seen.append(parent)
    return ""
