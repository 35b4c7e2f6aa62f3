"""What a case has to meet besides its baseline: a largest distance per level, or that it is optimal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from cpsched import timestamps
from cpsched.errors import InputError
from cpsched.gate.measure import Measured
from cpsched.objectives import IN_MILLIONTHS, MILLIONTHS, level_text
from cpsched.policy import SENSES
from cpsched.policy.levels import LevelRef, Stated

_SECOND = 10**9


@dataclass(frozen=True)
class Demands:
    """The user's; without any, only rules, the baseline and idleness count."""

    max_gaps: Mapping[str, int] = field(default_factory=dict)
    """Level, with or without its priority → how much worse than the best decision it may be."""
    optimal: bool = False

    @classmethod
    def of(cls, max_gaps: Sequence[str], require: str | None) -> Demands:
        """From the command line: `LEVEL=N` each, and `optimal` or nothing."""
        if require not in (None, "optimal"):
            raise InputError(f"{require} cannot be required", place="require", right="write --require optimal")
        return cls(dict(map(_max_gap, max_gaps)), require == "optimal")

    @property
    def any(self) -> bool:
        """Whether there are any."""
        return bool(self.max_gaps) or self.optimal


def too_far(case: Measured, demands: Demands) -> Iterator[tuple[str, str]]:
    """(level, in words) for every level on which the case is further from the best decision than is allowed."""
    distance = case.distance
    if distance is None:
        return
    for label, value in case.levels.items():
        allowed = demands.max_gaps.get(label, demands.max_gaps.get(label.partition("[")[0]))
        best = distance.levels.get(label)
        if allowed is not None and _worse_by(label, value, best) > allowed:
            words = f"{label} is {level_text(label, value, case.levels)}, {level_text(label, best, distance.levels)} "
            yield label, f"{words}is possible; at most {_amount(label, allowed)} from it is allowed"


def not_optimal(case: Measured) -> tuple[str, str] | None:
    """(level, in words) if the case is not optimal, or not proved to be."""
    distance = case.distance
    if distance is None:
        return "optimal", "no optimum is known to hold it against"
    if (gap := distance.gap) is not None:
        here, there = level_text(gap.level, gap.value, case.levels), level_text(gap.level, gap.best, distance.levels)
        return gap.level, f"is not optimal: {gap.level} is {here}, {there} is possible"
    if not distance.proved:
        where = f", open from {distance.open_from} on" if distance.open_from else ""
        return distance.open_from or "optimal", f"is not proved optimal{where}; more --time-limit may prove it"
    return None


def _max_gap(text: str) -> tuple[str, int]:
    """One LEVEL=N."""
    label, equals, number = text.partition("=")
    name = label.partition("[")[0]
    if not equals or name not in SENSES:
        known = ", ".join(SENSES)
        raise InputError(f"{text} is no LEVEL=N", place="max-gap", right=f"levels are {known}")
    unit = 1
    if number.endswith("%") and name in IN_MILLIONTHS:
        number, unit = number.removesuffix("%"), MILLIONTHS // 100
    if not (number.isascii() and number.isdigit()):
        percent = " or percent, such as 5%" if name in IN_MILLIONTHS else ""
        raise InputError(f"{number or 'nothing'} is no distance", place="max-gap", right=f"a whole number{percent}")
    return label, int(number) * unit


def _worse_by(label: str, value: Stated, best: Stated) -> float:
    """How much worse; without limit if there are victims where none are needed."""
    if value is None or value == best:
        return 0
    if best is None:
        return float("inf")
    difference = _number(value) - _number(best)
    worse = -difference if LevelRef.of_label(label).is_better_more else difference
    return worse / _SECOND if isinstance(value, str) else worse


def _number(value: int | str) -> int:
    return timestamps.parse(value) if isinstance(value, str) else value


def _amount(label: str, allowed: int) -> str:
    if label.partition("[")[0] == "victim_start_time":
        return f"{allowed} s"
    return f"{level_text(label, allowed)}" if label in IN_MILLIONTHS else str(allowed)
