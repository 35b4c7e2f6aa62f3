"""A transaction over the session: what it did can be kept or undone; mirrors `framework/statement.go`."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple

from cpsched.greedy.volcano.nodes import NodeAccount
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.status import Status
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.solution import Eviction, EvictionAction


class OperationKind(Enum):
    """What an operation did."""

    EVICT = "evict"
    PIPELINE = "pipeline"
    ALLOCATE = "allocate"


class Operation(NamedTuple):
    """One entry of the undo log; an eviction says by which action and for which job."""

    kind: OperationKind
    task: TaskState
    action: EvictionAction = "preempt"
    for_job: str = ""


class Statement:
    """Operations take effect at once; the log lets them be undone."""

    def __init__(self, session: Session):
        self._session = session
        self._operations: list[Operation] = []

    @property
    def operations(self) -> tuple[Operation, ...]:
        """What has been done and is neither kept nor undone."""
        return tuple(self._operations)

    def evict(self, victim: TaskState, action: EvictionAction, for_job: str) -> None:
        """Mark a victim as going."""
        session = self._session
        session.jobs[victim.job].set_status(victim, Status.RELEASING)
        session.nodes[victim.node].update(victim)
        session.deallocated(victim)
        self._operations.append(Operation(OperationKind.EVICT, victim, action, for_job))

    def pipeline(self, task: TaskState, node: NodeAccount, *, after_eviction: bool) -> bool:
        """Reserve room that is being freed; False and nothing done if a plugin objects."""
        task.after_eviction = after_eviction
        return self._place(Operation(OperationKind.PIPELINE, task), node, Status.PIPELINED)

    def allocate(self, task: TaskState, node: NodeAccount) -> bool:
        """Take free room; False and nothing done if a plugin objects."""
        return self._place(Operation(OperationKind.ALLOCATE, task), node, Status.ALLOCATED)

    def merge(self, other: Statement) -> None:
        """Take over the operations of another statement."""
        self._operations += other._operations
        other._operations = []

    def replay(self, saved: Iterable[Operation]) -> bool:
        """Do again what was saved and undone since, with the saved copies; False and the rest left where one fails."""
        for operation in saved:
            task = operation.task
            if operation.kind is OperationKind.EVICT:
                self.evict(task, operation.action, operation.for_job)
                continue
            node = self._session.nodes[task.node]
            status = Status.PIPELINED if operation.kind is OperationKind.PIPELINE else Status.ALLOCATED
            if not self._place(operation, node, status):
                return False
        return True

    def discard(self) -> None:
        """Undo everything, last first; each task remembers what was intended."""
        for operation in reversed(self._operations):
            operation.task.last = operation.task.transaction
            if operation.kind is OperationKind.EVICT:
                self._unevict(operation.task)
            else:
                unplace(self._session, operation.task)
        self._operations = []

    def commit(self) -> None:
        """Make it real: evictions are sent, allocated tasks are bound, reservations stay the session's own."""
        session = self._session
        for operation in self._operations:
            task = operation.task
            task.last = None
            if operation.kind is OperationKind.EVICT:
                session.evictions[task.key] = _eviction(operation)
            elif operation.kind is OperationKind.ALLOCATE and (error := session.bind(task)):
                session.trace.tell(f"  {task.key}: {error}")
                unplace(session, task)
        self._operations = []

    def _place(self, operation: Operation, node: NodeAccount, status: Status) -> bool:
        task, session = operation.task, self._session
        session.jobs[task.job].set_status(task, status)
        task.node = node.name
        errors = (node.add(task), session.allocated(task))
        if any(error is not None for error in errors):
            unplace(session, task)
            return False
        self._operations.append(operation)
        return True

    def _unevict(self, victim: TaskState) -> None:
        session = self._session
        # Upstream restores to Running whatever the status was before.
        session.jobs[victim.job].set_status(victim, Status.RUNNING)
        session.nodes[victim.node].update(victim)
        session.allocated(victim)


def saved(statements: Iterable[Statement]) -> list[Operation]:
    """Copies of all operations as they stand, to be done again once they are undone (`SaveOperations`)."""
    return [
        operation._replace(task=operation.task.clone())
        for statement in statements
        for operation in statement.operations
    ]


def _eviction(operation: Operation) -> Eviction:
    task = operation.task
    stated = {"task": task.key, "node": task.node, "action": operation.action, "for": operation.for_job}
    return Eviction.model_validate(stated)


def unplace(session: Session, task: TaskState) -> None:
    """Make a placed task pending again (`unPipeline`, `unallocate`)."""
    session.jobs[task.job].set_status(task, Status.PENDING)
    if task.node:
        session.nodes[task.node].remove(task)
    session.deallocated(task)
    task.node = task.here = ""
