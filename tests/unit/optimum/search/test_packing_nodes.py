"""The fewest nodes by packing: beside exhaustive search, and as what is published of vector packing asks for it."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import cpsched
from cpsched.importers.load import load
from cpsched.importers.policy import load_policy
from cpsched.optimum.model.session_model import SessionModel
from cpsched.optimum.relax.empty_nodes import EmptyNodes
from cpsched.optimum.relax.packing_model import packing_model
from cpsched.snapshot import Snapshot
from cpsched.solution import Solution, SolutionStatus
from tests.oracle.brute_force import optimum

Raw = dict[str, Any]

MODEL = """
name: fewest-nodes
description: as many pods as possible, then on the fewest nodes
scheduler: kube
kube_version: "1.36"
conf: {apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration}
jobs: pods
rules: {assignment: on, capacity: on, filters: on, nodegroup: auto, cards: auto, numa: auto, usage: auto, gang: off,
  queue: off, deserved: off, eviction: off, eviction.scope: node, charge: on, protect.gang: off,
  protect.conformance: off, protect.pdb: off, protect.cooldown: auto, protect.guarantee: off, enqueue: off, actions: on}
levels: [jobs_admitted, LAST]
"""


@pytest.fixture
def model(tmp_path: Path) -> str:
    (tmp_path / "model.yaml").write_text(MODEL.replace("LAST", "nodes_used"))
    return str(tmp_path / "model.yaml")


def drawn(seed: int) -> Raw:
    """Three to five nodes of up to three sizes, some with a pod; up to six pods, two priorities, two zones."""
    r = random.Random(seed)
    sizes = [(r.randint(3, 9), r.randint(3, 9)) for _ in range(r.randint(1, 3))]
    names = [f"n{number}" for number in range(r.randint(3, 5))]
    nodes = [
        {"name": name, "allocatable": {"cpu": str(cpu), "memory": str(memory), "pods": "9"}, "labels": {"zone": zone}}
        for name in names
        for (cpu, memory), zone in [(r.choice(sizes), r.choice(["a", "a", "b"]))]
    ]
    jobs = []
    for number in range(r.randint(3, 6)):
        task: Raw = {"requests": {"cpu": r.randint(1, 4), "memory": r.randint(1, 4)}}
        if r.random() < 0.2:
            task["running"] = r.choice(names)
        elif r.random() < 0.2:
            task["nodeSelector"] = {"zone": r.choice("ab")}
        jobs.append({"name": f"j{number}", "priorityClassName": r.choice(["low", "high"]), "tasks": [task]})
    return {
        "apiVersion": "cpsched/v1",
        "kind": "Instance",
        "nodes": nodes,
        "priorityClasses": {"low": 0, "high": 5},
        "jobs": jobs,
    }


def solved(source: Raw, model: str, **options: Any) -> Solution:
    return cpsched.solve(cpsched.load(source), model=model, deterministic=True, time_limit=5, **options)


@pytest.mark.parametrize("seed", range(30))
def test_the_fewest_nodes_are_as_exhaustive_search_finds_them(model: str, seed: int) -> None:
    instance = load(drawn(seed))
    best = optimum(Snapshot(instance, load_policy(model, None, instance=instance)))
    solution = solved(drawn(seed), model)
    assert solution.status is SolutionStatus.OPTIMAL
    assert solution.findings == ()
    assert [level.value for level in solution.levels] == list(best.values)


def test_packing_is_who_proves_them(model: str) -> None:
    closed = [solved(drawn(seed), model).levels[-1] for seed in range(30)]
    assert {level.prover for level in closed} == {"packing"}


def cluster(*sizes: int, pods: int, cpu: int) -> Raw:
    return {
        "apiVersion": "cpsched/v1",
        "kind": "Instance",
        "nodes": [{"name": f"n{n}", "allocatable": {"cpu": str(size), "pods": "99"}} for n, size in enumerate(sizes)],
        "jobs": [{"name": f"j{number}", "tasks": [{"requests": {"cpu": cpu}}]} for number in range(pods)],
    }


def test_no_choice_has_a_smaller_node_instead_of_a_larger_one(model: str) -> None:
    instance = load(cluster(4, 4, 8, 8, 6, pods=5, cpu=2))
    packing = packing_model(SessionModel(Snapshot(instance, load_policy(model, None, instance=instance))))
    assert packing is not None
    empty = EmptyNodes.of(packing, frozenset())
    assert [sorted(nodes) for nodes in empty.choices(2) or ()] == [["n2", "n3"]]
    assert [sorted(nodes) for nodes in empty.choices(3) or ()] == [["n2", "n3", "n4"]]


def test_nodes_alike_are_chosen_in_order_and_others_in_every_way(model: str) -> None:
    source = cluster(4, 4, 4, pods=2, cpu=1)
    source["nodes"][0]["allocatable"] |= {"memory": "1"}
    for job in source["jobs"]:
        job["tasks"][0]["requests"]["memory"] = 1
    for node in source["nodes"][1:]:
        node["allocatable"] |= {"memory": "8", "cpu": "3"}
    instance = load(source)
    packing = packing_model(SessionModel(Snapshot(instance, load_policy(model, None, instance=instance))))
    assert packing is not None
    empty = EmptyNodes.of(packing, frozenset())
    assert sorted(sorted(nodes) for nodes in empty.choices(1) or ()) == [["n0"], ["n1"]]
    assert sorted(sorted(nodes) for nodes in empty.choices(2) or ()) == [["n0", "n1"], ["n1", "n2"]]


def test_pods_admitted_after_the_nodes_are_counted_use_no_others(tmp_path: Path) -> None:
    """No further pod is placed by packing once a number of nodes was proved."""
    (tmp_path / "model.yaml").write_text(MODEL.replace("[jobs_admitted, LAST]", "[nodes_used, jobs_admitted]"))
    solution = solved(cluster(4, 4, pods=3, cpu=2), str(tmp_path / "model.yaml"))
    assert [(level.name, level.value) for level in solution.levels] == [("nodes_used", 0), ("jobs_admitted", 0)]
    assert solution.status is SolutionStatus.OPTIMAL
