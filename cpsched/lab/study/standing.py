"""Where a recorded decision stands against the optimum of the same instance and model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from cpsched.lab.study.records import CellRecord
from cpsched.policy.levels import Stated
from cpsched.ranking import FINDINGS, Standing, first_difference

OPTIMAL = "optimal"


@dataclass(frozen=True)
class Difference:
    """What decides between a decision and the optimum."""

    compared: Literal["same", "behind", "ahead"]
    label: str | None = None
    """`findings`, or a level's label."""
    rank: int | None = None
    value: Stated = None
    optimal: Stated = None


def labels(record: CellRecord) -> list[str]:
    """The levels of a decision, most important first."""
    return [level.label for level in record.levels]


def standing(record: CellRecord) -> Standing | None:
    """What the decision is ranked by; None without one."""
    if not record.has_decision:
        return None
    return Standing.stated(((level.ref, level.value) for level in record.levels), sum(record.findings.values()))


def optimum(records: Iterable[CellRecord]) -> CellRecord | None:
    """The best decision of the engine `optimal`."""
    decided = [(found.key, record) for record in records if _is_optimal(record) and (found := standing(record))]
    return min(decided, key=lambda pair: pair[0])[1] if decided else None


def difference(record: CellRecord, best: CellRecord | None) -> Difference | None:
    """The first difference from the top, of the same levels; None where there is nothing to compare."""
    mine, theirs = standing(record), None if best is None else standing(best)
    if best is None or mine is None or theirs is None or _is_optimal(record):
        return None
    rank = first_difference(mine, theirs)
    if rank is None:
        return Difference("same")
    compared: Literal["behind", "ahead"] = "behind" if mine.key > theirs.key else "ahead"
    if rank == 0:
        return Difference(compared, FINDINGS, 0, mine.findings, theirs.findings)
    level = record.levels[rank - 1]
    return Difference(compared, level.label, rank, level.value, best.levels[rank - 1].value)


def _is_optimal(record: CellRecord) -> bool:
    return record.engine == OPTIMAL
