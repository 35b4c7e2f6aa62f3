"""Smallest sessions of upstream's defects: the optimum is as exhaustive search under the same rules found it."""

from __future__ import annotations

from typing import Any

import pytest

from cpsched.importers.load import load
from cpsched.objectives import levels
from cpsched.optimum.solve import decide
from cpsched.policy import load_model, policy_for
from cpsched.rules import Decision, violations
from cpsched.snapshot import Snapshot
from cpsched.solution import Solution, SolutionStatus
from tests.conformance.test_volcano_topology_rows import recorded
from tests.judge import cluster, job, pending
from tests.oracle.test_random_optimum import ONE_WORKER

ROWS = [row for row in recorded() if "expect_optimum" in row]


def test_every_row_is_tried() -> None:
    assert len(ROWS) == 46


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_the_optimum_of_a_defect(row: dict[str, Any]) -> None:
    """Its levels as far as the search stated them: all but queue_deficit and start times."""
    expected, instance = row["expect_optimum"], load(row["objects"])
    policy = policy_for(load_model("volcano"), row["conf"])
    solution = decide(instance, policy, ONE_WORKER)
    assert solution.status is SolutionStatus.OPTIMAL
    values = {level.label: level.value for level in solution.levels}
    assert [[label, values.get(label, "absent")] for label, _ in expected["levels"]] == expected["levels"]
    snapshot = Snapshot(instance, policy)
    shown = Decision.of(snapshot, Solution.parse(_stated(expected, row["conf"]["actions"])))
    assert violations(shown) == []
    values = {level.label: level.value for level in levels(shown)}
    assert [[label, values.get(label, "absent")] for label, _ in expected["levels"]] == expected["levels"]


def _stated(expected: dict[str, Any], actions: str) -> dict[str, Any]:
    """The row's decision; its victims go by the one gang action that is configured."""
    action = next((name for name in ("gangpreempt", "gangreclaim") if name in actions), "")
    evictions = [{"task": task, "action": action} for task in expected["evicted"]]
    return {"binds": expected["binds"], "pipelined": expected["reserves"], "evictions": evictions}


def test_a_hyper_node_that_is_only_named_by_another_has_a_tier() -> None:
    """Such a one is of tier 0, which no HyperNode states."""
    racks = [{"name": "b", "tier": 2, "nodes": ["n0"], "hyperNodes": ["ghost"]}]
    wish = {"mode": "soft"}
    a, b = (job(name, pending(replicas=2), networkTopology=wish) for name in "ab")
    source = cluster(a, b, nodes={"n0": 2, "n1": 3}, hyperNodes=racks)
    policy = policy_for(load_model("volcano-near"), None)
    instance = load(source)
    solution = decide(instance, policy, ONE_WORKER)
    assert solution.status is SolutionStatus.OPTIMAL
    values = {level.label: level.value for level in solution.levels}
    assert (values["topology_tier_max"], values["topology_tier_sum"]) == (3, 5)
