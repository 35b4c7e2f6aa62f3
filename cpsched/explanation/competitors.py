"""Who is ahead: the fewest jobs and levels which, left as the optimum has them, leave no place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cpsched.explanation.conflict import minimal_conflict
from cpsched.explanation.goal import Clock, Goal, decision_with
from cpsched.optimum.queries.feasibility import Limit
from cpsched.policy.levels import LevelRef
from cpsched.rules import Decision
from cpsched.snapshot import Snapshot


@dataclass(frozen=True)
class Competitor:
    """A job that keeps what it gets, or a level that stays as good as it is."""

    job: str | None = None
    level: LevelRef | None = None


def competitors_of(snapshot: Snapshot, goal: Goal, best: Decision, clock: Clock) -> list[Competitor] | None:
    """A minimal set that excludes the goal; None if all of them together do not, that is, best is not the best."""
    jobs = [Competitor(job=key) for key in goal.jobs_ahead(best)]
    levels = [Competitor(level=level) for level in goal.levels_ahead(snapshot)]
    near = {goal.job, *goal.jobs_ahead(best)}

    def too_much(kept: Sequence[Competitor], only: set[str] | None = near) -> bool:
        return excluded_by(snapshot, goal, best, kept, clock.part(0.2), only)

    found = minimal_conflict([*jobs, *levels], too_much)
    # A job that is not named may still help: then those found do not suffice, and all are asked at once.
    if found is not None and not too_much(found, None):
        return minimal_conflict([*jobs, *levels], lambda kept: too_much(kept, None))
    return found


def excluded_by(
    snapshot: Snapshot,
    goal: Goal,
    best: Decision,
    kept: Sequence[Competitor],
    limit: Limit,
    only: set[str] | None = None,
) -> bool:
    """Whether no decision reaches the goal and leaves these jobs and levels as they are in `best`."""
    ahead = [one.job for one in kept if one.job]
    levels = tuple(one.level for one in kept if one.level)
    wanted = replace(goal.wanted(ahead, levels), reference=best)
    return decision_with(snapshot, goal, wanted, limit, only=only) is None
