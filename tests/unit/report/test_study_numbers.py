"""A study boiled down to numbers."""

from __future__ import annotations

import pytest

from cpsched.report.study_numbers import Spread, Study, ranges
from tests.unit.report.conftest import cell, level


def test_outcomes_are_counted_once_each() -> None:
    study = Study.of(
        [
            cell("i1", levels=[level("victim_count", 1, 1)]),
            cell("i2", levels=[level("victim_count", 2, 1)]),
            cell("i3", findings=2, findings_by_rule='{"gang": 2}', compared="behind", first_difference="findings"),
            cell("i4", status="crash", compared=None, error="signal 11"),
            cell("i5", compared="ahead"),
            cell("i1", "optimal"),
        ]
    )
    counts = {"equal": 1, "worse": 1, "breaks rules": 1, "no decision": 1, "better": 1}
    assert study.outcomes == {("volcano", "volcano"): counts}
    assert study.first == {("volcano", "volcano"): {"victim_count": 1, "findings": 1}}
    assert study.rules["volcano", "volcano"] == {"gang": 2}
    assert [row["instance"] for row in study.failed] == ["i4"]
    assert (study.cells, len(study.instances)) == (6, 5)


def test_gaps_end_at_the_first_difference() -> None:
    levels = [level("jobs_admitted", 2, 2, "max"), level("victim_count", 3, 1), level("tasks_placed", 9, 4, "max")]
    gaps = Study.of([cell("i1", levels=levels)]).gaps
    assert [(gap.level, gap.value, gap.optimum, gap.behind) for gap in gaps] == [
        ("jobs_admitted", 2, 2, 0),
        ("victim_count", 3, 1, 2),
    ]


def test_behind_is_above_zero_in_either_sense_and_times_are_seconds() -> None:
    fewer = Study.of([cell("i1", levels=[level("jobs_admitted", 1, 3, "max")])]).gaps
    later = Study.of([cell("i1", levels=[level("victim_start_time", 5 * 10**9, 65 * 10**9, "max")])]).gaps
    assert [gap.behind for gap in (*fewer, *later)] == [2, 60]


def test_no_victims_at_all_cannot_be_subtracted() -> None:
    assert Study.of([cell("i1", levels=[level("victim_max_priority", 10, None)])]).gaps == []


def test_decisions_with_findings_have_no_gaps() -> None:
    broken = cell("i1", levels=[level("victim_count", 2, 1)], findings=1, first_difference="findings")
    assert Study.of([broken]).gaps == []


def test_the_worst_come_first() -> None:
    rows = [
        cell("low", levels=[level("a", 1, 1), level("b", 9, 1)]),
        cell("far", levels=[level("a", 5, 1), level("b", 1, 1)]),
        cell("near", levels=[level("a", 2, 1), level("b", 1, 1)]),
        cell("one", findings=1, compared="behind", first_difference="findings", first_difference_rank=0),
        cell("two", findings=2, compared="behind", first_difference="findings", first_difference_rank=0),
        cell("good", levels=[level("a", 1, 1)]),
    ]
    study = Study.of(rows)
    assert [row["instance"] for row, _ in study.worst(9)] == ["two", "one", "far", "near", "low"]
    assert len(study.worst(2)) == 2


def test_an_instance_is_worst_once_however_many_seeds() -> None:
    rows = [cell("i", levels=[level("a", value, 1)], seed=value) for value in (2, 3)]
    assert [row["seed"] for row, _ in Study.of(rows).worst(9)] == [3]


def test_the_optimum_to_show_is_a_proved_one() -> None:
    rows = [cell("i", "optimal", solution=solution, key=solution) for solution in ("feasible", "optimal", "feasible")]
    study = Study.of(rows)
    assert study.optimum_by_cell == {("i", "volcano"): "optimal"}
    assert [time.proved for time in study.times] == [False, True, False]
    assert {time.tasks for time in study.times} == {10}


def test_engines_carry_the_model_where_there_are_several() -> None:
    one = Study.of([cell("i")])
    both = Study.of([cell("i"), cell("i", model="volcano-fair")])
    assert one.who("volcano", "volcano") == "volcano"
    assert both.who("volcano", "volcano-fair") == "volcano / volcano-fair"


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ([3, 1, 1], [(1, 1), (3, 3)]),
        (range(1, 25), [(low, low + 1) for low in range(1, 25, 2)]),
        (range(0, 26), [(low, min(25, low + 2)) for low in range(0, 26, 3)]),
        ([], []),
    ],
)
def test_ranges_cover_everything_once(values: list[int], found: list[tuple[int, int]]) -> None:
    assert ranges(values) == found


def test_a_spread_of_few() -> None:
    assert Spread.of([4.0]) == Spread(1, 4, 4, 4)
    assert Spread.of([float(n) for n in range(1, 12)]) == Spread(11, 6, 10, 11)
