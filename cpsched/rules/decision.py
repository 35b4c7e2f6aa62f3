"""A decision seen against its snapshot: what each node, job and queue gains and loses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from cpsched.instance import Task
from cpsched.policy.levels import LevelRef
from cpsched.resources import total_of
from cpsched.rules.identical import requests_of
from cpsched.rules.rights import Rights
from cpsched.rules.violation import Violation
from cpsched.snapshot import SessionJob, Snapshot
from cpsched.solution import Eviction, Solution


@dataclass(frozen=True)
class Decision:
    """Binds, reserves and evictions by task key; unknown tasks and nodes are the rule `assignment`'s business."""

    snapshot: Snapshot
    binds: Mapping[str, str]
    reserves: Mapping[str, str]
    evictions: tuple[Eviction, ...] = ()
    entered: frozenset[str] = field(default_factory=frozenset)
    """Pending jobs that are let into the cycle."""

    @classmethod
    def of(cls, snapshot: Snapshot, solution: Solution) -> Decision:
        """The decision inside a solution.

        A job that gets something or whose phase turns Inqueue has entered. A BestEffort task that is merely allocated
        while its gang is incomplete neither starts nor waits for room, so it is no part of the decision.
        """
        tasks = snapshot.instance.tasks
        reserves = dict(solution.reserves)
        placed, evicted = {*solution.binds, *reserves}, solution.evicted
        for key in solution.allocated:
            owner = snapshot.job_of(tasks[key]) if key in tasks and tasks[key].best_effort else None
            if owner is not None and not owner.is_pipelined(placed, evicted):
                del reserves[key]
        let_in = [snapshot.jobs.get(key) for key, phase in solution.phases.items() if phase == "Inqueue"]
        served = map(snapshot.job_by_task.get, (*solution.binds, *reserves))
        entered = frozenset([job.key for job in (*let_in, *served) if job is not None and job.is_pending])
        return cls(snapshot, solution.binds, reserves, solution.evictions, entered)

    @cached_property
    def found(self) -> dict[str, tuple[Violation, ...]]:
        """What the rules that were asked so far found."""
        return {}

    @cached_property
    def worth(self) -> dict[LevelRef, int | None]:
        """The values of the levels that were asked so far."""
        return {}

    @cached_property
    def rights(self) -> Rights:
        """Who may evict whom, given everything that is placed."""
        return Rights(self)

    @cached_property
    def placed(self) -> dict[str, str]:
        """Every placement: task → node."""
        return {**self.binds, **self.reserves}

    @cached_property
    def evicted(self) -> frozenset[str]:
        """Keys of the victims."""
        return frozenset(eviction.task for eviction in self.evictions)

    @cached_property
    def shuffled(self) -> frozenset[str]:
        """Keys of tasks that are moved for balance, for no other task."""
        return frozenset([eviction.task for eviction in self.evictions if eviction.action == "shuffle"])

    @cached_property
    def victims(self) -> tuple[Task, ...]:
        """The victims that exist, in the order in which the instance names them."""
        tasks, evicted = self.snapshot.instance.tasks, self.evicted
        return tuple([task for key, task in tasks.items() if key in evicted])

    @cached_property
    def placed_by_node(self) -> dict[str, list[Task]]:
        """Tasks placed on each node."""
        return self._by_node(self.placed)

    @cached_property
    def bound_by_node(self) -> dict[str, list[Task]]:
        """Tasks started on each node."""
        return self._by_node(self.binds)

    @cached_property
    def victims_by_node(self) -> dict[str, list[Task]]:
        """Victims on each node."""
        by_node: dict[str, list[Task]] = {}
        for victim in self.victims:
            by_node.setdefault(victim.node, []).append(victim)
        return by_node

    @cached_property
    def placed_by_job(self) -> dict[str, list[Task]]:
        """Tasks placed for each job of the session."""
        return self._by_job(self._tasks(self.placed))

    @cached_property
    def victims_by_job(self) -> dict[str, list[Task]]:
        """Victims of each job of the session."""
        return self._by_job(self.victims)

    @cached_property
    def placed_by_queue(self) -> dict[str, list[Task]]:
        """Tasks placed for the jobs of each queue."""
        return self._by_queue(self.placed_by_job)

    @cached_property
    def victims_by_queue(self) -> dict[str, list[Task]]:
        """Victims of the jobs of each queue."""
        return self._by_queue(self.victims_by_job)

    def jobs_served(self) -> list[SessionJob]:
        """Jobs that received something."""
        return [self.snapshot.jobs[key] for key in self.placed_by_job]

    def starts_of(self, job: SessionJob) -> int:
        """How many of the job's tasks start."""
        return sum([task.key in self.binds for task in job.tasks]) if self.binds else 0

    @cached_property
    def allocated_after(self) -> dict[str, dict[str, float]]:
        """What each queue holds once everything is placed and the victims are gone; reserves count, ancestors too."""
        shares = self.snapshot.shares
        after = {name: dict(share.allocated) for name, share in shares.items()}
        for sign, changed in ((1, self.placed_by_queue), (-1, self.victims_by_queue)):
            for queue, tasks in changed.items():
                total = total_of([task.requests for task in tasks])
                for name in (queue, *shares[queue].ancestors) if queue in shares else ():
                    for resource, amount in total.items():
                        after[name][resource] = after[name].get(resource, 0) + sign * amount
        return after

    @cached_property
    def asked_by_node(self) -> dict[str, dict[str, float]]:
        """What all that is placed on each node asks for."""
        return self._sums(self.placed_by_node)

    @cached_property
    def started_by_node(self) -> dict[str, dict[str, float]]:
        """What all that starts on each node asks for."""
        return self._sums(self.bound_by_node)

    @cached_property
    def freed_by_node(self) -> dict[str, dict[str, float]]:
        """What the victims on each node leave."""
        return self._sums(self.victims_by_node)

    def _by_node(self, places: Mapping[str, str]) -> dict[str, list[Task]]:
        tasks = self.snapshot.instance.tasks
        by_node: dict[str, list[Task]] = {}
        for key, node in places.items():
            if key in tasks:
                by_node.setdefault(node, []).append(tasks[key])
        return by_node

    def _by_job(self, tasks: Iterable[Task]) -> dict[str, list[Task]]:
        job_of = self.snapshot.job_by_task
        by_job: dict[str, list[Task]] = {}
        for task in tasks:
            if (job := job_of.get(task.key)) is not None:
                by_job.setdefault(job.key, []).append(task)
        return by_job

    def _by_queue(self, tasks_by_job: Mapping[str, list[Task]]) -> dict[str, list[Task]]:
        by_queue: dict[str, list[Task]] = {}
        for key, tasks in tasks_by_job.items():
            if (queue := self.snapshot.jobs[key].queue) is not None:
                by_queue.setdefault(queue, []).extend(tasks)
        return by_queue

    def _tasks(self, keys: Iterable[str]) -> list[Task]:
        tasks = self.snapshot.instance.tasks
        return [tasks[key] for key in keys if key in tasks]

    def _sums(self, tasks_by_node: dict[str, list[Task]]) -> dict[str, dict[str, float]]:
        """What the tasks of each node ask for together."""
        sum_of = self.snapshot.identical.once(_sum_of, requests_of)
        return {node: sum_of(tasks) for node, tasks in tasks_by_node.items()}


def _sum_of(tasks: Iterable[Task]) -> dict[str, float]:
    return total_of([task.requests for task in tasks])
