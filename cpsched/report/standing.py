"""Which decision is better, and where that shows first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cpsched.comparison.compare import measured
from cpsched.comparison.contender import Contender
from cpsched.objectives import IN_MILLIONTHS, level_text
from cpsched.ranking import Gap, Standing, gap
from cpsched.report.document import Cell, Tone
from cpsched.report.scene import View
from cpsched.solution import Level, SolutionStatus

TONES: Mapping[str, Tone] = {"behind": "worse", "findings": "worse", "none": "worse"}
PRIORITY_SUM = "victim_priority_sum"
"""Two numbers in one, so that no axis can show it; tables can."""


@dataclass(frozen=True)
class Against:
    """One decision against the best one."""

    view: View
    best: View
    gap: Gap | None
    """The first difference, None if there is none (or no decision)."""


def standings(views: tuple[View, ...]) -> list[Against]:
    """Every decision but the best against it; the first of equals counts as the best, a proved one before others."""
    stands = [(view, Standing.of(view.decision.snapshot, view.solution)) for view in views]
    best, top = min(stands, key=lambda one: (one[1] is None, one[1] and one[1].key, not _is_proved(one[0])))
    return [
        Against(view, best, None if own is None or top is None else gap(own, top))
        for view, own in stands
        if view is not best
    ]


def ranking(views: tuple[View, ...]) -> list[Cell]:
    """The verdict on each of several decisions in a sentence; nothing for one alone, which is held against no other."""
    if len(views) < 2:
        return []
    stands = [Standing.of(view.decision.snapshot, view.solution) for view in views]
    contenders = [Contender(view.name, view.solution, one) for view, one in zip(views, stands, strict=True)]
    return [Cell(f"{one.engine}: {one.sentence}.", TONES.get(one.verdict, "better")) for one in measured(contenders)]


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
