"""The decision variables, and the expressions that constraints and levels are written in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from ortools.sat.python import cp_model

from cpsched.optimum.model.capacity import NodeCapacity
from cpsched.optimum.model.classes import Classes, JobClass, TaskClass, VictimClass
from cpsched.snapshot import SessionJob, Snapshot
from cpsched.snapshot.rights import Action

if TYPE_CHECKING:
    from cpsched.optimum.model.domains import DomainChoice
    from cpsched.optimum.model.objective.queue_deficit import Deficit

Expr = cp_model.LinearExpr
ZERO: Expr = cp_model.LinearExpr.constant(0)


Terms = tuple[int, dict[int, int]]
"""A constant, and the coefficient of every variable."""

Shape = tuple[tuple[str, int], ...]
Charged = tuple[frozenset[int], Shape, Action]
"""Victims of a shape that the same classes may evict, by the action that evicts them."""
Claims = dict[int, cp_model.IntVar | None]
"""Per class that may reclaim: whether its queue has the claim; None for always."""
Counts = dict[Charged, tuple[cp_model.IntVar, int]]
"""How many of them are charged, and how many there are."""


class Variables:
    """The integer variables of a model, each a count of interchangeable objects.

    bind[c, n], reserve[c, n]: tasks of request class c that start, or are reserved, on node n.
    bind_by_job[j, c], reserve_by_job[j, c]: of those of task class c, how many belong to jobs of class j.
    evict[g, a]: tasks of victim class g evicted by action a.
    ready[j], pipelined[j]: jobs of class j that start, or that only get reservations.

    Without aggregation request classes are the task classes, so c means the same everywhere.
    """

    def __init__(
        self,
        cp: cp_model.CpModel,
        snapshot: Snapshot,
        classes: Classes,
        capacity: NodeCapacity,
        *,
        tracks_owner: bool = True,
        elastic: bool = False,
    ):
        self.cp, self.snapshot, self.classes, self.capacity = cp, snapshot, classes, capacity
        self.tracks_owner = tracks_owner
        """Whether tasks on a node are distinguished by owner; else by request, and no row there sees rights."""
        self.elastic = elastic
        """Whether capacity may be used and victims evicted without a right to it, at the price of `slacks`."""
        self.slacks: list[cp_model.IntVar] = []
        self.bind: dict[tuple[int, str], cp_model.IntVar] = {}
        self.reserve: dict[tuple[int, str], cp_model.IntVar] = {}
        self.evict: dict[tuple[int, Action], cp_model.IntVar] = {}
        self._evicted: dict[int, Expr] = {}
        self._whole: dict[str, cp_model.IntVar] = {}
        self.bind_by_job: dict[tuple[int, int], cp_model.IntVar] = {}
        self.reserve_by_job: dict[tuple[int, int], cp_model.IntVar] = {}
        for request_class in capacity.request_classes:
            self._add_placements(request_class)
        for group in classes.victims:
            for action in sorted(group.rights):
                self.evict[group.index, action] = cp.new_int_var(
                    0, group.most, f"evict {group.representative.key} {action}"
                )
            if len(group.rights) > 1:
                cp.add(self.evicted(group) <= group.most)
        self._take_classes()
        self.ready = [cp.new_int_var(0, len(jobs), f"ready {jobs.jobs[0]}") for jobs in classes.jobs]
        self.pipelined = [cp.new_int_var(0, len(jobs), f"pipelined {jobs.jobs[0]}") for jobs in classes.jobs]
        for jobs in classes.jobs:
            self._serve(jobs)
        self.changes: dict[tuple[str, str], Expr] = {}
        self.charged: dict[str, Counts] = {}
        self.claims: Claims | None = None
        self.ordered: set[str] = set()
        """Queues of which it is stated exactly that their reclaim victims can go in some order."""
        self.leaving: dict[tuple[str, str], list[tuple[int, VictimClass]]] = {}
        self.deficits: list[Deficit] | None = None
        self.choices: list[DomainChoice] | None = None

    @cached_property
    def reserve_dominates_bind(self) -> bool:
        """Whether a task that starts could as well be reserved, as far as no level counts starts: dominance."""
        losers = self.victims_by_job.keys() & self.class_by_job.keys()
        return not losers and all(one.may_reserve for one in self.classes.tasks if one.may_bind)

    @cached_property
    def fewer_dominate(self) -> bool:
        """Whether placing fewer tasks never breaks a rule: no guarantee, no victim's job keeps its minimum by them.

        Where it is known who is where, others may need a task beside them: by affinity, or for its right to evict.
        """
        guarded = any(amount for share in self.snapshot.shares.values() for amount in share.guarantee.values())
        return not self.tracks_owner and not guarded and not self.victims_by_job.keys() & self.class_by_job.keys()

    @cached_property
    def some_eviction(self) -> cp_model.IntVar:
        """True if any task is evicted."""
        flag = self.flag("some eviction")
        self.cp.add(sum_of(list(self.evict.values())) <= flag * sum(group.most for group in self.classes.victims))
        return flag

    def served(self, jobs: JobClass) -> Expr:
        """How many of the jobs receive something: those that become ready and those that wait for room."""
        return self.ready[jobs.index] + self.pipelined[jobs.index]

    def evicted(self, group: VictimClass) -> Expr:
        """How many of the group are evicted."""
        if group.index not in self._evicted:
            self._evicted[group.index] = sum_of([self.evict[group.index, action] for action in sorted(group.rights)])
        return self._evicted[group.index]

    def reclaimed(self, group: VictimClass) -> Expr:
        """How many of the group are evicted by an action that asks for shares."""
        asks = self.snapshot.policy.asks_shares
        return sum_of([self.evict[group.index, action] for action in sorted(group.rights) if asks(action)])

    def placed(self, one: TaskClass, node: str) -> Expr:
        """How many of the class are placed on the node."""
        return sum_of([v[one.index, node] for v in (self.bind, self.reserve) if (one.index, node) in v])

    def bound(self, one: TaskClass, node: str) -> Expr:
        """How many of the class start on the node."""
        return self.bind.get((one.index, node), ZERO)

    def taken(self, jobs: JobClass, *, bound: bool = True, reserved: bool = True) -> list[tuple[TaskClass, Expr]]:
        """Per class how many of the jobs' tasks are placed."""
        found = []
        for index in jobs.counts:
            asked = [of for of, wanted in ((self.bind_by_job, bound), (self.reserve_by_job, reserved)) if wanted]
            parts = [of[jobs.index, index] for of in asked if (jobs.index, index) in of]
            if parts:
                found.append((self.classes.tasks[index], sum_of(parts)))
        return found

    def total(self, one: TaskClass) -> Expr:
        """How many of the class are placed anywhere."""
        return sum_of(
            [of[key] for of in (self.bind_by_job, self.reserve_by_job) for key in self._takers[one.index] if key in of]
        )

    @cached_property
    def _takers(self) -> dict[int, list[tuple[int, int]]]:
        takers: dict[int, list[tuple[int, int]]] = {one.index: [] for one in self.classes.tasks}
        for jobs in self.classes.jobs:
            for index in jobs.counts:
                takers[index].append((jobs.index, index))
        return takers

    @cached_property
    def class_by_job(self) -> dict[str, JobClass]:
        """The class of every job that could receive something."""
        return {key: jobs for jobs in self.classes.jobs for key in jobs.jobs}

    @cached_property
    def class_of_victim(self) -> dict[str, int]:
        """The group of every task that may be evicted."""
        return {task.key: group.index for group in self.classes.victims for task in group.tasks}

    @cached_property
    def victims_by_node(self) -> dict[str, list[VictimClass]]:
        """Victim classes on each node."""
        return _grouped(self.classes.victims, "node")

    @cached_property
    def victims_by_job(self) -> dict[str, list[VictimClass]]:
        """Victim classes of each job that some rule or level reads."""
        return _grouped(tuple(group for group in self.classes.victims if not group.job_is_irrelevant), "job")

    @cached_property
    def classes_by_node(self) -> dict[str, list[TaskClass]]:
        """Request classes that may be on each node; without aggregation they are the task classes."""
        by_node: dict[str, list[TaskClass]] = {}
        for one in self.capacity.request_classes:
            for node in one.nodes:
                if (one.index, node) in self.bind or (one.index, node) in self.reserve:
                    by_node.setdefault(node, []).append(one)
        return by_node

    def goes_whole(self, job: SessionJob) -> cp_model.IntVar:
        """Only true if the job loses every task that holds room."""
        if job.key not in self._whole:
            flag = self._whole[job.key] = self.flag(f"{job.key} loses everything")
            lost = sum_of([self.evicted(group) for group in self.victims_by_job.get(job.key, ())])
            self.cp.add(lost == job.holding).only_enforce_if(flag)
        return self._whole[job.key]

    def slack(self, most: int, name: str) -> Expr:
        """By how much a row about rights may be broken; 0 in a model that is not elastic."""
        if not self.elastic:
            return ZERO
        self.slacks.append(self.cp.new_int_var(0, most, f"slack for {name}"))
        return self.slacks[-1]

    def flag(self, name: str) -> cp_model.IntVar:
        """A new Boolean."""
        return self.cp.new_bool_var(name)

    def _add_placements(self, one: TaskClass) -> None:
        for node in one.nodes:
            for kind, places, most in (
                ("bind", self.bind, self.capacity.bind_limit),
                ("reserve", self.reserve, self.capacity.reserve_limit),
            ):
                if (one.index, node) in most:
                    name = f"{kind} {one.representative.key} {node}"
                    places[one.index, node] = self.cp.new_int_var(0, most[one.index, node], name)

    def _take_classes(self) -> None:
        """What is placed of a request class is what the jobs receive of its task classes."""
        members: dict[int, list[TaskClass]] = {kind.index: [] for kind in self.capacity.request_classes}
        for one in self.classes.tasks:
            members[self.capacity.request_class_of[one.index]].append(one)
        for kind in self.capacity.request_classes:
            for name, places, of in (
                ("bind", self.bind, self.bind_by_job),
                ("reserve", self.reserve, self.reserve_by_job),
            ):
                total = [places[kind.index, node] for node in kind.nodes if (kind.index, node) in places]
                if total:
                    keys = [key for one in members[kind.index] for key in self._takers[one.index]]
                    for key in keys:
                        jobs = self.classes.jobs[key[0]]
                        most = len(jobs) * jobs.counts[key[1]]
                        of[key] = self.cp.new_int_var(0, most, f"{name} {kind.representative.key} for {jobs.jobs[0]}")
                    self.cp.add(sum_of(total) == sum_of([of[key] for key in keys]))

    def _serve(self, jobs: JobClass) -> None:
        """A job that receives anything is served, and none receives more tasks than it has."""
        served = self.served(jobs)
        self.cp.add(served <= len(jobs))
        for one, count in self.taken(jobs):
            self.cp.add(count <= jobs.counts[one.index] * served)
        self.cp.add(sum_of([count for _, count in self.taken(jobs)]) >= served)


