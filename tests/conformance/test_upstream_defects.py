"""Known defects of Volcano, one small instance each: the mirror shows it, the checker or the optimum tells."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cpsched import engines
from cpsched.checker import checked_from_outside, decision_of
from cpsched.greedy.volcano import outcomes as all_outcomes
from cpsched.importers.load import load
from cpsched.instance import Instance
from cpsched.objectives import comparable, level_plan, vector
from cpsched.options import Options
from cpsched.policy import Policy, load_model, policy_for
from cpsched.solution import Solution, SolutionStatus

FOLDER = Path(__file__).parents[2] / "instances" / "issues"
ISSUES: dict[str, dict[str, Any]] = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
EXPECTED = {file: expected for file, expected in ISSUES.items() if "defect" in expected}
"""The defects read from the code; test_named_issues.py has the others."""
BY_CHANCE = {
    "volcano-best-effort-hangs.json",
    "volcano-cooldown-handed-on.json",
    "volcano-shuffle-evicts-all-that-budgets-allow.json",
}
"""Who is dispatched or evicted depends on a Go map; the mirror takes the first by UID."""

Json = dict[str, Any]
cases = pytest.mark.parametrize(("file", "expected"), EXPECTED.items(), ids=EXPECTED.keys())


def session(source: Path | Json) -> tuple[Instance, Policy]:
    """The instance under the volcano model with the configuration it brings."""
    instance = load(source)
    return instance, policy_for(load_model("volcano"), instance.conf)


def decided(engine: str, instance: Instance, policy: Policy) -> Solution:
    """An engine's checked decision."""
    return engines.run(engine, instance, policy, Options(workers=1))


def parts(solution: Solution) -> Json:
    """The decision as expected.json writes it."""
    return {
        "binds": solution.binds,
        "pipelined": solution.pipelined,
        "allocated": solution.allocated,
        "evicted": sorted(eviction.task for eviction in solution.evictions),
    }


def rules(solution: Solution) -> list[str]:
    """Keys of the rules the checker reports."""
    return sorted({finding.rule for finding in solution.findings})


def behind(instance: Instance, policy: Policy, one: Solution, best: Solution) -> str | None:
    """The first level on which the two differ, if the second is better there."""
    decisions = [decision_of(instance, policy, solution) for solution in (one, best)]
    plan = level_plan(decisions[0].snapshot)
    one_key, best_key = (comparable(plan, vector(decision)) for decision in decisions)
    for level, ours, theirs in zip(best.levels, one_key, best_key, strict=True):
        if ours != theirs:
            return level.label if theirs < ours else None
    return None


@cases
def test_mirror_shows_the_defect(file: str, expected: Json) -> None:
    found = decided(expected["engine"], *session(FOLDER / file))
    assert parts(found) == expected["decision"]
    assert rules(found) == expected["findings"]


@cases
def test_checker_finds_the_same_in_the_bare_decision(file: str, expected: Json) -> None:
    stated = dict(expected["decision"])
    stated["evictions"] = [{"task": task} for task in stated.pop("evicted")]
    assert rules(checked_from_outside(*session(FOLDER / file), Solution.parse(stated))) == expected["findings"]


@cases
def test_optimum_is_feasible_and_better_where_stated(file: str, expected: Json) -> None:
    instance, policy = session(FOLDER / file)
    best = decided("optimal", instance, policy)
    assert (best.status, rules(best)) == (SolutionStatus.OPTIMAL, [])
    assert behind(instance, policy, decided(expected["engine"], instance, policy), best) == expected["behind"]
    assert expected["findings"] or expected["behind"]


@cases
def test_defect_does_not_depend_on_chance(file: str, expected: Json) -> None:
    outcomes = [parts(outcome) for outcome in all_outcomes(*session(FOLDER / file)).solutions]
    assert expected["decision"] in outcomes
    assert (len(outcomes) > 1) == (file in BY_CHANCE)


def without_gang(instance: Json) -> None:
    """No task tries to preempt, so nothing is restored."""
    instance["jobs"] = [job for job in instance["jobs"] if job["name"] != "gang"]


def without_preempt(instance: Json) -> None:
    """The phase inside a job does not run."""
    instance["conf"]["actions"] = "enqueue, allocate, backfill"


