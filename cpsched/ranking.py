"""Ranking: which of two decisions is better and where they first differ: findings, then the levels from the top."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from cpsched.objectives import comparable, level_plan, vector
from cpsched.policy.levels import LevelRef, Stated, Value
from cpsched.rules import Decision
from cpsched.snapshot import Snapshot
from cpsched.solution import NO_DECISION, Solution

FINDINGS = "findings"
"""Stands where a level would, if findings decide between two decisions."""


@dataclass(frozen=True)
class Standing:
    """What a decision is ranked by."""

    plan: tuple[LevelRef, ...]
    values: tuple[Value, ...]
    findings: int = 0

    @classmethod
    def of(cls, snapshot: Snapshot, solution: Solution) -> Standing | None:
        """Its levels computed again, whatever the engine states; None for a solution that holds no decision."""
        if solution.status in NO_DECISION:
            return None
        return cls.of_decision(Decision.of(snapshot, solution), len(solution.findings))

    @classmethod
    def of_decision(cls, decision: Decision, findings: int) -> Standing:
        """The same of a decision at hand, which breaks so many rules."""
        return cls(level_plan(decision.snapshot), tuple(vector(decision)), findings)

    @classmethod
    def stated(cls, levels: Iterable[tuple[LevelRef, Stated]], findings: int) -> Standing:
        """From values as a file states them, most important first."""
        pairs = list(levels)
        return cls(tuple(level for level, _ in pairs), tuple(level.value(value) for level, value in pairs), findings)

    @cached_property
    def key(self) -> tuple[int, tuple[tuple[int, int], ...]]:
        """Sorts better decisions first: any finding is worse than none, then their number, then the levels."""
        return (self.findings, comparable(self.plan, self.values))

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The levels' names as a Solution shows them."""
        return tuple(level.label for level in self.plan)

    @cached_property
    def shown(self) -> dict[str, Stated]:
        """The values as a Solution shows them, by label."""
        return {level.label: level.stated(value) for level, value in zip(self.plan, self.values, strict=True)}


@dataclass(frozen=True)
class Gap:
    """The first difference between a decision and a better (or equally good) one."""

    level: str
    """A level's label, or `findings`."""
    value: Stated
    best: Stated
    difference: int | None
    """How much; seconds for a start time, None against no victims at all."""


def first_difference(one: Standing, other: Standing) -> int | None:
    """0 if findings decide, the rank from 1 of the first level on which they differ, None if there is none."""
    if one.findings != other.findings:
        return 0
    keys = zip(one.key[1], other.key[1], strict=True)
    return next((rank for rank, (mine, theirs) in enumerate(keys, start=1) if mine != theirs), None)


def gap(one: Standing, best: Standing) -> Gap | None:
    """Where the first falls behind the second; None if it does not."""
    rank = first_difference(one, best)
    if rank is None or one.key < best.key:
        return None
    if rank == 0:
        return Gap(FINDINGS, one.findings, best.findings, one.findings - best.findings)
    level, mine, theirs = one.plan[rank - 1], one.values[rank - 1], best.values[rank - 1]
    difference = None if mine is None or theirs is None else abs(mine - theirs)
    if level.is_time and difference is not None:
        difference //= 10**9
    return Gap(level.label, level.stated(mine), level.stated(theirs), difference)
