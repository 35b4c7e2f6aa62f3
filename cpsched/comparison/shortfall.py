"""Gangs that got something, but less than their minimum: they count as admitted, and a table says so."""

from __future__ import annotations

from collections import Counter

from cpsched.snapshot import Snapshot
from cpsched.solution import Solution


def gangs_short(snapshot: Snapshot, solution: Solution) -> Counter[str]:
    """Per level of jobs_admitted how many of its jobs got something, but less than their minimum."""
    placed = solution.binds.keys() | solution.reserves.keys()
    return Counter(
        f"jobs_admitted[{job.priority}]"
        for job in snapshot.starving
        if any(task.key in placed for task in job.tasks) and not job.is_pipelined(placed, solution.evicted)
    )


def too_little(count: int) -> str:
    """What is added to a number of admitted jobs, some of which did not get their minimum."""
    return f", {count} of them with less than their minimum" if count else ""
