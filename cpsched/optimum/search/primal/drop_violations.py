"""Drop violations: what is left of a decision made elsewhere once all that breaks a rule is removed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

from cpsched.instance import Task
from cpsched.resources import add
from cpsched.rules import Decision, Violation, violations
from cpsched.rules.placement import exceeded
from cpsched.rules.protections import budget_use
from cpsched.snapshot import SessionJob, Snapshot

MOST_ROUNDS = 100


class Removal(NamedTuple):
    """A part of a decision that could be left out: jobs get nothing, tasks are not placed, victims stay."""

    jobs: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    victims: tuple[str, ...] = ()


def drop_violations(decision: Decision, is_late: Callable[[], bool]) -> Decision | None:
    """The decision without what breaks rules, in the end maybe without anything; None if it is late before."""
    found_before: Counter[tuple[str, str]] = Counter()
    for _ in range(MOST_ROUNDS):
        if is_late():
            return None
        found = violations(decision)
        if not found:
            return decision
        decision = _without(decision, _changes(decision, found, found_before))
    return None


def _changes(decision: Decision, found: Iterable[Violation], found_before: Counter[tuple[str, str]]) -> list[Removal]:
    """What to leave out for each finding; twice as much as the last time if it was found before."""
    changes = []
    for rule, subject in dict.fromkeys((item.rule, item.subject) for item in found):
        removals = REMOVALS[rule](decision, subject)
        changes += removals[: 1 << found_before[rule, subject]]
        found_before[rule, subject] += 1
    return changes


def _owner(decision: Decision, task: str) -> list[Removal]:
    """The task's job; a task that is none of the session's, by itself."""
    job = decision.snapshot.job_by_task.get(task)
    return [Removal(tasks=(task,)) if job is None else Removal(jobs=(job.key,))]


def _job(decision: Decision, job: str) -> list[Removal]:
    return [Removal(jobs=(job,))]


def _owner_of_group(decision: Decision, subject: str) -> list[Removal]:
    """The job, or the job of a sub-group."""
    for key in decision.placed_by_job:
        groups = decision.snapshot.jobs[key].sub_groups
        if key == subject or (groups is not None and any(group.key == subject for group in groups.groups)):
            return [Removal(jobs=(key,))]
    return [Removal()]


def _on_node(decision: Decision, node: str) -> list[Removal]:
    """Jobs with tasks on the node, the least important first."""
    jobs = {job.key: job for task in decision.placed_by_node[node] if (job := decision.snapshot.job_of(task))}
    return [Removal(jobs=(job.key,)) for job in _ranked(jobs.values())]


def _on_node_or_owner(decision: Decision, subject: str) -> list[Removal]:
    """The job of a task that may not be where it is, or those on a node that cannot hold them together."""
    return _on_node(decision, subject) if subject in decision.placed_by_node else _owner(decision, subject)


def _in_groups(decision: Decision, subject: str) -> list[Removal]:
    """The job of a task that may not be where it is, or those of a queue that holds too much."""
    return _owner(decision, subject) if subject in decision.placed else _in_queue(decision, subject)


def _too_many(decision: Decision, node: str) -> list[Removal]:
    """As many of them as it takes until the others fit."""
    snapshot, binds = decision.snapshot, decision.binds
    free = add(snapshot.future_idle[node], decision.freed_by_node.get(node, {}))
    started, promised = dict(decision.started_by_node.get(node, {})), dict(decision.asked_by_node[node])
    by_job: dict[str | None, list[Task]] = {}
    for task in decision.placed_by_node[node]:
        job = snapshot.job_of(task)
        by_job.setdefault(None if job is None else job.key, []).append(task)
    gone: list[str] = []
    strays = by_job.pop(None, [])
    for job in _ranked(snapshot.jobs[key] for key in by_job if key is not None):
        if not (exceeded(started, snapshot.idle[node]) or exceeded(promised, free)):
            break
        gone.append(job.key)
        for task in by_job[job.key]:
            _add(promised, task, -1)
            _add(started, task, -(task.key in binds))
    return [Removal(jobs=tuple(gone), tasks=tuple(task.key for task in strays))]


def _in_queue(decision: Decision, queue: str) -> list[Removal]:
    """Jobs of the queue or one below it that get something, the least important first."""
    shares = decision.snapshot.shares

    def is_below(job: SessionJob) -> bool:
        below = shares[job.queue].ancestors if job.queue is not None and job.queue in shares else ()
        return job.queue == queue or queue in below

    return [Removal(jobs=(job.key,)) for job in _ranked(filter(is_below, decision.jobs_served()))]


def _ranked(jobs: Iterable[SessionJob]) -> list[SessionJob]:
    """The least important first, and of those who are alike the last."""
    return sorted(jobs, key=lambda job: (job.priority, -job.created))


def _victim(decision: Decision, victim: str) -> list[Removal]:
    return [Removal(victims=(victim,))]


def _victims_of(decision: Decision, job: str) -> list[Removal]:
    return [Removal(victims=tuple(victim.key for victim in decision.victims_by_job[job]))]


def _covered(decision: Decision, budget: str) -> list[Removal]:
    return [Removal(victims=(victim,)) for victim in budget_use(decision)[budget]]


def _lost_by(decision: Decision, queue: str) -> list[Removal]:
    queue_of = decision.snapshot.queue_of
    lost = [victim for victim in decision.victims if (owner := queue_of(victim)) is not None and owner.name == queue]
    return [Removal(victims=(victim.key,)) for victim in lost]


REMOVALS: dict[str, Callable[[Decision, str], list[Removal]]] = {
    "assignment": _owner,
    "capacity": _too_many,
    "filters": _owner,
    "nodegroup": _in_groups,
    "cards": _on_node_or_owner,
    "numa": _on_node_or_owner,
    "usage": _owner,
    "topology.job": _job,
    "topology.subgroup": _owner_of_group,
    "gang": _owner_of_group,
    "queue": _in_queue,
    "deserved": _owner,
    "eviction": _victim,
    "charge": _on_node,
    "protect.gang": _victims_of,
    "protect.conformance": _victim,
    "protect.cooldown": _victim,
    "protect.pdb": _covered,
    "protect.guarantee": _lost_by,
    "enqueue": _job,
    "actions": _owner,
}
"""Per rule what could be left out for a finding about a subject; one of them is enough, or some, from the first on."""


def _without(decision: Decision, changes: Iterable[Removal]) -> Decision:
    jobs: set[str] = set()
    tasks: set[str] = set()
    stays: set[str] = set()
    for change in changes:
        jobs.update(change.jobs)
        tasks.update(change.tasks)
        stays.update(change.victims)
    tasks.update(task.key for job in jobs for task in decision.placed_by_job.get(job, ()))
    binds, reserves = (
        {key: node for key, node in places.items() if key not in tasks}
        for places in (decision.binds, decision.reserves)
    )
    snapshot = decision.snapshot
    nodes = {decision.placed[key] for key in tasks}
    left = Decision(snapshot, binds, reserves, decision.evictions, decision.entered - jobs)
    for node in sorted(nodes & snapshot.instance.nodes.keys()):
        stays |= _unneeded_victims(left, node, stays)
    evictions = tuple([item for item in decision.evictions if item.task not in stays])
    return Decision(snapshot, binds, reserves, evictions, left.entered)


def _unneeded_victims(decision: Decision, node: str, stay: set[str]) -> set[str]:
    """Victims on the node whose capacity is not used any more, the most important first."""
    snapshot: Snapshot = decision.snapshot
    victims = [victim for victim in decision.victims_by_node.get(node, ()) if victim.key not in stay]
    room = dict(snapshot.future_idle[node])
    for victim in victims:
        _add(room, victim, 1)
    for task in decision.placed_by_node.get(node, ()):
        _add(room, task, -1)
    found = set()
    for victim in sorted(victims, key=lambda victim: (-victim.pod_priority, victim.key)):
        if all(room[name] >= amount for name, amount in victim.requests.items()):
            _add(room, victim, -1)
            found.add(victim.key)
    return found


def _add(room: dict[str, float], task: Task, sign: int) -> None:
    for name, amount in task.requests.items():
        room[name] = room.get(name, 0) + sign * amount
