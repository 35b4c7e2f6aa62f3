"""A part of a job that starts together; mirrors `api/sub_job_info.go:SubJobInfo`."""

from __future__ import annotations

from cpsched.greedy.volcano.amounts import Amounts, give
from cpsched.greedy.volcano.status import READY, Status
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.topology.demand import Demand
from cpsched.topology.groups import SubGroup


class SubJob:
    """The tasks of a sub-group by status.

    Its list follows the task that is handed in, not the one that is listed, so after saved operations are done again a
    task stays in it under its former status too.
    """

    __slots__ = (
        "_pending_request",
        "allocated_in",
        "by_status",
        "demand",
        "group",
        "key",
        "match_index",
        "min_available",
        "nominated",
        "policy",
        "tasks",
    )

    def __init__(self, group: SubGroup):
        self.key, self.group, self.policy = group.key, group.group, group.policy
        self.min_available, self.match_index = group.min_available, group.match_index
        self.demand: Demand | None = None
        """How near to each other its tasks are to run; set when the session opens."""
        self.allocated_in = ""
        """The HyperNode that holds what runs of it (`AllocatedHyperNode`)."""
        self.nominated = ""
        """The HyperNode that a gang action of this session has cleared for it (`NominatedHyperNode`)."""
        self.tasks: dict[str, TaskState] = {}
        self.by_status: dict[Status, dict[str, TaskState]] = {}
        self._pending_request: Amounts = {}

    def enter(self, task: TaskState) -> None:
        """List a task under its status."""
        self.tasks[task.key] = task
        listed = self.by_status.setdefault(task.status, {})
        if task.status is Status.PENDING and task.key not in listed:
            give(self._pending_request, task.request)
        listed[task.key] = task

    def leave(self, task: TaskState) -> None:
        """Take out what is listed of the task under the status it has."""
        listed = self.by_status.get(task.status)
        if listed is not None and listed.pop(task.key, None) is not None and task.status is Status.PENDING:
            for name, amount in task.request.items():
                self._pending_request[name] -= amount

    @property
    def limit(self) -> int | None:
        """The highest tier of a demand that binds."""
        return None if self.demand is None else self.demand.limit

    @property
    def priority(self) -> int:
        """The highest of its tasks', and not below 0."""
        return max((0, *(task.priority for task in self.tasks.values())))

    def pending(self) -> list[TaskState]:
        """Tasks listed as Pending, by uid."""
        return sorted(self.by_status.get(Status.PENDING, {}).values(), key=lambda task: task.uid)

    def count(self, *statuses: Status) -> int:
        """How many tasks are listed under some statuses."""
        return sum(len(self.by_status.get(status, ())) for status in statuses)

    @property
    def is_ready(self) -> bool:
        """Enough tasks hold room; pending ones that ask for nothing count."""
        return self.count(*READY) + self._pending_best_effort >= self.min_available

    @property
    def is_pipelined(self) -> bool:
        """As is_ready, with reservations counted."""
        return self.count(*READY, Status.PIPELINED) + self._pending_best_effort >= self.min_available

    @property
    def _pending_best_effort(self) -> int:
        return sum(task.best_effort for task in self.by_status.get(Status.PENDING, {}).values())

    def min_resources(self) -> Amounts:
        """What all its pending tasks ask for together, not only as many as it needs (`GetMinResources`)."""
        return {name: amount for name, amount in self._pending_request.items() if amount}
