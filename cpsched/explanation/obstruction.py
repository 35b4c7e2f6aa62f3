"""Why no decision places a job: minimal sets of its requirements that cannot all hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from cpsched.explanation.conflict import minimal_conflict
from cpsched.explanation.goal import Clock, Goal, decision_with
from cpsched.explanation.requirements import Requirement
from cpsched.optimum.queries.feasibility import UndecidedError
from cpsched.snapshot import Snapshot

MOST_SETS = 5


@dataclass
class Conflicts:
    """Minimal sets that share nothing.

    `of_all` says that no help of others gets past them either; `minimal` that every question on the way to them was
    decided; `complete` that the search for a further one was.
    """

    sets: list[list[Requirement]] = field(default_factory=list)
    of_all: bool = True
    minimal: bool = True
    complete: bool = True


def conflicts_of(snapshot: Snapshot, goal: Goal, wanted: Sequence[Requirement], clock: Clock) -> Conflicts:
    """Minimal sets of requirements, found one after another: the members of earlier ones are lifted for the next.

    A set is looked for with the job alone, which is quick. What falls short of it alone does so with every task too,
    so the set is minimal as soon as it also excludes the job with every task; if it does not, it is looked for again
    with every task. A question that stays open counts as no conflict: the set then suffices, but may be too large.
    """
    found, left = Conflicts(), list(wanted)
    decided = True

    def excludes(kept: Sequence[Requirement], only: Sequence[str] | None) -> bool:
        lifted = [one for one in wanted if one not in kept]
        return decision_with(snapshot, goal, goal.wanted(), clock.part(0.15), lifted, only) is None

    def alone(kept: Sequence[Requirement]) -> bool:
        nonlocal decided
        try:
            return excludes(kept, (goal.job,))
        except UndecidedError:
            decided = False
            return False

    while len(found.sets) < MOST_SETS:
        decided = True
        conflict = minimal_conflict(left, alone)
        if not conflict:
            found.complete = decided
            break
        try:
            if not excludes(conflict, None):
                conflict = minimal_conflict(left, lambda kept: excludes(kept, None)) or []
        except UndecidedError:
            found.of_all = False
        if not conflict:
            break
        found.minimal = found.minimal and decided
        found.sets.append(conflict)
        left = [one for one in left if one not in conflict]
    return found
