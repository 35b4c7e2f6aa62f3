"""What is free, used and promised on a node; mirrors `pkg/scheduler/api/node_info.go`."""

from __future__ import annotations

from cpsched import instance
from cpsched.greedy.volcano.amounts import Amounts, fits, give, take
from cpsched.greedy.volcano.status import Status
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.resources import less_equal_names

REVOCABLE_ZONE = "volcano.sh/revocable-zone"


class NodeAccount:
    """A node with the tasks on it; every task is booked under the status it had when it came."""

    def __init__(self, node: instance.Node, index: int):
        self.node, self.name, self.index = node, node.name, index
        self.allocatable: Amounts = dict(node.allocatable)
        self.idle: Amounts = dict(node.allocatable)
        self.used: Amounts = {}
        self.releasing: Amounts = {}
        self.pipelined: Amounts = {}
        self.tasks: dict[str, TaskState] = {}
        self._booked: dict[str, Status] = {}

    @property
    def future_idle(self) -> Amounts:
        """What will be free once releases are over and reservations are taken."""
        room = dict(self.idle)
        give(room, self.releasing)
        take(room, self.pipelined)
        return room

    @property
    def max_pods(self) -> int:
        """How many pods it takes at most."""
        return int(self.allocatable.get("pods", 0))

    @property
    def revocable_zone(self) -> str:
        """The zone of a node that is lent for some hours only (tdm)."""
        return self.node.labels.get(REVOCABLE_ZONE, "")

    def fits_future(self, request: Amounts) -> bool:
        """Whether the request fits what will be free."""
        return fits(request, self.future_idle)

    def add(self, task: TaskState) -> str | None:
        """Book a task under its status; returns what is wrong where upstream refuses."""
        if task.node and task.node != self.name:
            return f"task <{task.task.namespace}/{task.task.name}> already on different node <{task.node}>"
        if task.key in self.tasks:
            return f"task <{task.task.namespace}/{task.task.name}> already on node <{self.name}>"
        self._book(task)
        self.tasks[task.key] = task
        self._booked[task.key] = task.status
        return None

    def remove(self, task: TaskState) -> None:
        """Undo the booking; a task that is not here is only a warning upstream."""
        if task.key not in self.tasks:
            return
        del self.tasks[task.key]
        booked = self._booked.pop(task.key)
        if booked is Status.PIPELINED:
            take(self.pipelined, task.request)
            return
        if booked is Status.RELEASING:
            take(self.releasing, task.request)
        give(self.idle, task.request)
        take(self.used, task.request)

    def update(self, task: TaskState) -> None:
        """Book the task again under the status it has now."""
        before, after = self._booked[task.key], task.status
        if before is after or Status.PIPELINED in (before, after):
            self.remove(task)
            self.add(task)
            return
        # Giving idle room back and taking it again leaves nothing but the names behind.
        self._booked[task.key], self.tasks[task.key] = after, task
        for name in task.request:
            self.idle.setdefault(name, 0)
        if after is Status.RELEASING:
            give(self.releasing, task.request)
        elif before is Status.RELEASING:
            take(self.releasing, task.request)

    def clone(self) -> NodeAccount:
        """A copy to try something on."""
        copy = NodeAccount.__new__(NodeAccount)
        copy.node, copy.name, copy.index = self.node, self.name, self.index
        copy.allocatable = self.allocatable
        copy.idle, copy.used = dict(self.idle), dict(self.used)
        copy.releasing, copy.pipelined = dict(self.releasing), dict(self.pipelined)
        copy.tasks, copy._booked = dict(self.tasks), dict(self._booked)
        return copy

    def _book(self, task: TaskState) -> None:
        if task.status is Status.PIPELINED:
            give(self.pipelined, task.request)
            return
        take(self.idle, task.request)
        give(self.used, task.request)
        if task.status is Status.RELEASING:
            give(self.releasing, task.request)


class BindRoom:
    """What the scheduler's cache knows to be free: evicted pods still hold theirs (`cache.go:AddBindTask`)."""

    def __init__(self, node: NodeAccount):
        self.name = node.name
        self.idle: Amounts = dict(node.idle)

    def bind(self, task: TaskState) -> str | None:
        """Take the room of a task that is to be bound; returns upstream's complaint where there is none."""
        if not fits(task.request, self.idle):
            missing = less_equal_names(task.request, self.idle)
            pod = f"{task.task.namespace}/{task.task.name}"
            return f"node {self.name} resources [{' '.join(missing)}] are not enough to put task <{pod}>"
        take(self.idle, task.request)
        return None
