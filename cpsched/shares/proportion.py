"""Deserved shares by weighted water filling; mirrors `plugins/proportion/proportion.go:OnSessionOpen`.

This rounds in float64 and stops below a tenth of a unit as upstream does; the checker uses `cpsched.shares.exact`.
"""

from __future__ import annotations

from collections.abc import Sequence

from cpsched.resources import (
    INFINITY,
    Vector,
    add,
    diff,
    exceeded_part,
    is_empty,
    less_equal,
    maximum,
    min_dimension,
    same,
    scaled,
)
from cpsched.shares.demand import QueueDemand, QueueShare, floats, in_float64, real_capability, total_of


def proportion(total: Vector, queues: Sequence[QueueDemand]) -> dict[str, QueueShare[float]]:
    """The shares of the queues that have jobs; the guarantees of all queues are set aside."""
    total, queues = floats(total), in_float64(queues)
    total_guarantee = total_of(queue.guarantee for queue in queues)
    active = [queue for queue in queues if queue.has_jobs]
    limits = {queue.name: real_capability(queue, total, total_guarantee) for queue in active}
    deserved = _water_filling(total, sorted(active, key=_content), limits)
    return {
        queue.name: QueueShare(
            deserved=deserved[queue.name],
            real_capability=limits[queue.name],
            guarantee=queue.guarantee or {},
            allocated=queue.allocated,
            request=queue.request,
            inqueue=queue.inqueue,
            elastic=queue.elastic,
        )
        for queue in active
    }


def _water_filling(
    total: Vector, queues: Sequence[QueueDemand], limits: dict[str, dict[str, float]]
) -> dict[str, dict[str, float]]:
    """Pour what remains by weight into all unmet queues, take back what they cannot use, and again."""
    deserved: dict[str, dict[str, float]] = {queue.name: {} for queue in queues}
    unmet, remaining = list(queues), dict(total)
    while total_weight := sum(queue.weight for queue in unmet):
        gained: dict[str, float] = {}
        lost: dict[str, float] = {}
        met = set()
        for queue in unmet:
            before = deserved[queue.name]
            after = _poured(queue, before, scaled(remaining, queue.weight / total_weight), limits[queue.name])
            if less_equal(queue.request, after) or same(after, before):
                met.add(queue.name)
            more, less = diff(after, before)
            gained, lost = add(gained, more), add(lost, less)
            deserved[queue.name] = after
        unmet = [queue for queue in unmet if queue.name not in met]
        before_round, remaining = remaining, exceeded_part(add(remaining, lost), gained)
        if is_empty(remaining) or same(remaining, before_round):
            break
    return deserved


def _poured(queue: QueueDemand, deserved: Vector, portion: Vector, limit: Vector) -> dict[str, float]:
    """One queue's new share: no more than it may have or asks for, no less than it is guaranteed."""
    capped = min_dimension(add(deserved, portion), limit, missing=INFINITY)
    return maximum(min_dimension(capped, queue.request), queue.guarantee or {})


def _content(queue: QueueDemand) -> tuple[object, ...]:
    """Upstream adds up in map order; adding in order of content makes the last bit independent of order and names."""
    vectors = (queue.request, queue.guarantee or {}, queue.capability or {})
    return (queue.weight, *(sorted(vector.items()) for vector in vectors))
