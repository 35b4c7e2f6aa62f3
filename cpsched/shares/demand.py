"""What shares are computed from and what comes out, and the parts all three ways of computing have in common."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from cpsched.resources import INFINITY, Vector, add, exceeded_part, min_dimension, names, share


@dataclass(frozen=True, slots=True)
class QueueDemand:
    """One queue as declared (weight … parent) and as its jobs use it (allocated …, own jobs only)."""

    name: str
    weight: int = 1
    priority: int = 0
    capability: Vector | None = None
    deserved: Vector | None = None
    guarantee: Vector | None = None
    parent: str | None = None
    allocated: Vector = field(default_factory=dict)
    request: Vector = field(default_factory=dict)
    inqueue: Vector = field(default_factory=dict)
    elastic: Vector = field(default_factory=dict)
    has_jobs: bool = True


@dataclass(frozen=True, slots=True)
class QueueShare:
    """What a queue is due at the start of a session; in a tree the usage includes all descendants."""

    deserved: dict[str, float]
    real_capability: dict[str, float]
    guarantee: dict[str, float]
    share: float
    allocated: dict[str, float]
    request: dict[str, float]
    inqueue: dict[str, float]
    elastic: dict[str, float]
    ancestors: tuple[str, ...] = ()
    """From the root down to the parent; empty without a hierarchy."""
    is_leaf: bool = True


def dominant_share(allocated: Vector, deserved: Vector) -> float:
    """The largest fraction used of anything deserved, pods included (proportion's `updateQueueAttrShare`)."""
    return max((share(allocated.get(name, 0), deserved[name]) for name in names(deserved)), default=0.0)


def floats(vector: Vector | None) -> dict[str, float]:
    """The vector in float64, as upstream holds it; nothing at all is the empty vector."""
    return {name: float(amount) for name, amount in (vector or {}).items()}


def total_of(vectors: Iterable[Vector | None]) -> dict[str, float]:
    """The sum of the vectors in float64."""
    total: dict[str, float] = {}
    for vector in vectors:
        total = add(total, floats(vector))
    return total


def real_capability(queue: QueueDemand, total: Vector, total_guarantee: Vector) -> dict[str, float]:
    """What the queue can reach without touching guarantees of others; cpu or memory not capped above 0 is uncapped."""
    reachable = add(exceeded_part(total, total_guarantee), floats(queue.guarantee))
    if not queue.capability:
        return reachable
    capability = floats(queue.capability)
    for name in ("cpu", "memory"):
        if capability.get(name, 0) <= 0:
            capability[name] = math.inf
    return min_dimension(reachable, capability, missing=INFINITY)
