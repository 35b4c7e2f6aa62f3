"""Rules about where tasks go: assignment, capacity, filters, actions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cpsched.instance import PENDING
from cpsched.resources import Vector, add
from cpsched.rules.decision import Decision
from cpsched.rules.violation import Violation
from cpsched.snapshot.predicates import dynamic_failures


def assignment(decision: Decision) -> Iterator[Violation]:
    """A pending, ungated task of an admissible job goes to at most one node; no other task is placed."""
    snapshot, nodes = decision.snapshot, decision.snapshot.instance.nodes
    tasks, job_of, needs_valid_jobs = snapshot.instance.tasks, snapshot.job_by_task, snapshot.needs_valid_jobs
    nowhere: Mapping[str, str] = {}
    for places, before in ((decision.binds, nowhere), (decision.reserves, decision.binds)):
        for key, node in places.items():
            if key in before:
                yield Violation("assignment", key, "is placed twice")
            if node not in nodes:
                yield Violation("assignment", key, f"is placed on {node}, which does not exist")
            task, job = tasks.get(key), job_of.get(key)
            if task is None:
                yield Violation("assignment", key, "does not exist")
            elif task.status is not PENDING:
                yield Violation("assignment", key, f"is {task.status.value}, not Pending")
            elif task.gated:
                yield Violation("assignment", key, "is held by a scheduling gate")
            elif job is None:
                yield Violation("assignment", key, "belongs to no job of this session")
            elif needs_valid_jobs and not job.is_valid:
                yield Violation("assignment", key, f"its job {job.key} has too few tasks to ever be ready")
            elif job.is_pending and job.key not in decision.entered:
                yield Violation("assignment", key, f"its job {job.key} has not entered the cycle")


def capacity(decision: Decision) -> Iterator[Violation]:
    """Binds fit what is idle today; binds and reserves fit what will be idle once the victims are gone."""
    snapshot = decision.snapshot
    for node, asked in decision.asked_by_node.items():
        if node not in snapshot.instance.nodes:
            continue
        for name in exceeded(decision.started_by_node.get(node, {}), snapshot.idle[node]):
            yield Violation("capacity", node, f"more {name} is started than is idle")
        for name in exceeded(asked, add(snapshot.future_idle[node], decision.freed_by_node.get(node, {}))):
            yield Violation("capacity", node, f"more {name} is promised than will be free")


def exceeded(asked: Vector, room: Vector) -> list[str]:
    """Resources of which more is asked for than there is; what is not requested is not looked at."""
    return [name for name, amount in asked.items() if amount > 0 and amount > room.get(name, 0)]


def filters(decision: Decision) -> Iterator[Violation]:
    """Every enabled predicate holds for every placed task in the end, and for binds while the victims still stand."""
    snapshot, predicates, tasks = decision.snapshot, decision.snapshot.predicates, decision.snapshot.instance.tasks
    refused = snapshot.identical.once(lambda key: predicates.refused(tasks[key]), snapshot.identity_of)
    for key, node in decision.placed.items():
        if key in tasks and (status := refused(key).get(node)) is not None:
            yield Violation("filters", key, f"may not be on {node}: {', '.join(status.reasons)}")
    if not predicates.any_dynamic:
        return
    if decision.binds and decision.evicted:
        for task, node, status in dynamic_failures(predicates, dict(decision.binds), frozenset()):
            yield Violation("filters", task.key, f"may not start on {node} yet: {', '.join(status.reasons)}")
    if decision.placed:
        for task, node, status in dynamic_failures(predicates, decision.placed, decision.evicted):
            yield Violation("filters", task.key, f"may not be on {node}: {', '.join(status.reasons)}")


_EVICTING = ("preempt", "reclaim")
_RESERVING = ("allocate", "preempt", "reclaim", "gangpreempt", "gangreclaim")
"""The gang actions place no task that asks for nothing."""


def actions(decision: Decision) -> Iterator[Violation]:
    """What no configured action could do is not allowed."""
    policy = decision.snapshot.policy
    if policy.is_kube:
        return
    tasks = decision.snapshot.instance.tasks
    for places, what, able, able_best_effort in (
        (decision.binds, "start", ("allocate",), ("backfill",)),
        (decision.reserves, "be reserved", _RESERVING, _EVICTING),
    ):
        unable = [one for one in (able, able_best_effort) if not any(policy.has_action(action) for action in one)]
        for key in places if unable else ():
            if key in tasks:
                able_now = able_best_effort if tasks[key].best_effort else able
                if able_now in unable:
                    yield Violation("actions", key, f"could only {what} by {' or '.join(able_now)}, not configured")
    for eviction in decision.evictions:
        action = eviction.action
        if action and not (policy.has_action(action) if action == "shuffle" else policy.evicts(action)):
            yield Violation("actions", eviction.task, f"is evicted by {eviction.action}, which is not configured")