def without_backfill(instance: Json) -> None:
    """No task takes the reservation back."""
    instance["conf"]["actions"] = "enqueue, allocate, preempt"


def in_one_tier(instance: Json) -> None:
    """All plugins must agree on a victim."""
    tiers = instance["conf"]["tiers"]
    instance["conf"]["tiers"] = [{"plugins": [plugin for tier in tiers for plugin in tier["plugins"]]}]


def in_normal_mode(instance: Json) -> None:
    """The queue is asked before every reservation."""
    del instance["conf"]["configurations"]


def with_room_for_evicted_pods(instance: Json) -> None:
    """The binder's cache finds a place even while it counts the evicted."""
    instance["nodes"][0]["allocatable"]["pods"] = "4"


def with_teams_below_the_root(instance: Json) -> None:
    """Teams are compared by their own shares, which follow placements."""
    for queue in instance["queues"]:
        queue.update({"parent": "root"} if queue["name"].startswith("team") else {})


def without_preference(instance: Json) -> None:
    """The group that is forbidden is not to be avoided as well."""
    queues = (one for one in instance["objects"] if one["kind"] == "Queue")
    for queue in queues:
        queue["spec"]["affinity"]["nodeGroupAntiAffinity"].pop("preferredDuringSchedulingIgnoredDuringExecution")


def without_limits(instance: Json) -> None:
    """The queue may hold what it likes."""
    for one in instance["objects"]:
        if one["kind"] == "Queue":
            del one["metadata"]["annotations"]


def with_predicates(instance: Json) -> None:
    """Cards are booked."""
    instance["conf"]["tiers"][0]["plugins"].append({"name": "predicates"})


CURES: dict[str, Callable[[Json], None]] = {
    "volcano-unevict-forgets-pod.json": without_gang,
    "volcano-half-gang-keeps-reservation.json": without_preempt,
    "volcano-evicts-own-sibling.json": in_one_tier,
    "volcano-gang-broken-by-tiers.json": in_one_tier,
    "volcano-topology-aware-beyond-queue.json": in_normal_mode,
    "volcano-eviction-serves-nobody.json": without_backfill,
    "volcano-best-effort-hangs.json": with_room_for_evicted_pods,
    "volcano-branch-order-frozen.json": with_teams_below_the_root,
    "volcano-nodegroup-preferred-admits.json": without_preference,
    "volcano-nodegroup-limit-keeps-low.json": without_limits,
    "volcano-cooldown-handed-on.json": in_one_tier,
    "volcano-cards-never-booked.json": with_predicates,
}
"""Instances in which one small change takes away the cause, and the mirror decides as one would wish."""


@pytest.mark.parametrize(("file", "cure"), CURES.items(), ids=CURES.keys())
def test_without_its_cause_the_defect_is_gone(file: str, cure: Callable[[Json], None]) -> None:
    source: Json = json.loads((FOLDER / file).read_text(encoding="utf-8"))
    cure(source)
    instance, policy = session(source)
    found = decided("volcano", instance, policy)
    assert parts(found) != EXPECTED[file]["decision"]
    assert rules(found) == []
    if not EXPECTED[file]["findings"]:
        assert behind(instance, policy, found, decided("optimal", instance, policy)) is None


def test_every_defect_of_one_session_has_one_file() -> None:
    files = {path.name for path in FOLDER.glob("*.json")} - {"expected.json", "baseline.json"}
    assert ISSUES.keys() == files
    assert sorted(expected["defect"] for expected in EXPECTED.values()) == list(range(1, 20))


@cases
def test_file_says_what_goes_wrong_and_read_me_lists_it(file: str, expected: Json) -> None:
    source = json.loads((FOLDER / file).read_text(encoding="utf-8"))
    assert source["name"] == file.removesuffix(".json")
    assert 40 < len(source["description"]) < 400
    rows = [row for row in (FOLDER.parent / "README.md").read_text(encoding="utf-8").splitlines() if f"`{file}`" in row]
    shown = [*expected["findings"], *([expected["behind"]] if expected["behind"] else [])]
    assert len(rows) == 1
    assert rows[0].startswith(f"| {expected['defect']} |")
    assert all(f"`{key}`" in rows[0] for key in shown)
