"""Starts: who could as well start at once, in a decision whose search ended before that was asked."""

from __future__ import annotations

from cpsched.instance import Task
from cpsched.rules import Decision, violations

NodeCapacity = dict[str, float]


def start_reserved(decision: Decision) -> Decision | None:
    """The decision in which tasks that wait start where there is room now; None if none can, or a rule minds.

    The jobs of highest priority come first, and a gang only if enough of it can start.
    """
    snapshot, requires_gangs = decision.snapshot, decision.snapshot.policy.requires_gangs
    binds = dict(decision.binds)
    room = {node: dict(idle) for node, idle in snapshot.idle.items()}
    for node, tasks in decision.bound_by_node.items():
        for task in tasks:
            _take(room[node], task)
    for job in sorted(decision.jobs_served(), key=lambda job: (-job.priority, job.key)):
        waiting = [task for task in decision.placed_by_job[job.key] if task.key in decision.reserves]
        left = {node: dict(room[node]) for node in {decision.reserves[task.key] for task in waiting}}
        found = {}
        for task in waiting:
            node = decision.reserves[task.key]
            if all(amount <= left[node].get(name, 0) for name, amount in task.requests.items() if amount):
                _take(left[node], task)
                found[task.key] = node
        if not requires_gangs or job.is_ready({*binds, *found}, decision.evicted):
            binds |= found
            room |= left
    reserves = {key: node for key, node in decision.reserves.items() if key not in binds}
    if len(reserves) == len(decision.reserves):
        return None
    changed = Decision(snapshot, binds, reserves, decision.evictions, decision.entered)
    return None if violations(changed) else changed


def _take(room: NodeCapacity, task: Task) -> None:
    for name, amount in task.requests.items():
        room[name] = room.get(name, 0) - amount
