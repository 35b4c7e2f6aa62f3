"""Kubernetes' quality of service of a pod: 0 for BestEffort, 1 for Burstable, 2 for Guaranteed."""

from __future__ import annotations

from collections import Counter

from cpsched.instance import Task
from cpsched.quantity import nano

GUARANTEED = 2


def quality(task: Task) -> int:
    """Guaranteed has limits for cpu and memory in every container, and requests that equal them in sum."""
    requests, limits, everywhere = Counter[str](), Counter[str](), True
    for container in (*task.spec.containers, *task.spec.init_containers):
        own = container.resources
        for stated, total in ((own.requests, requests), (own.limits, limits)):
            total.update({name: nano(stated[name]) for name in ("cpu", "memory") if nano(stated.get(name, "0")) > 0})
        everywhere = everywhere and all(nano(own.limits.get(name, "0")) > 0 for name in ("cpu", "memory"))
    if not requests and not limits:
        return 0
    return GUARANTEED if everywhere and requests == limits else 1
