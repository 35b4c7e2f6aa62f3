"""A session as a packing problem: capacities, requests, static filters, and victims that are kept or leave.

Every other rule is left out. That is a relaxation: every legal decision is a placement, so a bound on placements holds
for decisions. It is made only where each starving job is a single task, so that a tier's value is the level
`jobs_admitted` of its priority.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from cpsched.instance import Task
from cpsched.optimum.model.session_model import SessionModel
from cpsched.optimum.relax.packing_stage import Objective, PackingStage, PodRow, VictimRow, stage_problem

MOST_CELLS = 200_000
"""Pending tasks × nodes; beyond it one pass of best fit takes longer than the relaxations by node class."""
MOST_AMOUNT = 1 << 40
"""Amounts beyond it, summed over a cluster, could leave 64 bits."""


@dataclass(frozen=True)
class PackingModel:
    """Rows of pods that are packed alike, and what each node has without any victim leaving."""

    session: SessionModel
    priorities: tuple[int, ...]
    """Per tier the priority of its jobs."""
    rows: tuple[PodRow, ...]
    room: dict[str, tuple[int, ...]]
    names: tuple[str, ...]
    """The resources of all amounts."""

    def demand(self, tier: int) -> int:
        """Jobs of a tier."""
        return sum(len(row.tasks) for row in self.rows if row.tier == tier)

    @property
    def starts_where_it_fits(self) -> bool:
        """Whether, without victims, every pod that is placed starts at once: no room is still to be freed."""
        idle = self.session.capacity.idle
        return all(
            idle[node].get(name, 0) >= amount
            for node, room in self.room.items()
            for name, amount in zip(self.names, room, strict=True)
        )

    def stage(
        self, limits: Sequence[int], goals: Sequence[Objective], nodes: frozenset[str] | None = None
    ) -> PackingStage | None:
        """The problem in which so many of each victim class may leave; those that a goal counts are rows.

        Only the tiers that a goal counts are packed: placing less of the others breaks no rule. None where victims are
        counted on an overcommitted node: all can stay if it receives no task, which no capacity says. With `nodes`
        nothing is placed elsewhere; all victims are on them.
        """
        room = {node: list(amounts) for node, amounts in self.room.items() if nodes is None or node in nodes}
        counted: frozenset[int] = frozenset().union(*(goal.victims for goal in goals))
        kept: dict[Hashable, VictimRow] = {}
        for group, limit in zip(self.session.classes.victims, limits, strict=True):
            if not limit:
                continue
            classes = self.session.classes
            size = tuple(classes.requested_by_shape(name)[group.shape] for name in self.names)
            for index, amount in enumerate(size):
                room[group.node][index] += amount * limit
            if group.index in counted:
                if min(self.room[group.node]) < 0:
                    return None
                member = tuple(group.index in goal.victims for goal in goals)
                key = (size, group.representative.pod_priority, member)
                row = kept.setdefault(key, VictimRow(size, group.representative.pod_priority, {}))
                row.groups.setdefault(group.node, []).append((group, limit))
        tiers = {goal.tier for goal in goals if goal.tier is not None}
        rows = tuple(row for row in self.rows if row.tier in tiers)
        victims, names = tuple(kept.values()), self.names
        if any(goal.starts for goal in goals):
            rows, victims, names = self._with_starts(rows, victims, room)
        return stage_problem(self.session, names, rows, victims, room, tuple(limits), tuple(goals))

    def _with_starts(
        self, rows: tuple[PodRow, ...], victims: tuple[VictimRow, ...], room: dict[str, list[int]]
    ) -> tuple[tuple[PodRow, ...], tuple[VictimRow, ...], tuple[str, ...]]:
        """Rows of what starts and of what waits, and all resources twice: what starts also fits into what is idle.

        Nothing waits on a node where as much is idle as there will ever be. `room` is extended.
        """
        idle = self.session.capacity.idle
        changing = set()
        for node, amounts in room.items():
            now = [max(0, idle[node].get(name, 0)) for name in self.names]
            if any(later > here for later, here in zip(amounts, now, strict=True)):
                changing.add(node)
            amounts.extend(now)
        nothing = (0,) * len(self.names)
        starting = [replace(row, size=row.size * 2, waits=False) for row in rows]
        waiting = [
            replace(row, size=row.size + nothing, waits=True, nodes=row.nodes & changing)
            for row in rows
            if row.nodes & changing
        ]
        kept = tuple(replace(row, size=row.size + nothing) for row in victims)
        return (*starting, *waiting), kept, self.names * 2


def packing_model(session: SessionModel) -> PackingModel | None:
    """The packing problems of a session; None where they would not say what jobs are admitted, or are too large."""
    snapshot, classes = session.snapshot, session.classes
    starving = {job.key: job for job in snapshot.starving}
    if snapshot.policy.model.scheduler != "kube":
        return None  # queues and gangs choose among jobs of one priority, and a packing does not
    if not classes.tasks or len(starving) != sum(len(one.tasks) for one in classes.tasks):
        return None
    if any(
        len(job.pending) != 1 or job.key not in starving
        for one in classes.tasks
        for job in map(snapshot.job_of, one.tasks)
        if job
    ):
        return None
    if len(starving) * len(snapshot.instance.nodes) > MOST_CELLS:
        return None
    names = tuple(
        sorted({name for one in classes.tasks for name, amount in one.representative.requests.items() if amount})
    )
    found: dict[Hashable, tuple[tuple[int, ...], int, frozenset[str], list[Task]]] = {}
    for one in classes.tasks:
        size = tuple(classes.amount(one.representative, name) for name in names)
        key = (size, one.representative.priority, one.nodes)
        row = found.setdefault(key, (size, _priority(session, one.tasks[0]), frozenset(one.nodes), []))
        row[3].extend(one.tasks)
    priorities = sorted({priority for _, priority, *_ in found.values()}, reverse=True)
    rows = tuple(
        PodRow(size, priorities.index(priority), nodes, tuple(sorted(tasks, key=lambda task: task.key)))
        for size, priority, nodes, tasks in found.values()
    )
    idle = session.capacity.future_idle
    room = {node: tuple(idle[node].get(name, 0) for name in names) for node in sorted(snapshot.instance.nodes)}
    if not names or _is_too_much(session, names, room):
        return None
    return PackingModel(session, tuple(priorities), rows, room, names)


def _is_too_much(session: SessionModel, names: tuple[str, ...], room: dict[str, tuple[int, ...]]) -> bool:
    classes = session.classes
    for index, name in enumerate(names):
        leaving = sum(classes.requested_by_shape(name)[group.shape] * group.most for group in classes.victims)
        if sum(max(0, amounts[index]) for amounts in room.values()) + leaving > MOST_AMOUNT:
            return True
    return False


def _priority(session: SessionModel, task: Task) -> int:
    job = session.snapshot.job_of(task)
    assert job is not None
    return job.priority
