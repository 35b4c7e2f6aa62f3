"""Declared shares in a tree of queues; mirrors `plugins/capacity/capacity.go:buildHierarchicalQueueAttrs`.

Nothing is divided here: of whole numbers the shares are exact, of float64 they are upstream's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cpsched.resources import INFINITY, Vector, add, exceeded_part, is_empty, maximum, min_dimension
from cpsched.shares.demand import QueueDemand, QueueShare, total_of

ROOT = "root"

Vectors = dict[str, dict[str, float]]


@dataclass(frozen=True, slots=True)
class NotReady:
    """Why the plugin refuses to decide anything in this session."""

    reason: str


def capacity_hierarchical(total: Vector, queues: Sequence[QueueDemand]) -> dict[str, QueueShare[float]] | NotReady:
    """The shares of all queues, or why the queues are no usable tree: a missing parent or root, jobs above a leaf."""
    queue_by_name = {queue.name: queue for queue in queues}
    for queue in queues:
        if (parent := _parent(queue)) not in queue_by_name:
            return NotReady(f'queue "{queue.name}" has the parent "{parent}", which does not exist')
    if ROOT not in queue_by_name:
        return NotReady(f'there is no queue "{ROOT}"')
    children: dict[str, list[str]] = {queue.name: [] for queue in queues}
    for queue in queues:
        if queue.name != ROOT:
            children[_parent(queue)].append(queue.name)
    for queue in queues:
        if queue.has_jobs and children[queue.name]:
            return NotReady(f'queue "{queue.name}" has jobs but is no leaf: "{min(children[queue.name])}" is below it')
    return _shares(total, queue_by_name, children)


def _parent(queue: QueueDemand) -> str:
    return ROOT if queue.name == ROOT else queue.parent or ROOT


def _shares(
    total: Vector, queues: Mapping[str, QueueDemand], children: Mapping[str, Sequence[str]]
) -> dict[str, QueueShare[float]]:
    ancestors = _ancestors(queues)
    allocated = _with_descendants({name: queue.allocated for name, queue in queues.items()}, ancestors)
    request = _with_descendants({name: queue.request for name, queue in queues.items()}, ancestors)
    inqueue = _with_descendants({name: queue.inqueue for name, queue in queues.items()}, ancestors)
    elastic = _with_descendants({name: queue.elastic for name, queue in queues.items()}, ancestors)
    deserved, guarantee, limit = _top_down(total, queues, children)
    return {
        name: QueueShare(
            deserved=deserved[name],
            real_capability=limit[name],
            guarantee=guarantee[name],
            allocated=allocated[name],
            request=request[name],
            inqueue=inqueue[name],
            elastic=elastic[name],
            ancestors=ancestors[name],
            is_leaf=not children[name],
        )
        for name in queues
    }


def _ancestors(queues: Mapping[str, QueueDemand]) -> dict[str, tuple[str, ...]]:
    """The path from the root to each parent (`updateAncestors`).

    Upstream's cycle check never fires, so queues on a cycle come out as ancestors of themselves and nothing objects.
    """
    ancestors: dict[str, tuple[str, ...]] = {}
    for name in sorted(queues):
        path = []
        while name not in ancestors:
            ancestors[name] = ()
            path.append(name)
            name = _parent(queues[name])
        for below in reversed(path):
            if below != ROOT:
                parent = _parent(queues[below])
                ancestors[below] = (*ancestors[parent], parent)
    return ancestors


def _with_descendants(own: Mapping[str, Vector], ancestors: Mapping[str, Sequence[str]]) -> Vectors:
    used = {name: dict(vector) for name, vector in own.items()}
    for name, vector in own.items():
        for ancestor in ancestors[name]:
            used[ancestor] = add(used[ancestor], vector)
    return used


def _top_down(
    total: Vector, queues: Mapping[str, QueueDemand], children: Mapping[str, Sequence[str]]
) -> tuple[Vectors, Vectors, Vectors]:
    """Deserved, guarantee and real capability from the root downwards (`checkHierarchicalQueue`).

    What the root does not reach, that is everything below a cycle, keeps no capability at all.
    """
    deserved = {name: dict(queue.deserved or {}) for name, queue in queues.items()}
    guarantee = {name: dict(queue.guarantee or {}) for name, queue in queues.items()}
    capability = {name: dict(queue.capability or {}) for name, queue in queues.items()}
    limit: Vectors = {name: {} for name in queues}
    if is_empty(capability[ROOT]):
        capability[ROOT] = dict.fromkeys(("cpu", "memory", *total), math.inf)
    limit[ROOT] = capability[ROOT]
    reached = [ROOT]
    for parent in reached:
        below = children[parent]
        for child in below:
            deserved[child] = maximum(deserved[child], guarantee[child])
            capability[child] = _inherited(capability[child], capability[parent])
        guaranteed = total_of(guarantee[child] for child in below)
        if parent == ROOT:
            guarantee[ROOT], deserved[ROOT] = guaranteed, total_of(deserved[child] for child in below)
        for child in below:
            reachable = add(exceeded_part(limit[parent], guaranteed), guarantee[child])
            limit[child] = min_dimension(reachable, capability[child], missing=INFINITY)
        reached.extend(below)
    return deserved, guarantee, limit


def _inherited(capability: Vector, of_parent: Vector) -> dict[str, float]:
    """The child's own capability, and the parent's in what the child leaves open."""
    inherited = {**of_parent, **capability}
    for name in ("cpu", "memory"):
        if inherited.get(name, 0) <= 0:
            inherited[name] = of_parent.get(name, 0)
    return inherited