def sum_of(parts: Sequence[Expr]) -> Expr:
    """The sum; 0 of nothing."""
    return cp_model.LinearExpr.sum(list(parts))


def weighted(parts: Iterable[tuple[int, Expr]]) -> Expr:
    """The sum of the parts, each times its weight."""
    pairs = [pair for pair in parts if pair[0]]
    return cp_model.LinearExpr.weighted_sum([part for _, part in pairs], [weight for weight, _ in pairs])


def terms_of(expr: Expr) -> Terms:
    """The expression, flat."""
    flat = cp_model.FlatIntExpr(expr)
    return flat.offset, {x.index: c for x, c in zip(flat.vars, flat.coeffs, strict=True)}


def value_in(expr: Expr, values: list[int]) -> int:
    """The expression under an assignment."""
    if isinstance(expr, cp_model.IntVar):
        return values[expr.index]
    flat = cp_model.FlatIntExpr(expr)
    total: int = flat.offset + sum(c * values[x.index] for x, c in zip(flat.vars, flat.coeffs, strict=True))
    return total


def _grouped(groups: tuple[VictimClass, ...], field: str) -> dict[str, list[VictimClass]]:
    found: dict[str, list[VictimClass]] = {}
    for group in groups:
        found.setdefault(getattr(group, field), []).append(group)
    return found
