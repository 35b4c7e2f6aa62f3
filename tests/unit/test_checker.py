"""The checker fills in what a decision is worth, and believes nothing that a solution says about itself."""

from __future__ import annotations

import cpsched
from cpsched.checker import checked_from_outside
from cpsched.importers.policy import load_policy
from cpsched.solution import Level, Solution, SolutionStatus

INSTANCE = cpsched.load(
    {
        "apiVersion": "cpsched/v1",
        "kind": "Instance",
        "nodes": [{"name": "n", "allocatable": {"cpu": "2", "pods": "9"}}],
        "jobs": [{"name": "gang", "tasks": [{"replicas": 2, "requests": {"cpu": "1"}}]}],
    }
)
POLICY = load_policy("throughput")
WHOLE = {"gang/task-0": "n", "gang/task-1": "n"}


def test_levels_are_filled_in_and_nothing_is_proved() -> None:
    solution = checked_from_outside(INSTANCE, POLICY, Solution(binds=WHOLE))
    assert [(level.label, level.value, level.proved) for level in solution.levels[:2]] == [
        ("jobs_admitted[0]", 1, False),
        ("tasks_placed", 2, False),
    ]
    assert solution.findings == ()
    assert solution.model == "throughput"
    assert solution.instance_sha256 == INSTANCE.sha256
    assert solution.versions == {"cpsched": cpsched.__version__}


def test_findings_are_the_checks_own() -> None:
    stated = Solution.parse({"binds": {"gang/task-0": "n"}, "findings": [{"rule": "queue", "message": "made up"}]})
    assert [finding.rule for finding in checked_from_outside(INSTANCE, POLICY, stated).findings] == ["gang"]


def test_levels_are_computed_again_and_stated_ones_held_against_them() -> None:
    computed = checked_from_outside(INSTANCE, POLICY, Solution(binds=WHOLE)).levels
    first = computed[0].model_copy(update={"value": 2})
    solution = checked_from_outside(INSTANCE, POLICY, Solution(binds=WHOLE, levels=(first, *computed[1:])))
    assert solution.levels == computed
    assert [(one.rule, one.subject) for one in solution.findings] == [("levels", "jobs_admitted[0]")]


def stated(*levels: Level, status: SolutionStatus = SolutionStatus.HEURISTIC) -> list[str]:
    """What is found about a solution that states these levels."""
    found = checked_from_outside(INSTANCE, POLICY, Solution(binds=WHOLE, levels=levels, status=status)).findings
    assert {one.rule for one in found} <= {"levels"}
    return [one.message for one in found]


def test_levels_are_those_of_the_policy_in_its_order() -> None:
    first, second, third = checked_from_outside(INSTANCE, POLICY, Solution(binds=WHOLE)).levels
    foreign = Level(name="victim_count", sense="min", value=0)
    output = "its levels are not those of the policy: level"
    assert stated(first, second, third) == []
    assert stated(second, first, third) == [f"{output} 1 is {second.label}, jobs_admitted[0] is right"]
    assert stated(first, first, second, third) == [f"{output} 2 is jobs_admitted[0], {second.label} is right"]
    assert stated(first, second) == [f"{output} 3 is missing, {third.label} is right"]
    assert stated(first, second, third, foreign) == [f"{output} 4 is victim_count, none is right"]


def test_without_an_answer_there_are_no_levels() -> None:
    assert checked_from_outside(INSTANCE, POLICY, Solution(status=SolutionStatus.UNKNOWN)).levels == ()
