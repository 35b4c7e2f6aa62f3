"""What clusters have now and then: PodGroups without pods, and jobs whose queue is gone (`cache.go:Snapshot`)."""

from __future__ import annotations

from cpsched.importers.load import load
from cpsched.objectives import levels
from cpsched.policy import load_model, policy_for
from cpsched.rules import Decision, violations
from cpsched.snapshot import Snapshot
from cpsched.solution import Solution
from tests.unit.greedy_volcano.cluster import conf, group, node, pod, priority_class, queue, run

OVERCOMMIT = {"name": "overcommit", "arguments": {"overcommit-factor": "1.0"}}
ENTERING = conf("enqueue, allocate", ("priority", "gang", OVERCOMMIT, "predicates"))
EVICTING = conf("allocate, preempt, reclaim", ("priority", "gang", "predicates", "proportion"))


def test_a_group_without_pods_enters_and_its_minimum_counts_for_those_after_it() -> None:
    objects = [
        node("n0", cpu="4"),
        queue(),
        group("first", phase="Pending", second=1, minResources={"cpu": "3"}),
        group("second", phase="Pending", second=2, minResources={"cpu": "2"}),
        pod("second-0", "second", cpu="2"),
    ]
    found = run(objects, ENTERING).solution
    assert found.phases == {"ns/first": "Inqueue", "ns/second": "Pending"}
    assert found.binds == {}
    objects[2] = group("first", phase="Pending", second=1, minResources={"cpu": "2"})
    found = run(objects, ENTERING).solution
    assert found.phases == {"ns/first": "Inqueue", "ns/second": "Inqueue"}
    assert found.binds == {"ns/second-0": "n0"}


def test_a_group_without_pods_that_was_let_in_keeps_its_claim() -> None:
    """The same for the checker: no task may enter into what it was promised."""
    objects = [
        node("n0", cpu="4"),
        queue(),
        group("first", minResources={"cpu": "3"}),
        group("second", phase="Pending", minResources={"cpu": "2"}),
        pod("second-0", "second", cpu="2"),
    ]
    assert run(objects, ENTERING).solution.phases == {"ns/first": "Inqueue", "ns/second": "Pending"}
    snapshot = Snapshot(load(objects), policy_for(load_model("volcano"), ENTERING))
    entered = Decision.of(snapshot, Solution.parse({"binds": {"ns/second-0": "n0"}}))
    assert [violation.rule for violation in violations(entered)] == ["enqueue"]


def test_a_group_without_pods_that_needs_none_is_complete() -> None:
    """0 of 0 tasks are placed, and all of them have ended; one that needs some goes on waiting."""
    objects = [node("n0"), queue(), group("none", minimum=0), group("some"), group("old", phase="Running")]
    found = run(objects, ENTERING)
    assert found.solution.phases == {"ns/none": "Completed", "ns/old": "Pending", "ns/some": "Inqueue"}
    assert found.messages == {}


def test_a_group_without_pods_is_never_admitted() -> None:
    snapshot = Snapshot(load([node("n0"), queue(), group("g")]), policy_for(load_model("volcano"), EVICTING))
    assert snapshot.starving == ()
    assert not [level for level in levels(Decision.of(snapshot, Solution())) if level.name == "jobs_admitted"]


def test_pods_of_a_job_without_a_queue_stay_where_they_are_and_wait_for_ever() -> None:
    objects = [
        node("n0", cpu="2"),
        queue(),
        queue("other"),
        priority_class("high", 1000),
        group("lost", queue="gone", phase="Running"),
        pod("lost-0", "lost", cpu="2", on="n0"),
        pod("lost-1", "lost", cpu="1"),
        group("a", priorityClassName="high"),
        pod("a-0", "a", cpu="1"),
        group("b", queue="other", priorityClassName="high"),
        pod("b-0", "b", cpu="1"),
    ]
    found = run(objects, EVICTING).solution
    assert (found.binds, found.pipelined, found.evicted) == ({}, {}, frozenset())
    assert sorted(found.phases) == ["ns/a", "ns/b"]
    assert sorted(found.unplaced) == ["ns/a-0", "ns/b-0"]
    snapshot = Snapshot(load(objects), policy_for(load_model("volcano"), EVICTING))
    taken = Solution.parse({"pipelined": {"ns/a-0": "n0"}, "evictions": [{"task": "ns/lost-0"}]})
    assert "eviction" in [violation.rule for violation in violations(Decision.of(snapshot, taken))]
    placed = Solution.parse({"binds": {"ns/lost-1": "n0"}})
    assert "assignment" in [violation.rule for violation in violations(Decision.of(snapshot, placed))]
