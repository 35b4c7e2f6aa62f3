"""A session as a packing problem: capacities, requests and static filters; every other rule is left out.

That is a relaxation: every legal decision is a placement, so a bound on placements holds for decisions. It is made only
where each starving job is a single task, so that a tier's value is the level `jobs_admitted` of its priority.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from math import gcd

from cpsched.instance import Task
from cpsched.optimum.model.session_model import SessionModel
from cpsched.optimum.packing.problem import Counts, NodeClass, Problem, RequestRow

MOST_CELLS = 200_000
"""Pending tasks × nodes; beyond it one pass of best fit takes longer than the relaxations by node class."""
MOST_AMOUNT = 1 << 40
"""Amounts beyond it, summed over a cluster, could leave 64 bits."""


@dataclass(frozen=True)
class PackingModel:
    """The problem, and which tasks and nodes its rows and nodes are."""

    problem: Problem
    priorities: tuple[int, ...]
    """Per tier the priority of its jobs."""
    tasks: tuple[tuple[Task, ...], ...]
    """Per row the tasks it counts."""
    nodes: tuple[str, ...]

    def demand(self, priority: int) -> int:
        """Jobs of a priority."""
        tier = self.priorities.index(priority)
        return sum(row.demand for row in self.problem.rows if row.tier == tier)

    def placements(self, counts: Counts) -> dict[str, str]:
        """Task → node: the tasks of a row in the order of their names, to the nodes in the order of theirs."""
        found: dict[str, str] = {}
        for row, tasks in enumerate(self.tasks):
            places = [
                name
                for name, count in sorted(zip(self.nodes, counts[:, row].tolist(), strict=True))
                for _ in range(count)
            ]
            found |= {task.key: node for task, node in zip(tasks, places, strict=False)}
        return found


def packing_model(session: SessionModel) -> PackingModel | None:
    """The packing problem of a session; None where it would not say what jobs are admitted, or is too large."""
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
    rows: dict[Hashable, tuple[tuple[int, ...], int, frozenset[str], list[Task]]] = {}
    names = sorted({name for one in classes.tasks for name, amount in one.representative.requests.items() if amount})
    for one in classes.tasks:
        size = tuple(classes.amount(one.representative, name) for name in names)
        key = (size, one.representative.priority, one.nodes)
        tasks = rows.setdefault(key, (size, _priority(session, one.tasks[0]), frozenset(one.nodes), []))[3]
        tasks.extend(one.tasks)
    return _model(session, names, list(rows.values()))


def _priority(session: SessionModel, task: Task) -> int:
    job = session.snapshot.job_of(task)
    assert job is not None
    return job.priority


def _model(
    session: SessionModel, names: list[str], rows: list[tuple[tuple[int, ...], int, frozenset[str], list[Task]]]
) -> PackingModel | None:
    classes, capacity = session.classes, session.capacity
    room = {
        node: [capacity.future_idle[node].get(name, 0) for name in names] for node in session.snapshot.instance.nodes
    }
    for group in classes.victims:
        for index, name in enumerate(names):
            room[group.node][index] += classes.requested_by_shape(name)[group.shape] * group.most
    units = [gcd(*(size[index] for size, *_ in rows)) or 1 for index in range(len(names))]
    if any(
        sum(amounts[index] for amounts in room.values()) > MOST_AMOUNT * units[index] for index in range(len(names))
    ):
        return None
    sizes = [tuple(amount // unit for amount, unit in zip(size, units, strict=True)) for size, *_ in rows]
    kinds: dict[tuple[tuple[int, ...], tuple[int, ...]], list[str]] = {}
    for node in sorted(room):
        amounts = tuple(max(0, amount) // unit for amount, unit in zip(room[node], units, strict=True))
        most = tuple(
            min([len(tasks), *(have // asked for have, asked in zip(amounts, size, strict=True) if asked)])
            if node in allowed
            else 0
            for (_, _, allowed, tasks), size in zip(rows, sizes, strict=True)
        )
        if any(most):
            kinds.setdefault((amounts, most), []).append(node)
    keep = _binding([amounts for amounts, _ in kinds], sizes)
    if not keep:
        return None
    priorities = sorted({priority for _, priority, *_ in rows}, reverse=True)
    problem = Problem(
        tuple(
            RequestRow(tuple(size[index] for index in keep), priorities.index(priority), len(tasks))
            for (_, priority, _, tasks), size in zip(rows, sizes, strict=True)
        ),
        tuple(
            NodeClass(tuple(amounts[index] for index in keep), len(nodes), most)
            for (amounts, most), nodes in kinds.items()
        ),
    )
    tasks = tuple(tuple(sorted(tasks, key=lambda task: task.key)) for *_, tasks in rows)
    return PackingModel(problem, tuple(priorities), tasks, tuple(node for nodes in kinds.values() for node in nodes))


def _binding(capacities: list[tuple[int, ...]], sizes: list[tuple[int, ...]]) -> list[int]:
    """The resources that can run out first: those that are implied by another one on every node are left out.

    Resource d is implied by e if a node full in e is never beyond its capacity in d: for every row, its size in d is at
    most its size in e times the least ratio of the two capacities.
    """
    kept = [index for index in range(len(sizes[0])) if any(size[index] for size in sizes)]
    for d in list(kept):
        for e in kept:
            if e != d and all(size[d] * have[e] <= size[e] * have[d] for have in capacities for size in sizes):
                kept.remove(d)
                break
    return kept
