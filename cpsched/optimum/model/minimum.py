"""A job's minimum as rows: tasks in all and per role, and sub-groups that are complete."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ortools.sat.python import cp_model

from cpsched.instance import HOLDS_ROOM, PENDING, Status, Task
from cpsched.optimum.model.classes import JobClass
from cpsched.optimum.model.variables import Expr, Variables, sum_of, terms_of, value_in
from cpsched.snapshot import SessionJob
from cpsched.snapshot.sub_groups import SubGroups

READY = HOLDS_ROOM | {Status.SUCCEEDED}
Least = tuple[Expr, int]
"""An expression, and the least that it must be."""
Selects = Callable[[Task], bool]


@dataclass(frozen=True)
class Minimum:
    """What a job must have at work: every one of the first, and of each policy so many of the sub-groups."""

    totals: Sequence[Least]
    groups: Sequence[tuple[int, Sequence[Least]]] = ()
    """How many of these must hold."""

    @property
    def holds_without_change(self) -> bool:
        """Whether it holds where nothing is lost and nothing is won, as far as no Boolean is needed."""
        return not self.groups and all(least <= 0 for _, least in self.totals)

    def post(self, v: Variables, *if_all: cp_model.LiteralT) -> None:
        """State it wherever all of the literals hold."""
        for row in self.rows(v):
            v.cp.add(row).only_enforce_if(*if_all)

    def rows(self, v: Variables) -> Iterator[Any]:
        """The same as rows; what completes a sub-group takes a Boolean each, unless nothing changes it."""
        for expr, least in self.totals:
            if terms_of(expr)[1] or least > 0:
                yield expr >= least
        for number, parts in self.groups:
            complete = []
            for expr, least in parts:
                if not terms_of(expr)[1]:
                    number -= least <= 0
                    continue
                complete.append(v.flag("sub-group is complete"))
                v.cp.add(expr >= least).only_enforce_if(complete[-1])
            if number > 0:
                yield sum_of(list(complete)) >= number

    def holds(self, values: list[int]) -> bool:
        """Whether it holds under an assignment."""
        if any(value_in(expr, values) < least for expr, least in self.totals):
            return False
        return all(
            sum(value_in(expr, values) >= least for expr, least in parts) >= number for number, parts in self.groups
        )


def kept(v: Variables, job: SessionJob, *, in_full: bool = True) -> Minimum:
    """What a job that loses tasks keeps, with what starts; not `in_full` only as to the number of tasks."""
    jobs = v.class_by_job.get(job.key)

    def left(selects: Selects) -> tuple[Expr, int]:
        begun = [] if jobs is None else [c for one, c in v.taken(jobs, reserved=False) if selects(one.representative)]
        return sum_of(begun) - lost(v, job, selects), sum(t.status in READY and selects(t) for t in job.tasks)

    totals = [_least(job.min_available, *left(every_task))]
    if not in_full:
        return Minimum(totals)
    totals += [_least(least, *left(in_role(role))) for role, least in roles_of(job)]
    return Minimum(totals, _groups(job, left))


def reached(v: Variables, jobs: JobClass, *, bound: bool, reserved: bool) -> Minimum:
    """What a job that is served has, by its starts or its reserves: tasks at work, less those lost."""
    job = jobs.representative

    def there(selects: Selects) -> tuple[Expr, int]:
        won = won_by(v, jobs, selects, bound=bound, reserved=reserved)
        return won - lost(v, job, selects), at_work(job, selects)

    totals = [_least(least, *there(selects)) for selects, least in minima_of(job)]
    return Minimum(totals, _groups(job, there))


def minima_of(job: SessionJob) -> list[tuple[Selects, int]]:
    """What the job must have at work, in all and per role."""
    return [(every_task, job.min_available), *((in_role(role), least) for role, least in roles_of(job))]


def roles_of(job: SessionJob) -> list[tuple[str, int]]:
    """Roles with a minimum that counts."""
    return sorted(job.min_by_role.items()) if job.roles_count else []


def every_task(task: Task) -> bool:
    """Selects every task."""
    return True


def in_role(role: str) -> Selects:
    """Selects the tasks of a role."""
    return lambda task: task.role == role


def in_group(groups: SubGroups, key: str) -> Selects:
    """Selects the tasks of a sub-group."""
    return lambda task: task.key in groups.by_task and groups.by_task[task.key].key == key


def at_work(job: SessionJob, selects: Selects) -> int:
    """Tasks that count as ready already; pending ones that ask for nothing do."""
    return sum(t.status in READY or (t.status is PENDING and t.best_effort) for t in job.tasks if selects(t))


def lost(v: Variables, job: SessionJob, selects: Selects) -> Expr:
    """How many of the tasks the job loses."""
    groups = v.victims_by_job.get(job.key, ())
    return sum_of([v.evicted(group) for group in groups if selects(group.representative)])


def won_by(v: Variables, jobs: JobClass, selects: Selects, *, bound: bool, reserved: bool) -> Expr:
    """How many more tasks that count are started, or reserved."""
    taken = v.taken(jobs, bound=bound, reserved=reserved)
    return sum_of([n for one, n in taken if not one.representative.best_effort and selects(one.representative)])


def _groups(job: SessionJob, count: Callable[[Selects], tuple[Expr, int]]) -> list[tuple[int, list[Least]]]:
    groups = job.sub_groups
    if groups is None:
        return []
    return [
        (number, [_least(g.min_available, *count(in_group(groups, g.key))) for g in groups.groups if g.group == policy])
        for policy, number in groups.minima.items()
    ]


def _least(least: int, change: Expr, have: int) -> Least:
    return change, least - have
