"""The job or task that is asked about: found by name, or one line that lists what comes close."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from cpsched.errors import InputError
from cpsched.explanation.entering import entering_lines
from cpsched.instance import Status, Task
from cpsched.snapshot import SessionJob, Snapshot
from cpsched.snapshot.jobs import DEFAULT_SCHEDULER

NAME_ONE = "give its name, or --job ns/job, or --task ns/pod"


@dataclass(frozen=True)
class Subject:
    """A job of the session, or one task; a task of another scheduler has no job."""

    job: SessionJob | None
    task: Task | None = None

    @property
    def name(self) -> str:
        """What it is called."""
        if self.task is not None:
            return f"Task {self.task.key}"
        return f"Job {self.job.name}" if self.job else ""


def subject_of(snapshot: Snapshot, job: str | None, task: str | None, name: str | None = None) -> Subject:
    """The job, the task, or whatever has the name; its namespace may be left out where that is clear."""
    if sum(one is not None for one in (job, task, name)) != 1:
        raise InputError("name one job or one task", right=NAME_ONE)
    known = _Known(snapshot)
    if task is not None:
        return known.task(known.one_of(task, "task"))
    if job is not None:
        return Subject(known.jobs[known.one_of(job, "job")])
    assert name is not None
    return known.either(name)


class _Known:
    """All names of a session."""

    def __init__(self, snapshot: Snapshot):
        self.snapshot = snapshot
        self.tasks = snapshot.instance.tasks
        self.jobs = {**{job.name: job for job in snapshot.jobs.values()}, **snapshot.jobs}
        """By name and by key; where a PodGroup and a pod on its own have one name, it is the PodGroup's."""

    def task(self, key: str) -> Subject:
        return Subject(self.snapshot.job_of(self.tasks[key]), self.tasks[key])

    def one_of(self, name: str, kind: str) -> str:
        """The only job or task of that name."""
        other = {"task": "job", "job": "task"}[kind]
        names, others = (self.jobs, self.tasks) if kind == "job" else (self.tasks, self.jobs)
        found = _called(name, names)
        if len(found) == 1:
            return found[0]
        if found:
            raise self._error(f"{len(found)} {kind}s are called {name}", f"say which: {', '.join(found[:5])}", kind)
        self._refuse_group(name, kind)
        if name in others:
            raise self._error(f"{name} is a {other}, not a {kind}", f"give it as --{other}", kind)
        raise self._unknown(name, kind, [*names] if kind == "task" else self._job_names)

    def either(self, name: str) -> Subject:
        """The job or task of that name; a pod that is a job of its own is one thing, not two."""
        tasks = _called(name, self.tasks)
        alone = [key for key in tasks if key in self.jobs and self.jobs[key].tasks == (self.tasks[key],)]
        jobs = [key for key in _called(name, self.jobs) if key not in alone]
        if len(jobs) + len(tasks) > 1:
            what = "is both a job and a task" if len(jobs) == len(tasks) == 1 else "may be several jobs or tasks"
            ways = [*(f"--job {key}" for key in jobs), *(f"--task {key}" for key in tasks)]
            raise self._error(f"{name} {what}", f"say which: {', '.join(ways[:5])}", "name")
        if tasks:
            return self.task(tasks[0])
        if jobs:
            return Subject(self.jobs[jobs[0]])
        self._refuse_group(name, "name")
        raise self._unknown(name, "job or task", [*dict.fromkeys([*self._job_names, *self.tasks])])

    @property
    def _job_names(self) -> list[str]:
        return [job.name for job in self.snapshot.jobs.values()]

    def _refuse_group(self, name: str, place: str) -> None:
        if self.snapshot.policy.jobs_are_pods and name in self.snapshot.instance.jobs:
            wrong = f"under model {self.snapshot.policy.name} every pod is a job of its own, and {name} is a PodGroup"
            raise self._error(wrong, "ask about one pod: --task ns/pod", place)

    def _unknown(self, name: str, kind: str, names: Sequence[str]) -> InputError:
        near = get_close_matches(name, names, n=3)
        right = f"did you mean {' or '.join(near)}?" if near else f"there are {len(names)}: {', '.join(names[:5])}"
        return self._error(f"no {kind} {name}", right, "name" if " " in kind else kind)

    def _error(self, wrong: str, right: str, place: str) -> InputError:
        return InputError(wrong, file=self.snapshot.instance.file, place=place, right=right)


def _called(name: str, names: Collection[str]) -> list[str]:
    """The names that are this one, or else those that are it without their namespace."""
    return [name] if name in names else sorted(one for one in names if one.rpartition("/")[2] == name)


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
    if not job.tasks:
        return "; ".join(["has no pods yet", *(entering_lines(snapshot, job) if job.is_pending else ())])
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
        return f"is not eligible in this session: its scheduler is {scheduler}, or its queue is unknown"
    if task.gated:
        return f"is held by scheduling gates: {_gates(task)}"
    return _nowhere(snapshot)


def _nowhere(snapshot: Snapshot) -> str | None:
    return None if snapshot.instance.nodes else "cannot be placed: the cluster has no nodes"


def _gates(task: Task) -> str:
    return ", ".join(gate.name for gate in task.pod.spec.scheduling_gates)
