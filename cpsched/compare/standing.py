"""Where a decision stands: its findings first, then its levels, most important first."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from cpsched import timestamps
from cpsched.check import Decision
from cpsched.objectives import Value, comparable, level_plan, vector
from cpsched.policy import SENSES
from cpsched.snapshot import Snapshot
from cpsched.solution import NO_DECISION, Finding, Solution

FINDINGS = "findings"
"""Stands where a level would, if findings tell two decisions apart."""


@dataclass(frozen=True)
class Standing:
    """A judged decision as it is compared: levels are computed anew, whatever the engine states."""

    plan: tuple[tuple[str, int | None], ...]
    values: tuple[Value, ...]
    findings: tuple[Finding, ...] = ()

    @classmethod
    def of(cls, snapshot: Snapshot, solution: Solution) -> Standing | None:
        """None for a solution that holds no decision."""
        if solution.status in NO_DECISION:
            return None
        decision = Decision.of(snapshot, solution)
        return cls(tuple(level_plan(snapshot)), tuple(vector(decision)), solution.findings)

    @cached_property
    def key(self) -> tuple[int, tuple[tuple[int, int], ...]]:
        """Sorts better decisions first: any finding is worse than none, then their number, then the levels."""
        return (len(self.findings), comparable(list(self.plan), list(self.values)))

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The levels' names as a Solution shows them."""
        return tuple(name if priority is None else f"{name}[{priority}]" for name, priority in self.plan)

    @cached_property
    def shown(self) -> dict[str, int | str | None]:
        """The values as a Solution shows them, by label."""
        return {
            label: timestamps.text(value) if value is not None and name == "victim_start_time" else value
            for label, (name, _), value in zip(self.labels, self.plan, self.values, strict=True)
        }


@dataclass(frozen=True)
class Gap:
    """The first difference between a decision and a better (or equally good) one."""

    level: str
    """A level's label, or `findings`."""
    value: int | str | None
    best: int | str | None
    difference: int | None
    """How much; seconds for a start time, None against no victims at all."""


def gap(one: Standing, best: Standing) -> Gap | None:
    """Where the first falls behind the second; None if it does not."""
    if one.key <= best.key:
        return None
    if len(one.findings) != len(best.findings):
        number, other = len(one.findings), len(best.findings)
        return Gap(FINDINGS, number, other, number - other)
    keys = zip(one.key[1], best.key[1], strict=True)
    position = next(index for index, (ours, theirs) in enumerate(keys) if ours != theirs)
    label, name = one.labels[position], one.plan[position][0]
    mine, theirs = one.values[position], best.values[position]
    difference = None if mine is None or theirs is None else abs(mine - theirs)
    if name == "victim_start_time" and difference is not None:
        difference //= 10**9
    return Gap(label, one.shown[label], best.shown[label], difference)


def is_better_more(level: str) -> bool:
    """Whether more is better on the level of this label."""
    return SENSES.get(level.partition("[")[0]) == "max"
