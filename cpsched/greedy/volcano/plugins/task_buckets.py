"""task-topology: which tasks of a job are to share a node; mirrors `plugins/task-topology`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from cpsched.greedy.volcano.amounts import Amounts, give
from cpsched.greedy.volcano.jobs import JobState
from cpsched.greedy.volcano.status import Status
from cpsched.greedy.volcano.tasks import TaskState

AFFINITY, ANTI_AFFINITY = "volcano.sh/task-topology-affinity", "volcano.sh/task-topology-anti-affinity"
ORDER = "volcano.sh/task-topology-task-order"
ROLE = "volcano.sh/task-spec"

Groups = list[list[str]]
Table = dict[str, set[str]]
"""role → the roles it belongs to, or must not meet; itself included."""


def role_of(task: TaskState) -> str:
    """The role as this plugin sees it: a label does not count."""
    return task.task.pod.metadata.annotations.get(ROLE, "")


class Bucket:
    """Tasks that are to share a node."""

    def __init__(self, index: int):
        self.index = index
        self.roles: Counter[str] = Counter()
        self.tasks: dict[str, TaskState] = {}
        """Those that have no node yet."""
        self.request: Amounts = {"cpu": 0, "memory": 0}
        self.nodes: Counter[str] = Counter()

    @property
    def size(self) -> float:
        """What its tasks without a node ask for, in one number."""
        return sum(amount / 2**20 if name == "memory" else amount for name, amount in self.request.items())

    def add(self, task: TaskState) -> None:
        """Take a task in."""
        self.roles[role_of(task)] += 1
        if task.node:
            self.nodes[task.node] += 1
        else:
            self.tasks[task.key] = task
            give(self.request, task.request)


class Manager:
    """What one job says about its roles, and its buckets."""

    def __init__(self, job: JobState, affine: Groups, hostile: Groups, order: list[str]):
        self.affine, self.hostile = _table(affine), _table(hostile)
        self._order = {role: len(order) - index for index, role in enumerate(order)}
        self._priority = self._priorities()
        self.bucket_of: dict[str, Bucket] = {}
        self.buckets: list[Bucket] = []
        self.max_size = 0
        self.placed: dict[str, Counter[str]] = {}
        """node → roles of tasks placed there in this session."""
        tasks = [task for task in job.tasks.values() if role_of(task) in self._priority]
        for task in sorted(tasks, key=lambda task: (not task.node, task.node, *self._rank(task))):
            bucket = self._bucket_for(task)
            bucket.add(task)
            self.bucket_of[task.key] = bucket
            self.max_size = max(self.max_size, len(bucket.tasks) + bucket.nodes.total())

    def importance(self, task: TaskState) -> tuple[int, int]:
        """The place of the task's role in the stated order, and how much its rules demand."""
        role = role_of(task)
        return self._order.get(role, 0), self._priority[role]

    def conflict(self, role: str, node: str) -> int:
        """How many tasks that this session placed on the node the role must not meet."""
        return sum(count for other, count in self.placed.get(node, {}).items() if other in self.hostile.get(role, ()))

    def _rank(self, task: TaskState) -> tuple[int, int, str]:
        order, priority = self.importance(task)
        return -order, -priority, task.task.name

    def _priorities(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for table, alone, together in ((self.hostile, 4, 1), (self.affine, 2, 3)):
            for role, others in table.items():
                values = [alone] * (role in others) + [together] * bool(others - {role})
                found[role] = max(found.get(role, 0), *values)
        return found

    def _bucket_for(self, task: TaskState) -> Bucket:
        if task.node:
            known = next((bucket for bucket in self.buckets if task.node in bucket.nodes), None)
            return known or self._new_bucket()
        role, best, most = role_of(task), None, 0
        for bucket in self.buckets:
            affinity = self._affinity(role, bucket.roles)
            if best is None or affinity > most or (affinity == most and bucket.size < best.size):
                best, most = bucket, affinity
        return best if best is not None and most >= 0 else self._new_bucket()

    def _affinity(self, role: str, others: Mapping[str, int]) -> int:
        affine, hostile = self.affine.get(role, ()), self.hostile.get(role, ())
        return sum(count * ((other in affine) - (other in hostile)) for other, count in others.items())

    def _new_bucket(self) -> Bucket:
        self.buckets.append(Bucket(len(self.buckets)))
        return self.buckets[-1]


def managers(jobs: Iterable[JobState]) -> dict[str, Manager]:
    """The jobs that have something to place and say something about their roles, every part of it valid."""
    found = {}
    for job in jobs:
        annotations = job.job.group.metadata.annotations
        if not job.by_status[Status.PENDING] or not any(key in annotations for key in (AFFINITY, ANTI_AFFINITY, ORDER)):
            continue
        affine, hostile = (_groups(annotations.get(key, "")) for key in (AFFINITY, ANTI_AFFINITY))
        order = _names(annotations.get(ORDER, ""))
        roles = {task.role for task in job.tasks.values()}
        if all(_valid(group, roles) for group in (*affine, *hostile, order)):
            found[job.key] = Manager(job, affine, hostile, order)
    return found


def _groups(text: str) -> Groups:
    return [names for part in text.split(";") if (names := _names(part))]


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def _valid(names: list[str], roles: set[str]) -> bool:
    return len(set(names)) == len(names) and set(names) <= roles


def _table(groups: Groups) -> Table:
    table: Table = {}
    for names in groups:
        for name in names:
            table.setdefault(name, set()).update(names if len(names) == 1 else set(names) - {name})
    return table
