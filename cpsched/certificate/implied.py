"""Bounds that follow from the values of earlier levels alone, or from who can still be a victim."""

from __future__ import annotations

from collections.abc import Callable

from cpsched.certificate.case import Case
from cpsched.objectives import PRIORITY_OFFSET
from cpsched.policy.levels import Value


def top_priority(case: Case, priority: int | None) -> Value:
    """A level over more victims is at least as high as an earlier one over fewer."""
    return max((value for value in _earlier(case, "victim_max_priority", priority) if value is not None), default=None)


def priority_sum(case: Case, priority: int | None) -> Value:
    """The same for sums, and a victim of the highest priority there is."""
    top = case.given.get(("victim_max_priority", priority))
    own = 0 if top is None else top + PRIORITY_OFFSET
    return max([own, *(value or 0 for value in _earlier(case, "victim_priority_sum", priority))])


def count(case: Case, priority: int | None) -> Value:
    """So many victims that their priorities can add up to the sum."""
    total = priority_sum(case, priority) or 0
    if (known := case.given.get(("victim_priority_sum", priority))) is not None:
        total = max(total, known)
    heaviest = max((victim.pod_priority for victim in case.candidates), default=0) + PRIORITY_OFFSET
    return -(-total // heaviest) if heaviest > 0 else 0


def start_time(case: Case, priority: int | None) -> Value:
    """The latest start among those who can be a victim of the highest priority; None if there need be no victim."""
    top = case.given.get(("victim_max_priority", priority))
    if top is None:
        return None
    starts = (v.pod.status.start_time for v in case.candidates if v.pod_priority == top)
    return max((case.snapshot.now if start is None else start for start in starts), default=None)


def deficit_total(case: Case, priority: int | None) -> Value:
    """All deficits together are at least the largest."""
    return case.given.get(("queue_deficit_max", None)) or 0


def _earlier(case: Case, name: str, priority: int | None) -> list[Value]:
    """Values of the same level after higher priorities: its victims are among those counted here."""
    return [
        value
        for (other, p), value in case.given.items()
        if other == name and p is not None and (priority is None or p > priority)
    ]


IMPLIED: dict[str, Callable[[Case, int | None], Value]] = {
    "victim_max_priority": top_priority,
    "victim_priority_sum": priority_sum,
    "victim_count": count,
    "victim_start_time": start_time,
    "queue_deficit_total": deficit_total,
}
