"""A pod as a session moves it about; mirrors `pkg/scheduler/api/job_info.go:TaskInfo`."""

from __future__ import annotations

from typing import NamedTuple

from cpsched import instance
from cpsched.greedy.volcano.amounts import Amounts, request_of
from cpsched.greedy.volcano.status import OF_SNAPSHOT, Status

BIND_FAILS = "cpsched/bind-fails"
"""Annotation of a pod whose PreBind is to fail, so that a failing bind can be replayed."""

QUEUE_GATE = "scheduling.volcano.sh/queue-allocation-gate"
_REVOCABLE, _PREEMPTABLE = "volcano.sh/revocable-zone", "volcano.sh/preemptable"


class Transaction(NamedTuple):
    """What a discarded attempt had in mind for a task (`TransactionContext`)."""

    status: Status
    node: str
    after_eviction: bool


class TaskState:
    """A task and where it stands now."""

    __slots__ = (
        "after_eviction",
        "best_effort",
        "gated",
        "here",
        "index",
        "job",
        "key",
        "last",
        "node",
        "ordered_request",
        "preemptable",
        "priority",
        "request",
        "role",
        "status",
        "task",
        "uid",
    )

    def __init__(self, task: instance.Task, job: str):
        self.task, self.job = task, job
        self.key, self.uid, self.role = task.key, task.uid, task.role
        self.request = request_of(task.requests)
        self.ordered_request = _ordered(self.request)
        self.best_effort, self.priority = task.best_effort, task.priority
        self.preemptable, self.gated = task.preemptable, task.gated
        self.status, self.node = OF_SNAPSHOT[task.status], task.node
        self.after_eviction = False
        self.last: Transaction | None = None
        self.here = ""
        """The HyperNode to stay near while nodes are scored (`JobAllocatedHyperNode`)."""
        self.index = _index(task.name)

    def __repr__(self) -> str:
        return f"<{self.key} {self.status.value} {self.node}>"

    def clone(self) -> TaskState:
        """A copy that is moved on its own, as upstream's saved operations hold it."""
        copy = TaskState.__new__(TaskState)
        for name in TaskState.__slots__:
            setattr(copy, name, getattr(self, name))
        copy.here = ""
        return copy

    @property
    def transaction(self) -> Transaction:
        """What is in force now, as it would be remembered."""
        return Transaction(self.status, self.node, self.after_eviction)

    @property
    def last_transaction(self) -> Transaction:
        """What messages speak of: the last discarded attempt, or else what is in force."""
        return self.last or self.transaction

    @property
    def only_queue_gate(self) -> bool:
        """Held back by Volcano's own gate and nothing else."""
        return [gate.name for gate in self.task.pod.spec.scheduling_gates] == [QUEUE_GATE]

    @property
    def revocable_zone(self) -> str:
        """`*` where the pod may run on revocable nodes (tdm)."""
        annotations = self.task.pod.metadata.annotations
        if _REVOCABLE in annotations:
            return "*" if annotations[_REVOCABLE] == "*" else ""
        return "*" if _PREEMPTABLE in annotations and self.preemptable else ""

    @property
    def bind_fails(self) -> bool:
        """Whether the input says that this pod's bind fails."""
        return self.task.pod.metadata.annotations.get(BIND_FAILS) == "true"


def comes_before(left: TaskState, right: TaskState) -> bool:
    """The order of tasks that no plugin tells apart; mirrors `pkg/controllers/job/helpers:CompareTask`."""
    if left.index is not None and right.index is not None and left.index != right.index:
        return left.index < right.index
    made, other = left.task.pod.metadata.creation_timestamp, right.task.pod.metadata.creation_timestamp
    if made != other:
        return other is not None and (made is None or made < other)
    return left.uid < right.uid


def _ordered(request: Amounts) -> tuple[tuple[str, float], ...]:
    """cpu, memory, then the others by name: the order in which sums and messages go through a request."""
    if len(request) <= 3:
        return tuple(request.items())
    return tuple(sorted(request.items(), key=lambda item: (item[0] not in ("cpu", "memory"), item[0])))


def _index(name: str) -> int | None:
    parts = name.split("-")
    text = parts[-1] if len(parts) >= 3 else ""
    digits = text[1:] if text[:1] in ("+", "-") else text
    # Go's Atoi takes ASCII digits that fit 64 bits, nothing else.
    if not (digits.isascii() and digits.isdigit()):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None
