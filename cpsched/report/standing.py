"""Which decision is better, and where that shows first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cpsched.objectives import IN_MILLIONTHS, level_text
from cpsched.ranking import FINDINGS, Gap, Standing, gap
from cpsched.report.scene import View
from cpsched.solution import NO_DECISION, Level, SolutionStatus

PRIORITY_SUM = "victim_priority_sum"
"""Two numbers in one, so that no axis can show it; tables can."""


@dataclass(frozen=True)
class Against:
    """One decision against the best one."""

    view: View
    best: View
    gap: Gap | None
    """The first difference, None if there is none (or no decision)."""

    @property
    def is_behind(self) -> bool:
        """Worse than the best, or nothing at all."""
        return self.gap is not None or self.view.solution.status in NO_DECISION

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        name, best, found = self.view.name, self.best.name, self.gap
        if self.view.solution.status in NO_DECISION:
            return f"{name} has no decision: {self.view.solution.status.value}."
        if found is None:
            return f"{name} is as good as {best} on every level."
        if found.level == FINDINGS:
            rules = ", ".join(sorted({one.rule for one in self.view.solution.findings}))
            return f"{name} breaks rules ({rules}), so it ranks behind {best}."
        sides = ((found.value, self.view), (found.best, self.best))
        values = (level_text(found.level, value, values_of(view.solution.levels)) for value, view in sides)
        return f"{name} is behind {best}, first at {found.level}: {' instead of '.join(values)}."


def standings(views: tuple[View, ...]) -> list[Against]:
    """Every decision but the best against it; the first of equals counts as the best, a proved one before others."""
    stands = [(view, Standing.of(view.decision.snapshot, view.solution)) for view in views]
    best, top = min(stands, key=lambda one: (one[1] is None, one[1] and one[1].key, not _is_proved(one[0])))
    return [
        Against(view, best, None if own is None or top is None else gap(own, top))
        for view, own in stands
        if view is not best
    ]


def difference(level: Level, best: Level) -> str:
    """How the value compares with the best decision's, in words."""
    if level.value == best.value:
        return "same"
    verdict = "better" if level.rank < best.rank else "worse"
    if isinstance(level.value, int) and isinstance(best.value, int):
        gap = abs(level.value - best.value)
        return f"{verdict} by {difference_text(level.name, gap)}"
    return verdict


def difference_text(name: str, gap: int) -> str:
    """How far two values of a level are apart."""
    return level_text(name, gap) if name in (PRIORITY_SUM, *IN_MILLIONTHS) else f"{gap:,}"


def values_of(levels: Iterable[Level]) -> dict[str, int | str | None]:
    """The values of all levels of one decision, by label."""
    return {one.label: one.value for one in levels}


def shown(level: Level, levels: Iterable[Level]) -> str:
    """A level's value as every table shows it; `levels` are all of the same decision."""
    return level_text(level.label, level.value, values_of(levels) if level.name == PRIORITY_SUM else {})


def _is_proved(view: View) -> bool:
    return view.solution.proves and view.solution.status is SolutionStatus.OPTIMAL
