"""Whom to evict from one node; mirrors `plugins/defaultpreemption` (SelectVictimsOnNode) and `preemption/util.go`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from cpsched.instance import Task
from cpsched.policy.kube_registry import KubeVersion

_NOT_STARTED = 2**63
_LIFT = 2**31
DISRUPTED, BY_SCHEDULER = "DisruptionTarget", "PreemptionByScheduler"
RANKS = {"pod": 1, "podgroup": 2, "compositepodgroup": 3}


@dataclass(frozen=True)
class Victims:
    """Tasks to evict, most important first, and how many break a budget by kube's count."""

    tasks: tuple[Task, ...]
    violations: int

    @cached_property
    def levels(self) -> tuple[int, int, int, int, int]:
        """By what nodes are compared, larger is better: fewest violations, lowest top priority, smallest sum of
        priorities (each victim weighs 2^31 more), fewest victims, latest start of the first top victim.
        """
        priorities = [task.pod_priority for task in self.tasks]
        highest = max(priorities)
        start = min(start_time(task) for task in self.tasks if task.pod_priority == highest)
        total = sum(priorities) + _LIFT * len(priorities)
        return -self.violations, -priorities[0], -total, -len(priorities), start


@dataclass(frozen=True)
class Unit:
    """Tasks that are evicted together or not at all; without pod groups a single task."""

    tasks: tuple[Task, ...]
    priority: int
    kind: str = "pod"

    @cached_property
    def start(self) -> int:
        """When the first of them started; one that has not started counts as starting now."""
        return min((start_time(task) for task in self.tasks), default=_NOT_STARTED)

    @property
    def importance(self) -> tuple[int, int, int, int]:
        """Smaller is more important: priority, kind, size, start."""
        return -self.priority, -RANKS[self.kind], -len(self.tasks), self.start


def single(task: Task) -> Unit:
    """A task on its own."""
    return Unit((task,), task.pod_priority)


def start_time(task: Task) -> int:
    """status.startTime; later than all others if the pod has not started."""
    start = task.pod.status.start_time
    return _NOT_STARTED if start is None else start


def by_importance(units: Sequence[Unit], version: KubeVersion) -> list[Unit]:
    """Most important first.

    Up to 1.36 the clock is read at each comparison, so that of two pods that have not started the later one in the
    list comes out as the earlier started; exact while upstream sorts by insertion, that is up to 12 units.
    """
    if version == "head":
        return sorted(units, key=lambda unit: unit.importance)

    def key(numbered: tuple[int, Unit]) -> tuple[tuple[int, int, int, int], int]:
        number, unit = numbered
        return unit.importance, -number if unit.start == _NOT_STARTED else number

    return [unit for _, unit in sorted(enumerate(units), key=key)]


def terminating_by_preemption(task: Task) -> bool:
    """Whether the pod is going because a scheduler preempted it; the first DisruptionTarget condition tells."""
    if task.pod.metadata.deletion_timestamp is None:
        return False
    condition = next((c for c in task.pod.status.conditions if c.type == DISRUPTED), None)
    return condition is not None and condition.status == "True" and condition.reason == BY_SCHEDULER


def tasks_of(units: Iterable[Unit]) -> tuple[Task, ...]:
    """All tasks of some units, in order."""
    return tuple(task for unit in units for task in unit.tasks)
