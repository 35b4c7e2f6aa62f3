"""Declared shares without a queue tree; mirrors `plugins/capacity/capacity.go:buildQueueAttrs`.

Nothing is divided here: of whole numbers the shares are exact, of float64 they are upstream's.
"""

from __future__ import annotations

from collections.abc import Sequence

from cpsched.resources import INFINITY, Vector, is_empty, maximum, min_dimension
from cpsched.shares.demand import QueueDemand, QueueShare, dominant_share, real_capability, total_of


def capacity_flat(total: Vector, queues: Sequence[QueueDemand]) -> dict[str, QueueShare[float]]:
    """The shares of the queues that have jobs: what they declare, within their limit, at least their guarantee."""
    total_guarantee = total_of(queue.guarantee for queue in queues)
    return {queue.name: _share(queue, total, total_guarantee) for queue in queues if queue.has_jobs}


def capacity_share(allocated: Vector, deserved: Vector) -> float:
    """The dominant share, or 1 for a queue that deserves nothing: such a queue comes after every unsated one."""
    return 1.0 if is_empty(deserved) else dominant_share(allocated, deserved)


def _share(queue: QueueDemand, total: Vector, total_guarantee: Vector) -> QueueShare[float]:
    limit = real_capability(queue, total, total_guarantee)
    guarantee = dict(queue.guarantee or {})
    deserved = maximum(min_dimension(queue.deserved or {}, limit, missing=INFINITY), guarantee)
    return QueueShare(
        deserved=deserved,
        real_capability=limit,
        guarantee=guarantee,
        allocated=queue.allocated,
        request=queue.request,
        inqueue=queue.inqueue,
        elastic=queue.elastic,
    )
