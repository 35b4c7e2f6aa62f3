"""The packing pass: single pods are packed before any model is built, and the levels it proves are closed."""

from __future__ import annotations

from typing import Any

import pytest

import cpsched
from cpsched.importers.policy import load_policy
from cpsched.lab.generate import generate
from cpsched.optimum.model.session_model import SessionModel
from cpsched.optimum.packing.problem import Problem
from cpsched.optimum.relax.packing_model import packing_model
from cpsched.optimum.relax.packing_stage import Objective
from cpsched.snapshot import Snapshot
from cpsched.solution import Solution, SolutionStatus

GRID = {"nodes": 8, "pods_per_node": 4, "priorities": 2}


def solved(source: Any, **options: Any) -> Solution:
    return cpsched.solve(cpsched.load(source), model="kube", deterministic=True, time_limit=1, **options)


def model_of(source: Any, model: str = "kube") -> Any:
    instance = cpsched.load(source)
    return packing_model(SessionModel(Snapshot(instance, load_policy(model, None, instance=instance))))


def problem_of(source: Any) -> Problem:
    """The problem in which every victim may go."""
    model = model_of(source)
    limits = [group.most for group in model.session.classes.victims]
    return model.stage(limits, [Objective(tier) for tier in range(len(model.priorities))]).problem


def cluster(*pods: dict[str, Any], nodes: int = 1, cpu: str = "4") -> dict[str, Any]:
    return {
        "apiVersion": "cpsched/v1",
        "kind": "Instance",
        "nodes": [{"name": f"n{number}", "allocatable": {"cpu": cpu, "pods": "110"}} for number in range(nodes)],
        "priorityClasses": {"low": 0, "high": 5},
        "jobs": [
            {"name": f"j{number}", "priorityClassName": pod.pop("class", "low"), "tasks": [pod]}
            for number, pod in enumerate(pods)
        ],
    }


@pytest.mark.parametrize("usage", [95, 105])
def test_a_grid_of_single_pods_is_proved_as_without_it(usage: int) -> None:
    source = generate("priority-matters", {**GRID, "usage": usage}, seed=3)
    packed, plain = solved(source), solved(source, prover="cp-sat")
    assert packed.status is SolutionStatus.OPTIMAL
    assert packed.findings == ()
    assert {level.prover for level in packed.levels} <= {"bound", "packing"}
    values = {(level.name, level.priority): level.value for level in packed.levels}
    assert all(values[level.name, level.priority] == level.value for level in plain.levels if level.proved)


def test_two_runs_are_the_same() -> None:
    source = generate("priority-matters", {**GRID, "usage": 100}, seed=4)
    assert solved(source).binds == solved(source).binds


def test_capacity_counts_what_can_be_evicted() -> None:
    """The bound holds for decisions with victims, so all of the room they could leave is counted."""
    running = {"requests": {"cpu": "3"}, "running": ["n0"]}
    source = cluster(running, {"requests": {"cpu": "2"}, "class": "high"})
    assert [one.capacity for one in problem_of(source).classes] == [(2,)]
    decision = solved(source)
    assert (decision.status, len(decision.evictions)) == (SolutionStatus.OPTIMAL, 1)


def test_only_where_a_job_is_a_task() -> None:
    gang = {"requests": {"cpu": "1"}, "replicas": 2}
    assert model_of(cluster(gang)) is not None  # every pod by itself
    assert model_of(cluster(gang), "volcano") is None
    assert model_of(cluster({"requests": {"cpu": "1"}}), "volcano") is None
    assert model_of(cluster({"requests": {"cpu": "1"}, "running": ["n0"]})) is None


def test_resources_that_never_run_out_first_are_left_out() -> None:
    problem = problem_of(cluster({"requests": {"cpu": "1"}}, {"requests": {"cpu": "3"}}, nodes=2))
    assert [row.size for row in problem.rows] == [(1,), (3,)]
    assert [(one.capacity, one.count) for one in problem.classes] == [((4,), 2)]


def test_nodes_that_a_filter_refuses_hold_none() -> None:
    picky = {"requests": {"cpu": "1"}, "nodeSelector": {"disk": "ssd"}}
    source = cluster({"requests": {"cpu": "1"}}, picky, nodes=2)
    source["nodes"][1]["labels"] = {"disk": "ssd"}
    assert sorted(one.most for one in problem_of(source).classes) == [(1, 0), (1, 1)]
