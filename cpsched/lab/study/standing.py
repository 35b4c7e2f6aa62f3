"""Where a recorded decision stands against the optimum of the same instance and model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from cpsched import timestamps
from cpsched.lab.study.records import CellRecord
from cpsched.objectives import Value, comparable

OPTIMAL = "optimal"
FINDINGS = "findings"

Shown = int | str | None
Key = tuple[int, tuple[tuple[int, int], ...]]


@dataclass(frozen=True)
class Difference:
    """What decides between a decision and the optimum."""

    compared: Literal["same", "behind", "ahead"]
    label: str | None = None
    """`findings`, or a level's label."""
    rank: int | None = None
    value: Shown = None
    optimal: Shown = None


def number(shown: Shown) -> Value:
    """A level's value as a number; times are nanoseconds."""
    return timestamps.parse(shown) if isinstance(shown, str) else shown


def labels(record: CellRecord) -> list[str]:
    """The levels of a decision, most important first."""
    return [level.label for level in record.levels]


def key(record: CellRecord) -> Key | None:
    """Sorts better decisions first: fewer findings, then the levels from the top; None without a decision."""
    if not record.has_decision:
        return None
    plan = [(level.name, level.priority) for level in record.levels]
    values = [number(level.value) for level in record.levels]
    return sum(record.findings.values()), comparable(plan, values)


def optimum(records: Iterable[CellRecord]) -> CellRecord | None:
    """The best decision of the engine `optimal`."""
    decided = [(where, record) for record in records if _is_optimal(record) and (where := key(record)) is not None]
    return min(decided, key=lambda pair: pair[0])[1] if decided else None


def difference(record: CellRecord, best: CellRecord | None) -> Difference | None:
    """The first difference from the top, of the same levels; None where there is nothing to compare."""
    mine, theirs = key(record), None if best is None else key(best)
    if best is None or mine is None or theirs is None or _is_optimal(record):
        return None
    if mine == theirs:
        return Difference("same")
    compared: Literal["behind", "ahead"] = "behind" if mine > theirs else "ahead"
    if mine[0] != theirs[0]:
        return Difference(compared, FINDINGS, 0, mine[0], theirs[0])
    rank = next(n for n, (one, other) in enumerate(zip(mine[1], theirs[1], strict=True)) if one != other)
    level = record.levels[rank]
    return Difference(compared, level.label, rank + 1, level.value, best.levels[rank].value)


def _is_optimal(record: CellRecord) -> bool:
    return record.engine == OPTIMAL
