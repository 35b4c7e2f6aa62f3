"""Candidate nodes of a task that preempts: the heuristic's victims, the optimal ones, and who says no and why."""

from __future__ import annotations

from typing import Any

import cpsched
from cpsched.explanation import Explanation
from cpsched.explanation.result import Candidate
from tests.judge import cluster, conf, job, pending, running

CONF = conf("allocate, preempt", "priority", "gang", "predicates", "nodeorder")


def rows(found: Explanation) -> dict[str, Candidate]:
    return {row.node: row for row in found.candidates}


def preempting(**fields: Any) -> dict[str, Any]:
    """On n1 one large and two small pods could go for the task, n2 holds a costly one, n3 no task that may go."""
    return cluster(
        job("large", running(2, node="n1"), priority=100, minMember=0),
        job("small", running(1, 2, node="n1"), priority=10, minMember=0),
        job("costly", running(4, node="n2"), priority=1000, minMember=0),
        job("new", pending(2), priority=1000, minMember=1),
        nodes=[
            {"name": "n1", "allocatable": {"cpu": 4, "pods": 9}},
            {"name": "n2", "allocatable": {"cpu": 4, "pods": 9}},
            {"name": "n3", "allocatable": {"cpu": 4, "pods": 9}, "taints": [{"key": "x", "effect": "NoSchedule"}]},
        ],
        **fields,
    )


def test_volcano_shows_every_node_with_both_vectors():
    found = cpsched.explain(cpsched.load(preempting(conf=CONF)), task="new/task-0", engine="volcano", workers=1)
    by_node = rows(found)
    assert set(by_node) == {"n1", "n2", "n3"}
    n1 = by_node["n1"]
    assert n1.chosen
    assert n1.best
    assert n1.heuristic is not None
    assert n1.optimal is not None
    assert n1.optimal.tasks == ("small/task-0", "small/task-1")
    assert list(n1.optimal.levels.values())[:3] == [10, 2 * (10 + 2**31), 2]
    assert n1.heuristic.levels.keys() == n1.optimal.levels.keys()
    assert by_node["n2"].reason == "the plugins spare all 1 who could be evicted"
    assert by_node["n2"].optimal_reason == "no victims it may take would do"
    assert "untolerated taint" in by_node["n3"].reason
    assert [row.node for row in found.candidates if row.best] == ["n1"]


def test_topology_aware_mode_is_asked_in_its_own_way():
    aware = {**CONF, "configurations": [{"name": "preempt", "arguments": {"enableTopologyAwarePreemption": True}}]}
    found = cpsched.explain(cpsched.load(preempting(conf=aware)), task="new/task-0", engine="volcano", workers=1)
    n1 = rows(found)["n1"]
    assert n1.heuristic is not None
    assert n1.heuristic.tasks == ("small/task-0", "small/task-1")


def test_a_node_that_is_not_enough_says_so():
    source = cluster(
        job("old", running(1), priority=10, minMember=0),
        job("rest", running(1), priority=1000),
        job("big", running(4, node="n2"), priority=10, minMember=0),
        job("new", pending(2), priority=100),
        nodes={"n1": 2, "n2": 4},
        conf=CONF,
    )
    found = cpsched.explain(cpsched.load(source), task="new/task-0", engine="volcano", workers=1)
    assert rows(found)["n1"].reason == "not enough room even if all 1 victims go"


def test_reclaim_is_asked_where_reclaim_evicts():
    source = cluster(
        job("greedy", running(1, 4), queue="left", minMember=0),
        job("new", pending(1), queue="right"),
        queues=[{"name": "left"}, {"name": "right"}],
        conf=conf("allocate, reclaim", "priority", "gang", "proportion", "predicates"),
    )
    found = cpsched.explain(cpsched.load(source), task="new/task-0", engine="volcano", workers=1)
    [row] = found.candidates
    assert row.chosen
    assert row.heuristic is not None
    assert row.optimal is not None
    assert len(row.heuristic.tasks) == len(row.optimal.tasks) == 1


def test_kube_shows_its_own_greedy_set_beside_the_optimal_one():
    instance = cpsched.load("instances/tiny/kube-greedy-not-minimum.yaml")
    stays = [key for key, task in instance.tasks.items() if not task.node]
    found = cpsched.explain(instance, task=stays[0], model="kube", engine="kube", workers=1)
    worse = [
        row for row in found.candidates if row.heuristic and row.optimal and row.heuristic.tasks != row.optimal.tasks
    ]
    assert worse
    assert worse[0].heuristic is not None
    assert worse[0].optimal is not None
    assert worse[0].optimal.levels["victim_count"] < worse[0].heuristic.levels["victim_count"]  # type: ignore[operator]
    assert next(iter(worse[0].optimal.levels)) == "pdb_violations"


def test_kubes_own_count_of_violations_is_stated_where_it_is_wrong():
    instance = cpsched.load("instances/tiny/kube-pdb-overcount.yaml")
    stays = [key for key, task in instance.tasks.items() if not task.node]
    found = cpsched.explain(instance, task=stays[0], model="kube", engine="kube", workers=1)
    assert any("by kube-scheduler's count" in note for note in found.notes)


def test_a_job_points_to_its_preempting_task():
    found = cpsched.explain(cpsched.load(preempting(conf=CONF)), job="new", engine="volcano", workers=1)
    assert found.notes == ("explain --task new/task-0 shows its candidate nodes and victims",)
