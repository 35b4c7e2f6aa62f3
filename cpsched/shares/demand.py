"""What shares are computed from and what comes out, and the parts all three ways of computing have in common."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Generic, TypeVar

from cpsched.resources import INFINITY, Vector, add, exceeded_part, min_dimension, names, share

Exact = Fraction | float
"""A whole number, a fraction or infinity: what the checker computes with, never a rounded number."""

Due_co = TypeVar("Due_co", covariant=True)


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
class QueueShare(Generic[Due_co]):
    """What a queue is due at the start of a session; in a tree the usage includes all descendants."""

    deserved: Mapping[str, Due_co]
    real_capability: Mapping[str, float]
    guarantee: Mapping[str, float]
    allocated: Mapping[str, float]
    request: Mapping[str, float]
    inqueue: Mapping[str, float]
    elastic: Mapping[str, float]
    ancestors: tuple[str, ...] = ()
    """From the root down to the parent; empty without a hierarchy."""
    is_leaf: bool = True


def dominant_share(allocated: Vector, deserved: Vector) -> float:
    """The largest fraction used of anything deserved, pods included (proportion's `updateQueueAttrShare`)."""
    return max((share(allocated.get(name, 0), deserved[name]) for name in names(deserved)), default=0.0)


def floats(vector: Vector | None) -> dict[str, float]:
    """The vector in float64, as upstream holds it; nothing at all is the empty vector."""
    return {name: float(amount) for name, amount in (vector or {}).items()}


def in_float64(queues: Sequence[QueueDemand]) -> list[QueueDemand]:
    """The same queues with every amount in float64: given these, what is computed rounds as upstream does."""
    return [
        replace(
            queue,
            capability=None if queue.capability is None else floats(queue.capability),
            deserved=None if queue.deserved is None else floats(queue.deserved),
            guarantee=None if queue.guarantee is None else floats(queue.guarantee),
            allocated=floats(queue.allocated),
            request=floats(queue.request),
            inqueue=floats(queue.inqueue),
            elastic=floats(queue.elastic),
        )
        for queue in queues
    ]


def total_of(vectors: Iterable[Vector | None]) -> dict[str, float]:
    """The sum of the vectors."""
    total: dict[str, float] = {}
    for vector in vectors:
        total = add(total, vector or {})
    return total


def real_capability(queue: QueueDemand, total: Vector, total_guarantee: Vector) -> dict[str, float]:
    """What the queue can reach without touching guarantees of others; cpu or memory not capped above 0 is uncapped."""
    reachable = add(exceeded_part(total, total_guarantee), queue.guarantee or {})
    if not queue.capability:
        return reachable
    capability = dict(queue.capability)
    for name in ("cpu", "memory"):
        if capability.get(name, 0) <= 0:
            capability[name] = math.inf
    return min_dimension(reachable, capability, missing=INFINITY)
