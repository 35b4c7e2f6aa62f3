"""Tasks in TaskOrder: a heap, or where the order never changes a sorted list, which costs nothing to copy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cmp_to_key
from typing import Protocol

from cpsched.greedy.volcano.heap import Heap
from cpsched.greedy.volcano.tasks import TaskState


class TaskQueue(Protocol):
    """What a worksheet keeps the tasks of a sub-job in."""

    def __len__(self) -> int:
        """How many are left."""

    def __iter__(self) -> Iterator[TaskState]:
        """Those that are left, in no particular order."""

    def pop(self) -> TaskState:
        """Take the first one out."""

    def clone(self) -> TaskQueue:
        """A queue with the same tasks left."""


class Sorted:
    """Tasks sorted once."""

    def __init__(self, tasks: Sequence[TaskState], place: int = 0):
        self._tasks, self._place = tasks, place

    def __len__(self) -> int:
        return len(self._tasks) - self._place

    def __iter__(self) -> Iterator[TaskState]:
        return iter(self._tasks[self._place :])

    def pop(self) -> TaskState:
        """Take the first one out."""
        task = self._tasks[self._place]
        self._place += 1
        return task

    def clone(self) -> Sorted:
        """A queue that goes on from the same place."""
        return Sorted(self._tasks, self._place)


def task_queue(before: Callable[[TaskState, TaskState], bool], tasks: Iterable[TaskState], *, fixed: bool) -> TaskQueue:
    """The tasks in order; `fixed` says that nothing in the session changes it."""
    if not fixed:
        return Heap(before, tasks)

    def compare(left: TaskState, right: TaskState) -> int:
        return -1 if before(left, right) else 1

    return Sorted(sorted(tasks, key=cmp_to_key(compare)))
