"""Which decision is better, and where that shows first."""

from __future__ import annotations

from dataclasses import dataclass

from cpsched import timestamps
from cpsched.objectives import comparable
from cpsched.report.scene import View
from cpsched.solution import Level, Solution, SolutionStatus

NO_DECISION = (SolutionStatus.INFEASIBLE, SolutionStatus.UNKNOWN)


@dataclass(frozen=True)
class Standing:
    """One decision against the best one."""

    view: View
    best: View
    level: Level | None
    """The first level at which they differ, None if they do not or findings decide."""

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        mine, best = self.view.solution, self.best.solution
        if mine.status in NO_DECISION:
            return f"{self.view.name} has no decision: {mine.status.value}."
        if len(mine.findings) != len(best.findings):
            rules = ", ".join(sorted({one.rule for one in mine.findings}))
            return f"{self.view.name} breaks rules ({rules}), so it ranks behind {self.best.name}."
        if self.level is None:
            return f"{self.view.name} is as good as {self.best.name} on every level."
        other = next(level for level in best.levels if level.label == self.level.label)
        return (
            f"{self.view.name} is behind {self.best.name}, first at {self.level.label}: "
            f"{shown(self.level.value)} instead of {shown(other.value)}."
        )


def standings(views: tuple[View, ...]) -> list[Standing]:
    """Everybody but the best against the best; the first of equals counts as the best, a proved one before others."""
    best = min(views, key=lambda view: (*_rank(view.solution), view.solution.status is not SolutionStatus.OPTIMAL))
    return [Standing(view, best, first_difference(view.solution, best.solution)) for view in views if view is not best]


def first_difference(solution: Solution, best: Solution) -> Level | None:
    """The most important level at which the values differ; None if findings decide before any level does."""
    if len(solution.findings) != len(best.findings):
        return None
    values = {level.label: level.value for level in best.levels}
    return next((level for level in solution.levels if values.get(level.label) != level.value), None)


def difference(level: Level, best: Level) -> str:
    """How the value compares with the best decision's, in words."""
    if level.value == best.value:
        return "same"
    mine, other = number(level), number(best)
    verdict = "better" if _key(level) < _key(best) else "worse"
    if mine is None or other is None or isinstance(level.value, str):
        return verdict
    return f"{verdict} by {abs(mine - other):,}"


def number(level: Level) -> int | None:
    """The value as a number, a time in nanoseconds."""
    return timestamps.parse(level.value) if isinstance(level.value, str) else level.value


def shown(value: int | str | None) -> str:
    """A level's value as every table shows it."""
    return "none" if value is None else str(value)


def _rank(solution: Solution) -> tuple[object, ...]:
    return (
        solution.status in NO_DECISION,
        len(solution.findings),
        tuple(key for level in solution.levels for key in _key(level)),
    )


def _key(level: Level) -> tuple[tuple[int, int], ...]:
    return comparable([(level.name, level.priority)], [number(level)])
