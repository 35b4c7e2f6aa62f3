"""The kinds of evidence: each computes a bound again from the instance and the earlier levels' values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cpsched.certificate.case import Case
from cpsched.certificate.counting import COUNTED
from cpsched.certificate.implied import IMPLIED
from cpsched.certificate.needed import NEEDED
from cpsched.certificate.tiers import TIERS
from cpsched.policy.levels import SENSES, Value

NONE_IS_BEST = ("victim_max_priority", "victim_start_time", "topology_tier_max")


@dataclass(frozen=True)
class Shown:
    """A bound; None is the absence of victims, or of units, which nothing beats."""

    bound: Value


Show = Callable[[Case, str, int | None], Shown | None]


def _zero(case: Case, name: str, priority: int | None) -> Shown | None:
    """Nothing is better than nothing: no victim, no broken gang, no deficit."""
    if name in NONE_IS_BEST:
        return Shown(None)
    return Shown(0) if SENSES[name] == "min" else None


def _all_placed(case: Case, name: str, priority: int | None) -> Shown | None:
    """There are no more than all: jobs of the priority, tasks that wait."""
    if name == "jobs_admitted":
        return Shown(len(case.session.tiers.get(priority or 0, ())))
    if name in ("tasks_bound", "tasks_placed"):
        return Shown(sum(len(one.job.pending) for one in case.session.waiting))
    return None


def _from(table: dict[str, Callable[[Case, int | None], Value]]) -> Show:
    def show(case: Case, name: str, priority: int | None) -> Shown | None:
        return Shown(table[name](case, priority)) if name in table else None

    return show


EVIDENCE: dict[str, Show] = {
    "zero": _zero,
    "all-placed": _all_placed,
    "implied": _from(IMPLIED),
    "counting": _from({**COUNTED, **TIERS}),
    "victims-needed": _from(NEEDED),
}
"""Simplest first; `steps`, which are replayed and not computed, stand beside them (`replay.py`)."""
