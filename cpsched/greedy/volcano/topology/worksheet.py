"""What is left to place of a job: its sub-jobs in order, each with its tasks; mirrors `organizeJobWorksheet`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cmp_to_key

from cpsched.greedy.volcano.heap import Heap
from cpsched.greedy.volcano.jobs import JobState
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.task_queue import TaskQueue
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.greedy.volcano.topology.sub_jobs import SubJob


class Worksheet:
    """Sub-jobs with tasks to place; those that the job needs first come first."""

    def __init__(self, sub_jobs: Heap[SubJob], tasks: dict[str, TaskQueue]):
        self.sub_jobs, self.tasks = sub_jobs, tasks

    def clone(self) -> Worksheet:
        """A copy to try something on."""
        return Worksheet(self.sub_jobs.clone(), {key: heap.clone() for key, heap in self.tasks.items()})

    def become(self, other: Worksheet) -> None:
        """Take over what another one has left."""
        self.sub_jobs, self.tasks = other.sub_jobs, other.tasks

    def ordered(self) -> list[list[TaskState]]:
        """The tasks of every sub-job, in the order in which they are served."""
        left, ordered = self.sub_jobs.clone(), []
        while left:
            heap, tasks = self.tasks[left.pop().key].clone(), []
            while heap:
                tasks.append(heap.pop())
            ordered.append(tasks)
        return ordered


def worksheet(session: Session, job: JobState, wanted: Callable[[TaskState], bool]) -> Worksheet:
    """The wanted ones among the pending tasks of every sub-job."""
    required = _required(session, job)

    def before(left: SubJob, right: SubJob) -> bool:
        if (left.key in required) != (right.key in required):
            return left.key in required
        return session.sub_job_before(left, right)

    tasks: dict[str, TaskQueue] = {}
    sub_jobs = Heap(before)
    for sub_job in job.sub_jobs.values():
        pending = [task for task in sub_job.pending() if wanted(task)]
        if pending:
            tasks[sub_job.key] = session.queue_of_tasks(pending)
            sub_jobs.push(sub_job)
    return Worksheet(sub_jobs, tasks)


def _required(session: Session, job: JobState) -> set[str]:
    """The fewest sub-jobs that, once ready, make up what the policies need."""
    if not job.has_policies:
        return set()
    ready: Counter[str] = Counter()
    unready = []
    for sub_job in job.sub_jobs.values():
        if session.is_sub_job_ready(job, sub_job):
            ready[sub_job.group] += 1
        else:
            unready.append(sub_job)
    required = set()

    def compare(left: SubJob, right: SubJob) -> int:
        return -1 if session.sub_job_before(left, right) else 1

    for sub_job in sorted(unready, key=cmp_to_key(compare)):
        if ready[sub_job.group] < job.min_sub_jobs.get(sub_job.group, 0):
            required.add(sub_job.key)
            ready[sub_job.group] += 1
    return required
