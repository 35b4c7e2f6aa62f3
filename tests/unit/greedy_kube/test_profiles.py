"""Several profiles in one configuration: mirror, checker and optimum decide each pod by that of its schedulerName."""

from __future__ import annotations

from typing import Any

import pytest

from cpsched import engines
from cpsched.options import Options
from cpsched.policy import Policy
from cpsched.rules import Decision, violations
from cpsched.snapshot import Snapshot
from cpsched.solution import Eviction, Solution
from tests.unit.greedy_kube.build import instance, node, pod, policy

HEAD = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def profiles(**plugins: dict[str, Any]) -> Policy:
    """A profile per name with these plugins."""
    return policy({**HEAD, "profiles": [{"schedulerName": name, "plugins": one} for name, one in plugins.items()]})


def off(point: str, *names: str) -> dict[str, Any]:
    return {point: {"disabled": [{"name": name} for name in names]}}


def decided(given: Policy, engine: str, *objects: dict[str, Any]) -> Solution:
    return engines.run(engine, instance(*objects), given, Options(time_limit=20, deterministic=True))


@pytest.mark.parametrize("engine", ["kube", "optimal"])
def test_a_filter_that_one_profile_leaves_out_holds_for_the_other(engine: str) -> None:
    given = profiles(strict={}, loose=off("filter", "NodeUnschedulable", "TaintToleration"))
    cordoned = {**node("n", "4"), "spec": {"unschedulable": True}}
    pods = [
        pod("a", "1", schedulerName="strict"),
        pod("b", "1", schedulerName="loose"),
        pod("c", "1", schedulerName="x"),
    ]
    assert decided(given, engine, cordoned, *pods).binds == {"default/b": "n"}


def test_scores_are_those_of_the_pods_own_profile() -> None:
    given = {
        **HEAD,
        "profiles": [
            {
                "schedulerName": name,
                "pluginConfig": [{"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": kind}}}],
            }
            for name, kind in (("spread", "LeastAllocated"), ("pack", "MostAllocated"))
        ],
    }
    for name, chosen in (("spread", "empty"), ("pack", "used")):
        objects = [
            node("empty", "8"),
            node("used", "8"),
            pod("old", "4", on="used"),
            pod("new", "1", schedulerName=name),
        ]
        assert decided(policy(given), "kube", *objects).binds == {"default/new": chosen}


@pytest.mark.parametrize("engine", ["kube", "optimal"])
@pytest.mark.parametrize(("name", "evicts"), [("evicting", True), ("calm", False)])
def test_only_pods_of_a_profile_that_preempts_evict(engine: str, name: str, evicts: bool) -> None:
    given = profiles(evicting={}, calm=off("postFilter", "DefaultPreemption"))
    objects = [node("n", "4"), pod("old", "4", on="n"), pod("new", "4", priority=9, schedulerName=name)]
    found = decided(given, engine, *objects)
    assert found.evicted == ({"default/old"} if evicts else frozenset())
    assert found.findings == ()


def test_the_checker_sees_an_eviction_for_the_wrong_profile() -> None:
    given = profiles(evicting={}, calm=off("postFilter", "DefaultPreemption"))
    objects = [node("n", "4"), pod("old", "4", on="n"), pod("new", "4", priority=9, schedulerName="calm")]
    eviction = Eviction(task="default/old", node="n", action="preempt", for_job="default/new")
    wrong = Solution(pipelined={"default/new": "n"}, evictions=(eviction,))
    found = violations(Decision.of(Snapshot(instance(*objects), given), wrong))
    assert "eviction" in {rule for rule, _, _ in found}


def test_two_pods_alike_but_for_their_profile_are_stated_apart() -> None:
    given = profiles(evicting={}, calm=off("postFilter", "DefaultPreemption"))
    pods = [pod(name, "4", priority=9, schedulerName=name) for name in ("calm", "evicting")]
    found = decided(given, "optimal", node("n", "4"), pod("old", "4", on="n"), *pods)
    assert found.pipelined == {"default/evicting": "n"}
    assert [one.for_job for one in found.evictions] == ["default/evicting"]
