"""How the value of a level is shown."""

from __future__ import annotations

import pytest

from cpsched.objectives import PRIORITY_OFFSET, level_text, open_levels
from cpsched.report.status import status_text
from cpsched.solution import Level, Solution, SolutionStatus


@pytest.mark.parametrize(
    "priorities",
    [[100], [-5], [0, 0], [2**31 - 1] * 3, [-(2**31)] * 2, [-(2**30), -(2**30)], [10**9] * 5000, [7, -1_000_000]],
    ids=str,
)
def test_a_priority_sum_reads_as_victims_and_sum_whatever_they_are(priorities: list[int]) -> None:
    value = sum(priority + PRIORITY_OFFSET for priority in priorities)
    number = len(priorities)
    text = level_text("victim_priority_sum[10]", value, {"victim_count[10]": number, "victim_count": 99})
    assert text == f"{number} victim{'s' * (number > 1)}, priority sum {sum(priorities)}"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "no victims"),
        (PRIORITY_OFFSET + 100, "1 victim, priority sum 100"),
        (3 * PRIORITY_OFFSET - 12, "3 victims, priority sum -12"),
        (2 * PRIORITY_OFFSET + 10**9, str(2 * PRIORITY_OFFSET + 10**9)),
        (20, "20"),
        (None, "none"),
    ],
)
def test_a_priority_sum_alone_is_split_only_where_one_number_of_victims_comes_near(
    value: int | None, text: str
) -> None:
    assert level_text("victim_priority_sum", value) == text


@pytest.mark.parametrize(
    ("millionths", "text"),
    [
        (444_445, "44.4445 %"),
        (0, "0 %"),
        (1_000_000, "100 %"),
        (1_500_000, "150 %"),
        (1, "0.0001 %"),
        (10_500, "1.05 %"),
    ],
)
def test_deficits_and_shares_are_percent(millionths: int, text: str) -> None:
    assert level_text("queue_deficit_max", millionths) == text
    assert level_text("queue_deficit_total", millionths) == level_text("resources_placed", millionths) == text


def level(name: str, value: int, bound: int | None, *, proved: bool = False, sense: str = "max") -> Level:
    return Level.model_validate({"name": name, "value": value, "bound": bound, "proved": proved, "sense": sense})


def test_levels_that_a_search_left_open_are_named_with_their_bounds() -> None:
    """One whose value meets its bound is open only as those before it are."""
    first = level("jobs_admitted", 3, 3, proved=True)
    two = [level("tasks_bound", 4, 6), level("nodes_used", 5, 2, sense="min")]
    assert open_levels([first, *two]) == "tasks_bound (4; at most 6), nodes_used (5; at least 2)"
    closed, unknown = level("tasks_placed", 7, 7), level("queue_deficit_max", 500_000, None, sense="min")
    text = "tasks_bound (4; at most 6), queue_deficit_max (50 %; no bound) and 1 more level"
    assert open_levels([first, two[0], closed, unknown, two[1]]) == text
    assert open_levels([first]) == open_levels([level("tasks_bound", 4, None)]) == ""


def test_time_that_ended_a_search_leaves_names_in_the_headline_of_a_decision() -> None:
    solution = Solution(status=SolutionStatus.FEASIBLE, levels=(level("tasks_bound", 4, 6),))
    text = "best decision found; some levels are not proved optimal: tasks_bound (4; at most 6)"
    assert status_text(solution) == text


def test_other_levels_are_shown_as_they_are() -> None:
    assert level_text("tasks_bound", PRIORITY_OFFSET, {"victim_count": 1}) == str(PRIORITY_OFFSET)
    assert level_text("victim_start_time", "2026-01-01T00:00:00Z") == "2026-01-01T00:00:00Z"
    assert level_text("victim_priority_sum", 0, {"victim_count": 0}) == "no victims"
