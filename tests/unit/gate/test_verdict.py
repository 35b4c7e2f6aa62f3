"""What passes the gate and what does not."""

from __future__ import annotations

from typing import Any

import pytest

from cpsched.gate.baseline import Entry
from cpsched.gate.measure import Distance, Measured
from cpsched.gate.report import CheckedCases
from cpsched.gate.verdict import Fault, verdict
from cpsched.ranking import Gap
from cpsched.solution import Finding

LEVELS = {
    "jobs_admitted[10]": 2,
    "victim_max_priority": 10,
    "victim_start_time": "2026-01-01T00:00:05Z",
    "nodes_used": 3,
}


def case(*rules: str, distance: Distance | None = None, instance: str = "same", **levels: Any) -> Measured:
    found = tuple(Finding(rule=rule, subject="ns/p", message="is wrong") for rule in rules)
    changed = {**LEVELS, **{key.replace("__", "[").replace("_end", "]"): value for key, value in levels.items()}}
    return Measured(
        "c", "c.json", instance=instance, model="volcano", findings=found, levels=changed, distance=distance
    )


def faults(now: Measured, before: Measured | None = None) -> list[tuple[str, str]]:
    entry = None if before is None else Entry.of(before)
    return [(fault.kind, fault.key) for fault in verdict(now, entry, has_baseline=before is not None).faults]


def test_without_a_baseline_every_rule_counts() -> None:
    assert faults(case()) == []
    assert faults(case("gang", "gang", "queue")) == [("rule", "gang"), ("rule", "queue")]
    (fault,) = verdict(case("gang", "gang"), None, has_baseline=False).faults
    assert fault == Fault("rule", "gang", "ns/p is wrong (and 1 more)")


def test_a_new_case_is_named_and_its_findings_count() -> None:
    found = verdict(case("gang"), None, has_baseline=True)
    assert found.notes == ("new: not in the baseline",)
    assert [fault.key for fault in found.faults] == ["gang"]


def test_accepted_findings_pass_but_no_more_of_them_and_no_others() -> None:
    assert faults(case("gang"), case("gang")) == []
    assert faults(case("gang", "gang"), case("gang")) == [("rule", "gang")]
    assert faults(case("queue"), case("gang")) == [("rule", "queue")]
    found = verdict(case("gang"), Entry.of(case("gang")), has_baseline=True)
    assert found.notes == ("1 finding accepted by the baseline",)


@pytest.mark.parametrize(
    ("levels", "key"),
    [
        ({"jobs_admitted__10_end": 1}, "jobs_admitted[10]"),
        ({"jobs_admitted__10_end": 1, "victim_max_priority": None}, "jobs_admitted[10]"),
        ({"victim_max_priority": 11}, "victim_max_priority"),
        ({"victim_start_time": "2026-01-01T00:00:04Z"}, "victim_start_time"),
        ({"nodes_used": 4}, "nodes_used"),
    ],
)
def test_worse_on_the_first_level_that_differs_fails(levels: dict[str, Any], key: str) -> None:
    assert faults(case(**levels), case()) == [("worse", key)]


@pytest.mark.parametrize(
    "levels",
    [
        {"jobs_admitted__10_end": 3, "victim_max_priority": 99},
        {"victim_max_priority": None, "victim_start_time": None},
        {"victim_start_time": "2026-01-01T00:00:05.5Z", "nodes_used": 9},
        {"nodes_used": 2},
    ],
)
def test_better_on_the_first_level_that_differs_passes_and_is_stated(levels: dict[str, Any]) -> None:
    found = verdict(case(**levels), Entry.of(case()), has_baseline=True)
    assert (found.faults, found.better, found.state) == ((), True, "passed")


def test_fewer_findings_are_better_whatever_the_levels() -> None:
    found = verdict(case("gang", nodes_used=9), Entry.of(case("gang", "gang")), has_baseline=True)
    assert (found.faults, found.better) == ((), True)


def test_one_more_finding_is_stated_once() -> None:
    assert faults(case("gang"), case()) == [("rule", "gang")]


def distance(level: str, value: int, best: int, *, proved: bool = True) -> Distance:
    return Distance(proved, Gap(level, value, best, abs(value - best)))


REACHED, OPEN = Distance(True, None), Distance(False, None)
ONE_NODE, TWO_NODES = distance("nodes_used", 3, 2), distance("nodes_used", 4, 2)


@pytest.mark.parametrize(
    ("now", "before", "expected"),
    [
        (ONE_NODE, REACHED, ["nodes_used"]),
        (TWO_NODES, ONE_NODE, ["nodes_used"]),
        (distance("jobs_admitted[10]", 1, 2), TWO_NODES, ["jobs_admitted[10]"]),
        (ONE_NODE, ONE_NODE, []),
        (ONE_NODE, TWO_NODES, []),
        (ONE_NODE, distance("jobs_admitted[10]", 1, 2), []),
        (REACHED, ONE_NODE, []),
        (OPEN, REACHED, []),
        (distance("nodes_used", 9, 1, proved=False), REACHED, []),
        (ONE_NODE, OPEN, []),
        (ONE_NODE, distance("nodes_used", 3, 3, proved=False), []),
        (None, REACHED, []),
        (ONE_NODE, None, []),
    ],
)
def test_a_changed_case_is_held_against_its_own_optimum(
    now: Distance | None, before: Distance | None, expected: list[str]
) -> None:
    found = verdict(
        case(distance=now, instance="other", nodes_used=99), Entry.of(case(distance=before)), has_baseline=True
    )
    assert [fault.key for fault in found.faults] == expected
    assert {fault.kind for fault in found.faults} <= {"further"}
    assert found.notes[0].startswith("changed:")


def test_other_levels_make_it_another_question() -> None:
    other = Measured("c", "c.json", instance="same", model="volcano", levels={"tasks_bound": 1})
    assert verdict(other, Entry.of(case()), has_baseline=True).notes[0].startswith("changed:")


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        (["decided"], 0),
        (["decided", "no answer"], 3),
        (["no answer", "engine error"], 1),
        (["engine error", "bad case"], 2),
    ],
)
def test_exit_codes(outcomes: list[Any], code: int) -> None:
    report = CheckedCases("corpus", "mirror")
    for number, outcome in enumerate(outcomes):
        report.add(Measured(f"c{number}", "f", outcome=outcome, error="oh"))
    assert report.exit_code == code
