"""Symmetry classes: objects that no rule and no level distinguishes are one class, represented by a count.

Exact: a permutation of the members of a class maps decisions to decisions with equal findings and values, so a count
per class (and node) says everything that the checker and the evaluator read.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from cpsched.instance import Task
from cpsched.snapshot import SessionJob
from cpsched.snapshot.rights import Action


@dataclass(frozen=True)
class TaskClass:
    """Pending tasks that are interchangeable, possibly of several jobs."""

    index: int
    tasks: tuple[Task, ...]
    jobs: tuple[str, ...]
    nodes: tuple[str, ...]
    may_bind: bool
    may_reserve: bool

    @cached_property
    def representative(self) -> Task:
        """Any one of them."""
        return self.tasks[0]


@dataclass(frozen=True)
class JobClass:
    """Jobs that are interchangeable: each has as many tasks of the same classes, and they differ in name only."""

    index: int
    jobs: tuple[str, ...]
    representative: SessionJob
    counts: dict[int, int]
    """Per task class how many tasks one of the jobs has."""

    def __len__(self) -> int:
        return len(self.jobs)


@dataclass(frozen=True)
class VictimClass:
    """Running tasks on one node that are interchangeable as victims; of one job, unless that makes no difference."""

    index: int
    node: str
    job: str
    tasks: tuple[Task, ...]
    rights: dict[Action, tuple[int, ...]]
    """Per action the task classes that may evict them, were they placed beside them."""
    job_is_irrelevant: bool
    """Whether no rule and no level sees which job they belong to; then they may be of several jobs."""
    shape: int
    """Equal for victim classes that differ in their node, and in when their tasks started, only."""
    most: int
    """How many of them the rules let go at most."""

    @cached_property
    def representative(self) -> Task:
        """Any one of them."""
        return self.tasks[0]


@dataclass(frozen=True)
class Classes:
    """Everything that is counted, and the unit in which each resource is counted."""

    tasks: tuple[TaskClass, ...]
    jobs: tuple[JobClass, ...]
    victims: tuple[VictimClass, ...]
    unit: dict[str, int]

    def amount(self, task: Task, resource: str) -> int:
        """A request in whole units of the resource."""
        return task.requests.get(resource, 0) // self.unit.get(resource, 1)

    def requested_by_shape(self, resource: str) -> dict[int, int]:
        """Per shape of victim how much of the resource one requests."""
        if resource not in self._requested:
            by_shape = self._victim_by_shape.items()
            self._requested[resource] = {shape: self.amount(task, resource) for shape, task in by_shape}
        return self._requested[resource]

    @cached_property
    def _victim_by_shape(self) -> dict[int, Task]:
        return {group.shape: group.tasks[0] for group in self.victims}

    @cached_property
    def _requested(self) -> dict[str, dict[int, int]]:
        """What requested_by_shape has worked out so far."""
        return {}
