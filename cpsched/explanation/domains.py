"""Which HyperNodes a unit may lie in, and how much of it each can take."""

from __future__ import annotations

from collections.abc import Iterable

from cpsched.instance import HOLDS_ROOM, Task
from cpsched.snapshot import SessionJob, Snapshot
from cpsched.snapshot.near import TopologyUnit

MOST = 4
"""HyperNodes that a line names."""


def shortest_of_domains(snapshot: Snapshot, job: SessionJob, unit: TopologyUnit) -> str:
    """The limit of the unit, and of the HyperNodes up to it those with most room for its pending tasks."""
    tree, limit = snapshot.nearness.tree, snapshot.nearness.limit_of(unit)
    waiting = [task for task in job.pending if task.key in unit.tasks]
    staying = {task.node for task in job.tasks if task.key in unit.tasks and task.status in HOLDS_ROOM}
    named = "its tasks" if not unit.is_sub_group else f"those of {unit.key}"
    rooms: list[tuple[int, int, str]] = []
    too_narrow = 0
    for name, nodes in sorted(tree.node_sets.items()):
        if limit is None or tree.tier(name) > limit or not nodes:
            continue
        if not staying <= nodes:
            too_narrow += 1
            continue
        rooms.append((-places(snapshot, waiting, nodes), tree.tier(name), name))
    found = [f"{name} (tier {tier}) has room for {-count}" for count, tier, name in sorted(rooms)[:MOST]]
    found += [f"{len(rooms) - MOST} more have no more"] if len(rooms) > MOST else []
    found += [f"{too_narrow} do not hold its running tasks"] if too_narrow else []
    listed = ", ".join(found) or "there is none"
    return f"{named} lie in one HyperNode of a tier up to {limit}, {len(waiting)} wait: {listed}"


def places(snapshot: Snapshot, waiting: Iterable[Task], nodes: Iterable[str]) -> int:
    """How many of the tasks fit on the nodes as they are, the smallest first and each node for itself."""
    tasks = list(waiting)
    if not tasks:
        return 0
    least = {name: min(task.requests.get(name, 0) for task in tasks) for name in tasks[0].requests}
    asked = {name: amount for name, amount in least.items() if amount > 0}
    total = 0
    for node in nodes:
        room = snapshot.idle[node]
        total += int(max(0, min((room.get(name, 0) // amount for name, amount in asked.items()), default=len(tasks))))
    return min(total, len(tasks))
