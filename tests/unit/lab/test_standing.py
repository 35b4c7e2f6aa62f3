"""Which of two recorded decisions is better, and what decides."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cpsched.lab.study.records import CellRecord
from cpsched.lab.study.standing import Difference, difference, optimum
from tests.unit.lab.records import cell_record


def record(engine: str, *values: Any, findings: int = 0, **fields: Any) -> CellRecord:
    names = (("jobs_admitted", 10, "max"), ("victim_count", None, "min"), ("victim_start_time", None, "max"))
    levels = [
        {"name": name, "priority": priority, "sense": sense, "value": value}
        for (name, priority, sense), value in zip(names, values, strict=True)
    ]
    found = {"gang": findings} if findings else {}
    data = cell_record(engine=engine, levels=levels, findings=found, **fields)
    return CellRecord.model_validate_json(json.dumps(data))


EARLY, LATE = "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"
BEST = record("optimal", 2, 1, LATE)


@pytest.mark.parametrize(
    ("mine", "expected"),
    [
        (record("volcano", 2, 1, LATE), Difference("same")),
        (record("volcano", 1, 0, None), Difference("behind", "jobs_admitted[10]", 1, 1, 2)),
        (record("volcano", 3, 9, EARLY), Difference("ahead", "jobs_admitted[10]", 1, 3, 2)),
        (record("volcano", 2, 3, LATE), Difference("behind", "victim_count", 2, 3, 1)),
        (record("volcano", 2, 1, EARLY), Difference("behind", "victim_start_time", 3, EARLY, LATE)),
        (record("volcano", 2, 1, None), Difference("ahead", "victim_start_time", 3, None, LATE)),
        (record("volcano", 9, 0, None, findings=2), Difference("behind", "findings", 0, 2, 0)),
        (record("volcano", 0, 0, None, status="timeout", solution=None), None),
        (record("volcano", 0, 0, None, solution="unknown"), None),
        (record("optimal", 1, 0, None), None),
    ],
)
def test_the_first_difference_decides(mine: CellRecord, expected: Difference | None) -> None:
    assert difference(mine, BEST) == expected


def test_two_with_findings_compare_by_their_number_then_by_levels() -> None:
    best = record("optimal", 2, 1, LATE, findings=1)
    assert difference(record("volcano", 9, 1, LATE, findings=2), best) == Difference("behind", "findings", 0, 2, 1)
    same = difference(record("volcano", 1, 1, LATE, findings=1), best)
    assert same == Difference("behind", "jobs_admitted[10]", 1, 1, 2)


def test_the_best_of_several_optima_is_the_one() -> None:
    worse, failed = record("optimal", 2, 2, LATE), record("optimal", 9, 0, None, status="crash")
    assert optimum([record("volcano", 9, 0, None), worse, failed, BEST]) is BEST
    assert optimum([record("volcano", 9, 0, None), failed]) is None
    assert difference(record("volcano", 2, 1, LATE), None) is None
