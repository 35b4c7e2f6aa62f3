"""Pod groups behind their gate: together or not at all, victims over the whole cluster."""

from __future__ import annotations

from typing import Any

from cpsched.greedy.kube import Run
from tests.unit.greedy_kube.build import node, pod, run


def group(name: str, priority: int = 0, mode: str = "Single", at_least: int = 1) -> dict[str, Any]:
    disruption = {"all": {}} if mode == "All" else {"single": {}}
    spec = {"priority": priority, "disruptionMode": disruption, "schedulingPolicy": {"gang": {"minCount": at_least}}}
    kind = {"apiVersion": "scheduling.k8s.io/v1alpha1", "kind": "PodGroup"}
    return {**kind, "metadata": {"name": name, "namespace": "default"}, "spec": spec}


def member(name: str, of: str, cpu: str = "1", **rest: Any) -> dict[str, Any]:
    return pod(name, cpu, schedulingGroup={"podGroupName": of}, **rest)


def gang(*objects: dict[str, Any], **options: Any) -> Run:
    return run(*objects, version="head", pod_groups=True, **options)


def test_all_or_no_task() -> None:
    pods = [member(f"p{at}", "g", created=at) for at in range(2)]
    together = gang(node("a"), node("b"), group("g", at_least=2), *pods)
    assert sorted(together.binds.values()) == ["a", "b"]
    assert gang(node("a"), group("g", at_least=2), *pods).binds == {}
    apart = run(node("a"), group("g", at_least=2), *pods)
    assert apart.binds == {"default/p0": "a"}, "with the gate off every pod stands for itself"


def test_nothing_is_left_behind_by_an_attempt_that_failed() -> None:
    pods = [member(f"p{at}", "g", priority=9, created=at) for at in range(2)]
    result = gang(node("a"), group("g", priority=9, at_least=2), *pods, pod("single", "1", created=5))
    assert result.binds == {"default/single": "a"}


def test_victims_follow_from_a_placement_on_the_emptied_cluster() -> None:
    running = [pod("low", "1", on="a"), pod("high", "1", on="b", priority=500), pod("idle", "100m", on="c")]
    pods = [member(f"p{at}", "g", priority=1000, created=at) for at in range(2)]
    result = gang(node("a"), node("b"), node("c", "500m"), group("g", 1000, at_least=2), *running, *pods)
    assert sorted(victim for victim, _, _ in result.evictions) == ["default/high", "default/low"]
    assert {preemptor for _, _, preemptor in result.evictions} == {"default/g"}
    assert sorted(result.nominations.values()) == ["a", "b"]


def test_a_group_that_is_disrupted_as_a_whole_goes_from_all_nodes() -> None:
    running = [member("v1", "whole", on="a"), member("v2", "whole", "100m", on="b")]
    groups = [group("whole", 5, "All"), group("g", 1000)]
    result = gang(node("a"), node("b", "100m"), *groups, *running, member("p", "g", priority=1000))
    assert sorted(victim for victim, _, _ in result.evictions) == ["default/v1", "default/v2"]
    assert result.nominations == {"default/p": "a"}


def test_single_pods_evict_whole_groups_too() -> None:
    running = [member("v1", "whole", on="a"), member("v2", "whole", "100m", on="b")]
    result = gang(node("a"), node("b", "100m"), group("whole", 5, "All"), *running, pod("p", "1", priority=1000))
    assert sorted(victim for victim, _, _ in result.evictions) == ["default/v1", "default/v2"]


def test_a_groups_priority_protects_its_pods() -> None:
    running = member("v", "strong", on="a", priority=0)
    result = gang(node("a"), group("strong", 2000), running, pod("p", "1", priority=1000))
    assert result.evictions == []


def test_never_and_waiting() -> None:
    pods = [member("p", "g", priority=1000, preemptionPolicy="Never")]
    blocked = gang(node("a"), group("g", 1000), pod("v", "1", on="a"), *pods)
    assert blocked.evictions == []
    assert "preemptionPolicy=Never" in blocked.attempts[0].message
    going = pod("v", "1", on="a", going="preempted")
    waiting = gang(node("a"), group("g", 1000), going, member("p", "g", priority=1000, nominated="a"))
    assert waiting.attempts[0].nominating == "keep"
    assert waiting.nominations == {"default/p": "a"}


def test_the_snapshot_is_as_before_when_no_victims_help() -> None:
    running = [pod(name, "100m", on="a") for name in "cab"]
    result = gang(
        node("a"), group("g", 1000, at_least=2), *running, member("p0", "g", priority=1000),
        member("p1", "g", priority=1000, created=1), pod("single", "700m", created=9),
    )  # fmt: skip
    assert result.evictions == []
    assert result.binds == {"default/single": "a"}


def test_a_pod_of_a_group_is_more_important_than_one_alone() -> None:
    running = [member("grouped", "g", "500m", on="a", start=9), pod("alone", "500m", on="a", start=1)]
    result = gang(node("a"), group("g", 0), *running, pod("p", "500m", priority=1000))
    assert [victim for victim, _, _ in result.evictions] == ["default/alone"]


def test_of_two_groups_the_larger_one_stays() -> None:
    small = [member("s", "small", "300m", on="a", start=1)]
    large = [member(f"l{at}", "large", "150m", on="a", start=9) for at in range(2)]
    groups = [group("small", 0, "All"), group("large", 0, "All")]
    result = gang(node("a", "600m"), *groups, *small, *large, pod("p", "300m", priority=1000))
    assert [victim for victim, _, _ in result.evictions] == ["default/s"]


def test_a_gang_spares_its_equals() -> None:
    equal = pod("equal", "1", on="a", priority=1000)
    assert gang(node("a"), group("g", 1000), equal, member("p", "g", priority=1000)).evictions == []
