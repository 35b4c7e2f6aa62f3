"""Which of two decisions is better, and where they part."""

from __future__ import annotations

from typing import Any

import pytest

from cpsched.policy.levels import LevelRef
from cpsched.ranking import FINDINGS, Gap, Standing, gap

PLAN = tuple(map(LevelRef.of_label, ("jobs_admitted[10]", "victim_max_priority", "victim_start_time", "nodes_used")))
SECOND = 10**9


def standing(*values: Any, findings: int = 0) -> Standing:
    return Standing(PLAN, values, findings)


BEST = standing(2, 10, 5 * SECOND, 1)


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (BEST, None),
        (standing(1, None, None, 1), Gap("jobs_admitted[10]", 1, 2, 1)),
        (standing(2, 50, 9 * SECOND, 0), Gap("victim_max_priority", 50, 10, 40)),
        (standing(2, 10, 3 * SECOND, 0), Gap("victim_start_time", "1970-01-01T00:00:03Z", "1970-01-01T00:00:05Z", 2)),
        (standing(2, 10, 5 * SECOND, 4), Gap("nodes_used", 4, 1, 3)),
        (standing(3, 10, 5 * SECOND, 4), None),
    ],
)
def test_the_first_level_that_differs_decides(one: Standing, expected: Gap | None) -> None:
    assert gap(one, BEST) == expected


def test_no_task_evicted_is_best_and_has_no_distance() -> None:
    no_task = standing(2, None, None, 9)
    assert gap(no_task, BEST) is None
    assert gap(BEST, no_task) == Gap("victim_max_priority", 10, None, None)


def test_any_finding_is_worse_than_every_level() -> None:
    broken = standing(9, None, None, 0, findings=1)
    assert gap(broken, BEST) == Gap(FINDINGS, 1, 0, 1)
    assert gap(BEST, broken) is None


def test_findings_are_counted_and_then_levels() -> None:
    one, two = standing(1, None, None, 0, findings=1), standing(9, None, None, 0, findings=2)
    assert gap(two, one) == Gap(FINDINGS, 2, 1, 1)
    other = standing(2, None, None, 0, findings=1)
    assert gap(one, other) == Gap("jobs_admitted[10]", 1, 2, 1)


def test_stated_values_are_read() -> None:
    """As files and tables have them: a time is a text, a priority stands in the label."""
    stated = Standing.stated(zip(PLAN, (2, 10, "1970-01-01T00:00:05Z", 1), strict=True), 0)
    assert stated == BEST
    assert Standing.stated(zip(PLAN, BEST.shown.values(), strict=True), 0) == BEST
    assert stated.labels == ("jobs_admitted[10]", "victim_max_priority", "victim_start_time", "nodes_used")


@pytest.mark.parametrize("label", ["", "hits", "jobs_admitted[", "jobs_admitted[]", "jobs_admitted[x]", "nodes_used]"])
def test_what_is_no_level(label: str) -> None:
    with pytest.raises(ValueError, match="is not a level"):
        LevelRef.of_label(label)


def test_a_text_is_a_time() -> None:
    with pytest.raises(ValueError, match="is no value of nodes_used, which is a whole number"):
        LevelRef("nodes_used").value("1970-01-01T00:00:05Z")
    assert LevelRef("nodes_used").value(None) is None
