"""The decision variables, and the expressions that constraints and levels are written in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from math import floor

from ortools.sat.python import cp_model

from cpsched.optimum.classes import Classes, TaskClass, VictimGroup
from cpsched.snapshot import SessionJob, Snapshot
from cpsched.snapshot.rights import Action

Expr = cp_model.LinearExpr
ZERO: Expr = cp_model.LinearExpr.constant(0)


class Variables:
    """Counts per (class, node) and per victim group and action; jobs meet classes through what they take of them."""

    def __init__(self, cp: cp_model.CpModel, snapshot: Snapshot, classes: Classes):
        self.cp, self.snapshot, self.classes = cp, snapshot, classes
        self.bind: dict[tuple[int, str], cp_model.IntVar] = {}
        self.reserve: dict[tuple[int, str], cp_model.IntVar] = {}
        self.evict: dict[tuple[int, Action], cp_model.IntVar] = {}
        for one in classes.tasks:
            self._add_placements(one)
        for group in classes.victims:
            for action in sorted(group.rights):
                self.evict[group.index, action] = cp.new_int_var(
                    0, len(group.tasks), f"evict {group.sample.key} {action}"
                )
            cp.add(self.evicted(group) <= len(group.tasks))
        self.jobs: dict[str, SessionJob] = {
            key: snapshot.jobs[key] for key in sorted({job for one in classes.tasks for job in one.jobs})
        }
        self._take_classes()
        self.served = {key: self._served(key) for key in self.jobs}
        self.deficits: list[cp_model.IntVar] | None = None

    def evicted(self, group: VictimGroup) -> Expr:
        """How many of the group are evicted."""
        return sum_of([self.evict[group.index, action] for action in sorted(group.rights)])

    def placed(self, one: TaskClass, node: str) -> Expr:
        """How many of the class are placed on the node."""
        return sum_of([v[one.index, node] for v in (self.bind, self.reserve) if (one.index, node) in v])

    def bound(self, one: TaskClass, node: str) -> Expr:
        """How many of the class start on the node."""
        return self.bind.get((one.index, node), ZERO)

    def taken(self, job: str, *, bound: bool = True, reserved: bool = True) -> list[tuple[TaskClass, Expr]]:
        """Per class how many of the job's tasks are placed."""
        found = []
        for one in self.classes.tasks:
            parts = [self._bound_of[job, one.index]] if bound and (job, one.index) in self._bound_of else []
            parts += [self._reserved_of[job, one.index]] if reserved and (job, one.index) in self._reserved_of else []
            if parts:
                found.append((one, sum_of(parts)))
        return found

    @cached_property
    def victims_by_node(self) -> dict[str, list[VictimGroup]]:
        """Groups on each node."""
        return _grouped(self.classes.victims, "node")

    @cached_property
    def victims_by_job(self) -> dict[str, list[VictimGroup]]:
        """Groups of each job."""
        return _grouped(self.classes.victims, "job")

    @cached_property
    def classes_by_node(self) -> dict[str, list[TaskClass]]:
        """Classes that may be on each node."""
        by_node: dict[str, list[TaskClass]] = {}
        for one in self.classes.tasks:
            for node in one.nodes:
                if (one.index, node) in self.bind or (one.index, node) in self.reserve:
                    by_node.setdefault(node, []).append(one)
        return by_node

    def flag(self, name: str) -> cp_model.IntVar:
        """A fresh Boolean."""
        return self.cp.new_bool_var(name)

    def _add_placements(self, one: TaskClass) -> None:
        for node in one.nodes:
            now = self._fits(one, self.snapshot.idle[node]) if one.may_bind else 0
            if now:
                self.bind[one.index, node] = self.cp.new_int_var(0, now, f"bind {one.sample.key} {node}")
            room = dict(self.snapshot.future_idle[node])
            for group in self.classes.victims:
                if group.node == node:
                    for name, amount in group.sample.requests.items():
                        room[name] = room.get(name, 0) + amount * len(group.tasks)
            later = self._fits(one, room) if one.may_reserve else 0
            if later:
                self.reserve[one.index, node] = self.cp.new_int_var(0, later, f"reserve {one.sample.key} {node}")

    def _fits(self, one: TaskClass, room: dict[str, float]) -> int:
        asked = [(name, amount) for name, amount in one.sample.requests.items() if amount > 0]
        return max(0, min([len(one.tasks), *(floor(room.get(name, 0) / amount) for name, amount in asked)]))

    def _take_classes(self) -> None:
        self._bound_of: dict[tuple[str, int], Expr] = {}
        self._reserved_of: dict[tuple[str, int], Expr] = {}
        for one in self.classes.tasks:
            for kind, places, of in (("bind", self.bind, self._bound_of), ("reserve", self.reserve, self._reserved_of)):
                total = [places[one.index, node] for node in one.nodes if (one.index, node) in places]
                if not total:
                    continue
                if len(one.jobs) == 1:
                    of[one.jobs[0], one.index] = sum_of(total)
                    continue
                shares = []
                for job in one.jobs:
                    most = one.count(self.snapshot, job)
                    of[job, one.index] = self.cp.new_int_var(0, most, f"{kind} {one.index} of {job}")
                    shares.append(of[job, one.index])
                self.cp.add(sum_of(total) == sum_of(shares))
            for job in one.jobs:
                both = [of[job, one.index] for of in (self._bound_of, self._reserved_of) if (job, one.index) in of]
                if both:
                    self.cp.add(sum_of(both) <= one.count(self.snapshot, job))

    def _served(self, job: str) -> cp_model.IntVar:
        served = self.flag(f"served {job}")
        total = sum_of([count for _, count in self.taken(job)])
        most = sum(one.count(self.snapshot, job) for one, _ in self.taken(job))
        self.cp.add(total >= served)
        self.cp.add(total <= most * served)
        return served


def sum_of(parts: Sequence[Expr]) -> Expr:
    """The sum; 0 of nothing."""
    return cp_model.LinearExpr.sum(list(parts))


def weighted(parts: Iterable[tuple[int, Expr]]) -> Expr:
    """The sum of the parts, each times its weight."""
    return sum_of([part * weight for weight, part in parts if weight])


def _grouped(groups: tuple[VictimGroup, ...], field: str) -> dict[str, list[VictimGroup]]:
    found: dict[str, list[VictimGroup]] = {}
    for group in groups:
        found.setdefault(getattr(group, field), []).append(group)
    return found
