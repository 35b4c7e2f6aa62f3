"""Insertion: jobs that wait are placed one after another into what a decision leaves free, evicting where they may.

A job gets its minimum or nothing, the tasks of each where least is left (best fit). What is free is known in floats,
and rules about neighbours, charges and the order of reclaim are not looked at: so the checker checks the decision.
"""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from cpsched.instance import HOLDS_ROOM, Status, Task
from cpsched.optimum.model.capacity import NodeCapacity
from cpsched.optimum.model.classes import Classes, TaskClass, VictimClass
from cpsched.optimum.model.constraints.queue import with_ancestors
from cpsched.optimum.search.primal.free_room import Amounts, FreeRoom
from cpsched.rules import Decision
from cpsched.snapshot import SessionJob, Snapshot
from cpsched.snapshot.rights import Action, is_above_share
from cpsched.solution import Eviction

_COUNTED = HOLDS_ROOM | {Status.SUCCEEDED}
Cost = tuple[int, int, int]
"""Of some victims the highest priority, how many they are, and the sum of their priorities."""


class Leaving(NamedTuple):
    """A task that would be evicted, of which class and by which action."""

    group: VictimClass
    task: Task
    action: Action


class Insertion:
    """A decision under construction."""

    def __init__(
        self, base: Decision, classes: Classes, capacity: NodeCapacity, is_over: Callable[[], bool] = lambda: False
    ):
        """`base` is kept as it is; after `is_over` nothing more is placed."""
        self._snapshot: Snapshot = base.snapshot
        self._classes, self._is_over = classes, is_over
        self._class_of = {task.key: one for one in classes.tasks for task in one.tasks}
        self._room = FreeRoom(classes, capacity.idle, capacity.future_idle)
        self._binds, self._reserves = dict(base.binds), dict(base.reserves)
        self._evictions = {item.task: item for item in base.evictions}
        self._held = {name: dict(amounts) for name, amounts in base.allocated_after.items()}
        self._kept = {name: dict(share.allocated) for name, share in self._snapshot.shares.items()}
        """What queues hold of what they hold in the snapshot: it decides whether they are above their share."""
        self._lost = Counter(self._snapshot.job_by_task[key].key for key in self._evictions)
        self._served = set(base.placed_by_job)
        self._groups_by_node: dict[str, list[VictimClass]] = {}
        for group in classes.victims:
            if all(self._snapshot.policy.gang_protects(action) != "whole" for action in group.rights):
                self._groups_by_node.setdefault(group.node, []).append(group)
                size = self._room.vector(group.representative.requests)
                self._room.victims[self._room.index_by_node[group.node]] += group.most * size
        for groups in self._groups_by_node.values():
            groups.sort(key=lambda group: (group.representative.pod_priority, group.index))
        self._ways: dict[int, list[tuple[Cost, str]]] = {}
        self._failed: set[tuple[int, ...]] = set()
        """Tasks that were not all placed, by their classes: others like them are not tried, as room only gets less."""
        self._sizes: dict[int, Amounts] = {}
        for places, starts in ((self._binds, True), (self._reserves, False)):
            for key, node in places.items():
                task = self._snapshot.instance.tasks[key]
                self._room.take(self._room.index_by_node[node], self._size(task), starts=starts)
        for task in base.victims:
            self._room.free(self._room.index_by_node[task.node], self._size(task))
            self._change_queue(self._kept, task, -1)

    def run(self, order: Callable[[SessionJob, float], tuple[float, ...]]) -> Decision:
        """Admit starving jobs, the most important first and else in this order, then place what else fits."""
        waiting = {jobs.jobs[0]: jobs for jobs in self._classes.jobs}
        starving = {job.key for job in self._snapshot.starving}
        all_jobs = [self._snapshot.jobs[key] for jobs in waiting.values() for key in jobs.jobs]
        needs = {job.key: self._needed(job) for job in all_jobs}
        size = {job.key: sum(map(self._weight, needs[job.key])) for job in all_jobs}
        urgent = [job for job in all_jobs if job.key in starving and needs[job.key]]
        for job in sorted(urgent, key=lambda job: (-job.priority, *order(job, size[job.key]), job.key)):
            if self._is_over():
                break
            if job.key not in self._served:
                self._admit(job, needs[job.key])
        for job in sorted(all_jobs, key=lambda job: (-job.priority, size[job.key], job.key)):
            if self._is_over():
                break
            self._grow(job)
        entered = {key for key in self._served if self._snapshot.jobs[key].is_pending}
        return Decision(
            self._snapshot, self._binds, self._reserves, tuple(self._evictions.values()), frozenset(entered)
        )

    def _size(self, task: Task) -> Amounts:
        """What a task asks for; equal requests are one object."""
        key = id(task.requests)
        if key not in self._sizes:
            self._sizes[key] = self._room.vector(task.requests)
        return self._sizes[key]

    def _weight(self, task: Task) -> float:
        return self._room.weight(self._class_of[task.key])

    def _needed(self, job: SessionJob) -> list[Task]:
        """Tasks that together make the job's minimum, the smallest first; none if it has too few."""
        asking = [task for task in job.pending if task.key in self._class_of and not task.best_effort]
        if not asking or not self._snapshot.policy.requires_gangs:
            return sorted(asking, key=self._weight)[:1]
        asking.sort(key=self._weight)
        free = [task for task in job.tasks if task.status is Status.PENDING and task.best_effort]
        present = Counter(task.role for task in (*free, *(task for task in job.tasks if task.status in _COUNTED)))
        needed: list[Task] = []
        for role, least in job.min_by_role.items() if job.roles_count else ():
            needed += [task for task in asking if task.role == role][: max(0, least - present[role])]
        chosen = {task.key for task in needed}
        missing = max(1, job.min_available - present.total()) - len(needed)
        needed += [task for task in asking if task.key not in chosen][: max(0, missing)]
        return needed if len(needed) >= job.min_available - present.total() else []

    def _admit(self, job: SessionJob, tasks: Sequence[Task]) -> bool:
        """Start all of them, or, where that is not possible, reserve room for all of them, evicting where need be."""
        kind = tuple([self._class_of[task.key].index for task in tasks])
        if kind in self._failed:
            return False
        mark = self._room.mark
        self._ways = {}
        for starts in (True, False):
            if all(self._place(job, task, starts=starts, evicts=not starts) for task in tasks):
                self._served.add(job.key)
                return True
            self._room.back(mark)
        self._failed.add(kind)
        return False

    def _grow(self, job: SessionJob) -> None:
        """Place further tasks of a job that has its minimum, evicting nothing."""
        if job.key not in self._served and (job.is_below_minimum or self._snapshot.policy.is_kube):
            return
        starts = not any(task.key in self._reserves for task in job.pending)
        full: set[int] = set()
        for task in job.pending:
            one = self._class_of.get(task.key)
            if one is None or one.index in full or task.key in self._binds or task.key in self._reserves:
                continue
            if task.best_effort or not self._place(job, task, starts=starts, evicts=False):
                full.add(one.index)
            else:
                self._served.add(job.key)

    def _place(self, job: SessionJob, task: Task, *, starts: bool, evicts: bool) -> bool:
        one = self._class_of[task.key]
        if not (one.may_bind if starts else one.may_reserve):
            return False
        node = self._room.best_fit(one, starts=starts) if self._queue_allows(job, task) else None
        if node is None and evicts:
            # Victims of the same queue leave it room too.
            node = self._make_room(job, one)
        if node is None or not self._queue_allows(job, task):
            return False
        self._room.take(node, self._room.size(one), starts=starts)
        places = self._binds if starts else self._reserves
        places[task.key] = self._room.nodes[node]
        self._change_queue(self._held, task, 1)

        def undo() -> None:
            del places[task.key]
            self._change_queue(self._held, task, -1)

        self._room.also(undo)
        return True

    def _queue_allows(self, job: SessionJob, task: Task) -> bool:
        """Whether the job's queue and its ancestors stay within their limits."""
        snapshot = self._snapshot
        if not snapshot.policy.limits_queues or task.best_effort:
            return True
        by_deserved = snapshot.policy.share_plugin == "proportion"
        for name in with_ancestors(snapshot, job.queue):
            share, held = snapshot.shares[name], self._held[name]
            limit = share.deserved if by_deserved else share.real_capability
            for resource, amount in task.requests.items():
                if amount and resource != "pods" and held.get(resource, 0) + amount > limit.get(resource, 0):
                    return False
        return True

    def _change_queue(self, amounts: dict[str, dict[str, float]], task: Task, sign: int) -> None:
        for name in with_ancestors(self._snapshot, self._snapshot.job_by_task[task.key].queue):
            held = amounts[name]
            for resource, amount in task.requests.items():
                held[resource] = held.get(resource, 0) + sign * amount

    def _make_room(self, job: SessionJob, one: TaskClass) -> int | None:
        """Evict on the node where the least important go; None if no node has enough that may be evicted."""
        if one.index not in self._ways:
            nodes = [node for node in self._room.may_fit(one) if node in self._groups_by_node]
            ways = ((self._cheapest(job, one, node), node) for node in nodes)
            self._ways[one.index] = sorted((_cost(found), node) for found, node in ways if found)
        ways_left = self._ways[one.index]
        while ways_left:
            # Others may have used a node since it was looked at; it is looked at again before it is taken.
            before, node = ways_left.pop(0)
            found = self._cheapest(job, one, node)
            if not found:
                continue
            if _cost(found) > before and ways_left and _cost(found) > ways_left[0][0]:
                insort(ways_left, (_cost(found), node))
                continue
            insort(ways_left, (before, node))
            for leaving in found:
                self._evict(job, leaving)
            return self._room.index_by_node[node]
        return None

    def _cheapest(self, job: SessionJob, one: TaskClass, node: str) -> list[Leaving]:
        """Victims on the node that make room for a task of the class, each of them needed; none if too few may go."""
        missing = self._room.missing(one, self._room.index_by_node[node])
        found: list[Leaving] = []
        losses: Counter[str] = Counter()
        for group in self._groups_by_node[node]:
            action = self._action(job, one, group)
            if action is None or group.job == job.key:
                continue
            size = self._size(group.representative)
            for task in group.tasks:
                if not (missing > 0).any():
                    return self._pruned(one, node, found)
                if task.key in self._evictions or not self._may_lose(task, losses, action):
                    continue
                if not ((missing > 0) & (size > 0)).any():
                    break
                missing -= size
                losses[self._snapshot.job_by_task[task.key].key] += 1
                found.append(Leaving(group, task, action))
        return [] if (missing > 0).any() else self._pruned(one, node, found)

    def _pruned(self, one: TaskClass, node: str, found: list[Leaving]) -> list[Leaving]:
        """Without those that are not needed, the most important first."""
        missing = self._room.missing(one, self._room.index_by_node[node])
        asked = missing > 0
        sizes = {id(item): self._size(item.task) for item in found}
        spare = sum(sizes.values(), start=-missing)
        for item in reversed(found):
            if (spare[asked] >= sizes[id(item)][asked]).all():
                spare = spare - sizes[id(item)]
                found = [other for other in found if other is not item]
        return found

    def _action(self, job: SessionJob, one: TaskClass, group: VictimClass) -> Action | None:
        if one.index in group.rights.get("preempt", ()):
            return "preempt"
        if one.index not in group.rights.get("reclaim", ()):
            return None
        victim = group.representative
        queue = self._snapshot.job_by_task[victim.key].queue
        is_above = queue is not None and is_above_share(self._snapshot, queue, victim, self._kept.get(queue, {}))
        return "reclaim" if is_above and self._stays_within_share(job, one) else None

    def _stays_within_share(self, job: SessionJob, one: TaskClass) -> bool:
        """Whether the job's queue may reclaim for the task; proportion's limit is the deserved share itself."""
        snapshot = self._snapshot
        queue = job.queue
        if snapshot.policy.share_plugin == "proportion" or queue is None or queue not in snapshot.shares:
            return True
        held, deserved = self._held[queue], snapshot.shares[queue].deserved
        asked = one.representative.requests.items()
        return any(held.get(name, 0) + amount <= deserved.get(name, 0) for name, amount in asked if name != "pods")

    def _may_lose(self, task: Task, losses: Counter[str], action: Action) -> bool:
        """Whether the task's job keeps its minimum without it."""
        if self._snapshot.policy.gang_protects(action) == "off":
            return True
        owner = self._snapshot.job_by_task[task.key]
        return owner.ready - self._lost[owner.key] - losses[owner.key] > owner.min_available

    def _evict(self, job: SessionJob, leaving: Leaving) -> None:
        task, owner = leaving.task, self._snapshot.job_by_task[leaving.task.key].key
        self._room.free(self._room.index_by_node[task.node], self._size(task))
        self._evictions[task.key] = Eviction(task=task.key, node=task.node, action=leaving.action, for_job=job.key)
        self._lost[owner] += 1
        for amounts in (self._held, self._kept):
            self._change_queue(amounts, task, -1)

        def undo() -> None:
            del self._evictions[task.key]
            self._lost[owner] -= 1
            for amounts in (self._held, self._kept):
                self._change_queue(amounts, task, 1)

        self._room.also(undo)


def _cost(found: Iterable[Leaving]) -> Cost:
    ranks = [item.task.pod_priority for item in found]
    return max(ranks), len(ranks), sum(ranks)
