"""Task statuses of a session; mirrors `pkg/scheduler/api/types.go`."""

from __future__ import annotations

from enum import Enum

from cpsched import instance


class Status(Enum):
    """Where a task stands in the session, spelled as upstream prints it."""

    PENDING = "Pending"
    ALLOCATED = "Allocated"
    PIPELINED = "Pipelined"
    BINDING = "Binding"
    BOUND = "Bound"
    RUNNING = "Running"
    RELEASING = "Releasing"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    UNKNOWN = "Unknown"

    # Identity is equality here; the default hash goes through the name and is slow.
    __hash__ = object.__hash__


ALLOCATED = frozenset({Status.BOUND, Status.BINDING, Status.RUNNING, Status.ALLOCATED})
PREEMPTABLE = frozenset({Status.BOUND, Status.RUNNING})
COMPLETED = frozenset({Status.SUCCEEDED, Status.FAILED})
SCHEDULED = frozenset({Status.RUNNING, Status.BOUND, Status.FAILED, Status.SUCCEEDED})
READY = ALLOCATED | {Status.SUCCEEDED}
VALID = READY | {Status.PIPELINED, Status.PENDING}

OF_SNAPSHOT = {status: Status(status.value) for status in instance.Status}
