"""Who is asked about: found by name, or one line that says what comes close."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from cpsched.errors import InputError
from cpsched.instance import Instance, Status, Task
from cpsched.snapshot import SessionJob, Snapshot
from cpsched.snapshot.jobs import DEFAULT_SCHEDULER


@dataclass(frozen=True)
class Subject:
    """A job of the session, or one task; a task that is nobody's has no job."""

    job: SessionJob | None
    task: Task | None = None

    @property
    def name(self) -> str:
        """What it is called."""
        if self.task is not None:
            return f"Task {self.task.key}"
        return f"Job {self.job.key}" if self.job else ""


def subject_of(snapshot: Snapshot, job: str | None, task: str | None) -> Subject:
    """The job or task of that name; its namespace may be left out where that is clear."""
    if (job is None) == (task is None):
        raise InputError("name one job or one task", right="give --job ns/job or --task ns/pod")
    instance = snapshot.instance
    if task is not None:
        one = instance.tasks[_found(instance, "task", task, instance.tasks, instance.jobs)]
        return Subject(snapshot.job_of(one), one)
    assert job is not None
    if job not in snapshot.jobs and snapshot.policy.jobs_are_pods and job in instance.jobs:
        wrong = f"under model {snapshot.policy.name} every pod is a job of its own, and {job} is none"
        raise InputError(wrong, file=instance.file, place="job", right="ask about one pod: --task ns/pod")
    return Subject(snapshot.jobs[_found(instance, "job", job, snapshot.jobs, instance.tasks)])


def _found(instance: Instance, kind: str, name: str, known: Iterable[str], others: Iterable[str]) -> str:
    names = list(known)
    if name in names:
        return name
    ends = [one for one in names if one.rpartition("/")[2] == name]
    if len(ends) == 1:
        return ends[0]
    if ends:
        raise InputError(
            f"{len(ends)} {kind}s are called {name}",
            file=instance.file,
            place=kind,
            right=f"say which: {', '.join(ends[:5])}",
        )
    other = {"task": "job", "job": "task"}[kind]
    if name in set(others):
        raise InputError(
            f"{name} is a {other}, not a {kind}", file=instance.file, place=kind, right=f"give it as --{other}"
        )
    near = get_close_matches(name, names, n=3)
    right = f"did you mean {' or '.join(near)}?" if near else f"there are {len(names)}: {', '.join(names[:5])}"
    raise InputError(f"no {kind} {name}", file=instance.file, place=kind, right=right)


_ENDED = {
    Status.SUCCEEDED: "has succeeded",
    Status.FAILED: "has failed",
    Status.UNKNOWN: "is in phase Unknown",
}


def settled(snapshot: Snapshot, subject: Subject) -> str | None:
    """Why there is nothing to place, None if there is."""
    if subject.task is not None:
        return _settled_task(snapshot, subject.task, subject.job)
    job = subject.job
    assert job is not None
    waiting = [task for task in job.tasks if task.status is Status.PENDING]
    if waiting and all(task.gated for task in waiting):
        return f"is held back: all its {len(waiting)} waiting tasks have scheduling gates: {_gates(waiting[0])}"
    if not waiting:
        at_work = sum(task.node != "" for task in job.tasks)
        return f"has nothing that waits: {at_work} of its {len(job.tasks)} tasks sit on nodes"
    return _nowhere(snapshot)


def _settled_task(snapshot: Snapshot, task: Task, job: SessionJob | None) -> str | None:
    if task.status in _ENDED:
        return _ENDED[task.status]
    if task.status is Status.RELEASING:
        return f"is being deleted{f' from {task.node}' if task.node else ''}"
    if task.node:
        return f"{'runs' if task.status is Status.RUNNING else 'is bound'} on {task.node} already"
    if job is None:
        scheduler = task.pod.spec.scheduler_name or DEFAULT_SCHEDULER
        return f"takes no part in this session: its scheduler is {scheduler}, or its queue is unknown"
    if task.gated:
        return f"is held by scheduling gates: {_gates(task)}"
    return _nowhere(snapshot)


def _nowhere(snapshot: Snapshot) -> str | None:
    return None if snapshot.instance.nodes else "cannot be placed: the cluster has no nodes"


def _gates(task: Task) -> str:
    return ", ".join(gate.name for gate in task.pod.spec.scheduling_gates)
