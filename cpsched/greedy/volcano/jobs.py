"""A PodGroup as a session sees it; mirrors `pkg/scheduler/api/job_info.go:JobInfo`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from cpsched import instance
from cpsched.greedy.volcano.amounts import Amounts, give
from cpsched.greedy.volcano.fit import FitErrors
from cpsched.greedy.volcano.status import ALLOCATED, READY, SCHEDULED, VALID, Status
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.greedy.volcano.topology.sub_jobs import SubJob
from cpsched.topology.demand import Demand
from cpsched.topology.groups import Sorter, min_sub_groups


class JobState:
    """A job, its tasks by status, and what failed so far."""

    def __init__(self, job: instance.Job, tasks: Iterable[TaskState]):
        self.job, self.key, self.queue = job, job.key, job.queue
        self.priority, self.min_available, self.created = job.priority, job.min_available, job.created
        self.min_by_role = job.min_by_role
        self.roles_count = job.min_available >= sum(job.min_by_role.values())
        self.phase = job.phase
        self.tasks = {task.key: task for task in sorted(tasks, key=lambda task: task.uid)}
        self.by_status: dict[Status, dict[str, TaskState]] = {status: {} for status in Status}
        self.total_request: Amounts = {}
        self.fit_errors: dict[str, FitErrors] = {}
        self.enqueue_refusal = ""
        self.unschedulable = False
        self.ready = 0
        """Tasks that hold room or are done (`ReadyTaskNum`)."""
        self.pending_best_effort = 0
        """Pending tasks that ask for nothing."""
        self.has_policies = bool(job.group.spec.sub_group_policy)
        self.min_sub_jobs = min_sub_groups(job)
        """How many sub-jobs of each policy must be complete."""
        self.demand: Demand | None = None
        """How near to each other its tasks are to run; set when the session opens."""
        self.allocated_in = ""
        """The HyperNode that holds what runs of it (`AllocatedHyperNode`)."""
        self.sub_jobs: dict[str, SubJob] = {}
        self.sub_job_of: dict[str, SubJob] = {}
        sorter = Sorter(job)
        for task in self.tasks.values():
            give(self.total_request, task.request)
            group = sorter.sub_group(task.task)
            if group.key not in self.sub_jobs:
                self.sub_jobs[group.key] = SubJob(group)
            self.sub_job_of[task.key] = self.sub_jobs[group.key]
            self._enter(task)

    @property
    def with_topology(self) -> bool:
        """Whether the job or a part of it says how near its tasks are to run, binding or not."""
        return self.demand is not None or any(one.demand is not None for one in self.sub_jobs.values())

    @property
    def binding_topology(self) -> bool:
        """Whether it also binds."""
        return (self.demand is not None and self.demand.limit is not None) or any(
            one.limit is not None for one in self.sub_jobs.values()
        )

    @property
    def is_pending(self) -> bool:
        """Not yet let into the cycle."""
        return self.phase in ("", "Pending")

    def pending(self) -> list[TaskState]:
        """Pending tasks by uid."""
        return sorted(self.by_status[Status.PENDING].values(), key=lambda task: task.uid)

    def set_status(self, task: TaskState, status: Status) -> None:
        """Move a task to another status.

        The task may be a copy of the one that is listed here, or one of which a copy has been moved: then the job
        drops the listed one, the sub-job the one it has under the status that the task itself has.
        """
        before = self.tasks[task.key].status
        del self.by_status[before][task.key]
        self.ready -= before in READY
        self.pending_best_effort -= before is Status.PENDING and task.best_effort
        self.sub_job_of[task.key].leave(task)
        task.status = status
        self.tasks[task.key] = task
        self._enter(task)

    def _enter(self, task: TaskState) -> None:
        self.by_status[task.status][task.key] = task
        self.sub_job_of[task.key].enter(task)
        self.ready += task.status in READY
        self.pending_best_effort += task.status is Status.PENDING and task.best_effort

    @property
    def waiting(self) -> int:
        """Tasks with a reservation (`WaitingTaskNum`)."""
        return len(self.by_status[Status.PIPELINED])

    def allocated(self) -> Amounts:
        """What its tasks hold."""
        held: Amounts = {}
        for status in ALLOCATED:
            for task in self.by_status[status].values():
                give(held, task.request)
        return held

    @property
    def allocated_tasks(self) -> int:
        """Tasks that hold room."""
        return sum(len(self.by_status[status]) for status in ALLOCATED)

    @property
    def is_ready(self) -> bool:
        """Enough tasks hold room; those that ask for nothing count."""
        return self.ready + self.pending_best_effort >= self.min_available

    @property
    def is_pipelined(self) -> bool:
        """As is_ready, with reservations counted."""
        return self.waiting + self.ready + self.pending_best_effort >= self.min_available

    @property
    def is_starving(self) -> bool:
        """Too few hold room or a reservation; those that ask for nothing do not count."""
        return self.waiting + self.ready < self.min_available

    @property
    def valid_tasks(self) -> int:
        """Tasks that could make up the gang."""
        return sum(len(self.by_status[status]) for status in VALID)

    @property
    def scheduled(self) -> int:
        """Tasks that have been placed before this session, going ones on nodes included."""
        return sum(len(self.by_status[status]) for status in SCHEDULED) + self.releasing_on_nodes

    @property
    def releasing_on_nodes(self) -> int:
        """Tasks that are going but still sit on a node."""
        return sum(bool(task.node) for task in self.by_status[Status.RELEASING].values())

    def roles_valid(self) -> bool:
        """Every role has enough tasks (`CheckTaskValid`)."""
        return self._roles_met(VALID, best_effort=False)

    def roles_ready(self) -> bool:
        """Every role has enough tasks with room (`CheckTaskReady`)."""
        return self._roles_met(READY, best_effort=True)

    def roles_pipelined(self) -> bool:
        """The same with reservations (`CheckTaskPipelined`)."""
        return self._roles_met(READY | {Status.PIPELINED}, best_effort=True)

    def sub_jobs_valid(self) -> bool:
        """Every policy has as many sub-jobs as it needs (`CheckSubJobValid`)."""
        return self._sub_jobs_met(lambda one: True)

    def sub_jobs_ready(self) -> bool:
        """Every policy has enough sub-jobs that are ready (`CheckSubJobReady`)."""
        return self._sub_jobs_met(lambda one: one.is_ready)

    def sub_jobs_pipelined(self) -> bool:
        """The same with reservations (`CheckSubJobPipelined`)."""
        return self._sub_jobs_met(lambda one: one.is_pipelined)

    def _sub_jobs_met(self, counts: Callable[[SubJob], bool]) -> bool:
        return all(
            sum(counts(one) for one in self.sub_jobs.values() if one.group == group) >= minimum
            for group, minimum in self.min_sub_jobs.items()
        )

    def failed_roles(self) -> set[str]:
        """Roles of tasks that found no node."""
        return {self.tasks[key].role for key in self.fit_errors}

    def has_fit_errors(self, task: TaskState) -> bool:
        """Whether a task of the same role and sub-job has failed already (`TaskHasFitErrors`)."""
        if not self.fit_errors or not task.role:
            return False
        own = self.sub_job_of[task.key]
        return any(self.sub_job_of[key] is own and self.tasks[key].role == task.role for key in self.fit_errors)

    def forget_fit_errors(self, sub_job: SubJob) -> None:
        """Drop what failed in a sub-job (`ResetSubJobFitErr`)."""
        self.fit_errors = {key: errors for key, errors in self.fit_errors.items() if key not in sub_job.tasks}

    def need_continue(self, sub_job: SubJob) -> bool:
        """Whether the sub-job can still become ready after a task found no node (`NeedContinueAllocating`)."""
        if self.min_available == len(self.tasks) or sub_job.min_available >= len(sub_job.tasks):
            return False
        if self.has_policies:
            return True
        failed = self.failed_roles()
        if not self.roles_count:
            left = sum(task.role not in failed for task in self.by_status[Status.PENDING].values())
            return self.ready + left >= self.min_available
        held = self._by_role(READY, best_effort=True)
        return all(held[role] >= self.min_by_role.get(role, 0) for role in failed)

    def _roles_met(self, statuses: frozenset[Status], *, best_effort: bool) -> bool:
        if not self.min_by_role or not self.roles_count:
            return True
        held = self._by_role(statuses, best_effort=best_effort)
        return all(held[role] >= minimum for role, minimum in self.min_by_role.items())

    def _by_role(self, statuses: frozenset[Status], *, best_effort: bool) -> Counter[str]:
        held = Counter(task.role for status in statuses for task in self.by_status[status].values())
        if best_effort:
            held.update(task.role for task in self.by_status[Status.PENDING].values() if task.best_effort)
        return held
