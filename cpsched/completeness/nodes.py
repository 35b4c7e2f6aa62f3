"""Nodes whose pods request more than the node has, or less than the scheduler counts there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from cpsched import amounts, resources
from cpsched.completeness.origin import FREE_CAPACITY, WAS_IT_ALL
from cpsched.importers.volcano_dump import USED_BY_NODE
from cpsched.instance import ENDED, Instance, Status

MOST_NAMED = 3
ADMITTED = ("cpu", "memory", "pods")
"""A device that fails leaves allocatable while its pods still run; these do not."""


def overcommitted(instance: Instance) -> Iterator[tuple[str, str]]:
    """A kubelet admits no pod beyond the node's allocatable: the objects are of several moments, or of two clusters."""
    lines = []
    for name, tasks in instance.tasks_by_node.items():
        used: Counter[str] = Counter()
        for task in tasks:
            if task.status is Status.RUNNING:
                used.update(task.requests)
        has = instance.nodes[name].allocatable
        over = [resource for resource in ADMITTED if used[resource] - has.get(resource, 0) >= resources.THRESHOLD]
        if has and over:
            worst = over[0]
            shown = amounts.exact(worst, used[worst]), amounts.exact(worst, has.get(worst, 0))
            lines.append(f"running pods on {name} request {shown[0]} {amounts.short(worst)} of {shown[1]}")
    if lines:
        more = f"; {len(lines) - MOST_NAMED} more nodes like that" if len(lines) > MOST_NAMED else ""
        why = "the input holds objects of several moments, or of more than one cluster"
        yield FREE_CAPACITY, f"{'; '.join(lines[:MOST_NAMED])}{more}: {why}"


def absent(instance: Instance) -> Iterator[tuple[str, str]]:
    """Where a node is deleted, the cluster deletes its pods within a minute."""
    running = Counter(
        task.node
        for task in instance.tasks.values()
        if task.status is Status.RUNNING and task.node not in instance.nodes and task.node
    )
    if running:
        names = ", ".join(list(running)[:MOST_NAMED]) + (", ..." if len(running) > MOST_NAMED else "")
        count, nodes = running.total(), len(running)
        pods = f"{count} pod{'s run' if count > 1 else ' runs'}"
        on = f"{nodes} nodes that the input lacks" if nodes > 1 else "a node that the input lacks"
        yield "which nodes there are", f"{pods} on {on} ({names}): nodes are missing"


def used(instance: Instance) -> Iterator[tuple[str, str]]:
    """Volcano's cache dump has for each node what all its pods use."""
    lines = []
    for name, counted in instance.found_out.get(USED_BY_NODE, {}).items():
        held: Counter[str] = Counter()
        for task in instance.tasks_by_node.get(name, ()):
            if task.status not in ENDED:
                held.update(task.requests)
        short = [one for one, amount in counted.items() if amount - held[one] >= resources.THRESHOLD]
        if short and name in instance.nodes:
            there, here = (
                ", ".join(f"{amounts.exact(one, each[one])} {amounts.short(one)}" for one in short)
                for each in (counted, held)
            )
            lines.append(f"Volcano counts {there} in use on {name}, of which pods of the input hold {here}")
    if lines:
        more = f"; {len(lines) - MOST_NAMED} more nodes like that" if len(lines) > MOST_NAMED else ""
        yield FREE_CAPACITY, f"{'; '.join(lines[:MOST_NAMED])}{more}: pods are missing; {WAS_IT_ALL}"
