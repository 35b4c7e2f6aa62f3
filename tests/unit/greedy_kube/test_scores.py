"""Scores by hand where the recorded rows are thin."""

from __future__ import annotations

from typing import Any

import pytest

from cpsched.greedy.kube.scores.curve import Curve
from cpsched.policy.kube_args import ShapePoint
from tests.unit.greedy_kube.build import HOST, ZONE, attempt, conf, node, pod, run, spread

MEGABYTE = 2**20


def scores(plugin: str, *objects: dict[str, Any], **options: Any) -> dict[str, int]:
    found = attempt(*objects, **options)
    assert found.result == "bound"
    return {name: parts[plugin] for name, parts in found.scores.items() if plugin in parts}


def fit_conf(kind: str, *resources: dict[str, Any], **rest: Any) -> dict[str, Any]:
    strategy = {"type": kind, "resources": list(resources), **rest}
    return conf(args={"NodeResourcesFit": {"scoringStrategy": strategy}})


CPU = {"name": "cpu", "weight": 1}


@pytest.mark.parametrize(("kind", "expected"), [("LeastAllocated", (85, 60)), ("MostAllocated", (15, 40))])
def test_room_left_or_used(kind: str, expected: tuple[int, int]) -> None:
    objects = [node("a", "2"), node("b", "1"), pod("r", "200m", on="a"), pod("s", "300m", on="b"), pod("p", "100m")]
    assert tuple(scores("NodeResourcesFit", *objects, given=fit_conf(kind, CPU)).values()) == expected


def test_stand_ins_and_overhead_count_for_scores() -> None:
    objects = [node("a", "1"), node("b", "2"), pod("bare", "", on="a"), pod("p", "100m", overhead={"cpu": "100m"})]
    assert scores("NodeResourcesFit", *objects, given=fit_conf("LeastAllocated", CPU)) == {"a": 70, "b": 90}


def test_pod_level_requests_count_on_the_node_but_not_for_the_incoming_pod() -> None:
    level = {"resources": {"requests": {"cpu": "500m"}}}
    objects = [node("a", "1"), node("b", "1"), pod("r", "100m", on="a", **level), pod("p", "100m", **level)]
    assert scores("NodeResourcesFit", *objects, given=fit_conf("LeastAllocated", CPU)) == {"a": 40, "b": 90}


def test_a_scalar_the_pod_does_not_ask_for_is_left_out() -> None:
    gpu = {"name": "x.com/gpu", "weight": 9}
    rich = node("a", status={"allocatable": {"cpu": "1", "memory": "1Gi", "pods": "9", "x.com/gpu": "4"}})
    given = fit_conf("MostAllocated", CPU, gpu)
    assert scores("NodeResourcesFit", rich, node("b", "2"), pod("p", "500m"), given=given) == {"a": 50, "b": 25}


def test_a_curve_divides_towards_zero_and_drops_zero_scores() -> None:
    curve = Curve((ShapePoint(utilization=0, score=10), ShapePoint(utilization=70, score=7)))
    assert [curve._table[at] for at in (0, 1, 35, 69, 70, 71)] == [100, 100, 85, 71, 70, 70]
    shape = [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]
    memory = {"name": "memory", "weight": 1}
    given = fit_conf("RequestedToCapacityRatio", CPU, memory, requestedToCapacityRatio={"shape": shape})
    tiny = pod("p", "500m", requests={"memory": "1"})
    # Memory is used to 0 % on the 64 GiB nodes, so that only cpu is left in the mean.
    assert scores("NodeResourcesFit", node("a", "1"), node("b", "2"), tiny, given=given) == {"a": 50, "b": 25}


def test_balance_counts_what_the_pod_changes() -> None:
    uneven = pod("r", "500m", on="a", requests={"memory": "0"})
    objects = [node("a", "1", memory="1Gi"), node("b", "1", memory="1Gi"), uneven]
    evens = pod("p", "0", requests={"memory": "512Mi"})
    assert scores("NodeResourcesBalancedAllocation", *objects, evens) == {"a": 87, "b": 62}
    assert scores("NodeResourcesBalancedAllocation", *objects, pod("p", "", requests={})) == {}


def test_balance_of_three_resources_is_the_standard_deviation() -> None:
    resources = [{"name": name} for name in ("cpu", "memory", "ephemeral-storage")]
    given = conf(args={"NodeResourcesBalancedAllocation": {"resources": resources}})
    allocatable = {"cpu": "1", "memory": "1Gi", "ephemeral-storage": "1Gi", "pods": "9"}
    objects = [node("a", status={"allocatable": allocatable}), node("b"), pod("p", "900m")]
    # Before all are 0; afterwards (.9, 0, 0) deviates by .4243: 57 after 100; b lacks the third: (.9, 0) by .45.
    assert scores("NodeResourcesBalancedAllocation", *objects, given=given) == {"a": 53, "b": 52}


def image_node(name: str, images: dict[str, int]) -> dict[str, Any]:
    listed = [{"names": [image], "sizeBytes": size} for image, size in images.items()]
    return node(name, status={"images": listed})


def test_images_by_size_and_spread() -> None:
    nodes = [image_node("a", {"app:latest": 400 * MEGABYTE}), image_node("b", {"other:1": 900 * MEGABYTE})]
    # 400 MB on one of two nodes count as 200 MB of 1000, above 23.
    assert scores("ImageLocality", *nodes, pod("p", image="app")) == {"a": 18, "b": 0}
    assert scores("ImageLocality", *nodes, pod("p", image="host:5000/app")) == {"a": 0, "b": 0}


def test_an_images_size_is_the_one_the_first_node_reports() -> None:
    nodes = [image_node("a", {"app:latest": 500 * MEGABYTE}), image_node("b", {"app:latest": 100 * MEGABYTE})]
    assert scores("ImageLocality", *nodes, pod("p", image="app")) == {"a": 48, "b": 48}


def test_soft_taints() -> None:
    soft = {"effect": "PreferNoSchedule"}
    nodes = [node("a", taints=[{"key": "x", **soft}, {"key": "y", **soft}]), node("b", taints=[{"key": "x", **soft}])]
    tolerant = {"tolerations": [{"key": "x", "operator": "Exists", "effect": "NoSchedule"}]}
    assert scores("TaintToleration", *nodes, node("c"), pod("p", **tolerant)) == {"a": 0, "b": 150, "c": 300}


def test_preferred_nodes_of_pod_and_profile() -> None:
    def prefer(weight: int, value: str) -> dict[str, Any]:
        wish = {"matchExpressions": [{"key": "disk", "operator": "In", "values": [value]}]}
        return {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": weight, "preference": wish}]}

    nodes = [node("a", labels={"disk": "ssd"}), node("b", labels={"disk": "hdd"}), node("c")]
    own = pod("p", affinity={"nodeAffinity": prefer(10, "ssd")})
    assert scores("NodeAffinity", *nodes, own) == {"a": 200, "b": 0, "c": 0}
    added = conf(args={"NodeAffinity": {"addedAffinity": prefer(5, "hdd")}})
    assert scores("NodeAffinity", *nodes, own, given=added) == {"a": 200, "b": 100, "c": 0}


def preferred(kind: str, weight: int, key: str = HOST, **term: Any) -> dict[str, Any]:
    wish = {"labelSelector": {"matchLabels": {"a": "1"}}, "topologyKey": key, **term}
    entry = {"weight": weight, "podAffinityTerm": wish}
    return {"affinity": {kind: {"preferredDuringSchedulingIgnoredDuringExecution": [entry]}}}


def test_preferred_neighbours_both_ways() -> None:
    liked = pod("liked", on="a", labels={"a": "1"})
    assert scores("InterPodAffinity", node("a"), node("b"), liked, pod("p", **preferred("podAffinity", 3))) == {
        "a": 200,
        "b": 0,
    }
    admirer = pod("admirer", on="b", **preferred("podAffinity", 1))
    hater = pod("hater", on="a", **preferred("podAntiAffinity", 5))
    nodes = [node("a"), node("b"), node("c")]
    assert scores("InterPodAffinity", *nodes, admirer, hater, pod("p", labels={"a": "1"})) == {
        "a": 0,
        "b": 200,
        "c": 166,
    }


def test_no_match_no_score_but_a_match_that_cancels_out_scores_zero() -> None:
    assert scores("InterPodAffinity", node("a"), node("b"), pod("p", **preferred("podAffinity", 3))) == {}
    both = [pod(f"l{name}", on=name, labels={"a": "1"}) for name in "ab"]
    assert scores("InterPodAffinity", node("a"), node("b"), *both, pod("p", **preferred("podAffinity", 3))) == {
        "a": 0,
        "b": 0,
    }


@pytest.mark.parametrize(("version", "expected"), [("1.36", {"a": 200, "b": 0}), ("head", {})])
def test_up_to_136_a_negative_namespace_selector_matches_every_namespace(
    version: str, expected: dict[str, int]
) -> None:
    stranger = pod("s", on="a", labels={"a": "1"}, namespace="secret")
    selector = {"matchExpressions": [{"key": "hidden", "operator": "DoesNotExist"}]}
    hidden = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "secret", "labels": {"hidden": "y"}}}
    fond = pod("p", **preferred("podAffinity", 3, namespaceSelector=selector))
    assert scores("InterPodAffinity", hidden, node("a"), node("b"), stranger, fond, version=version) == expected


def test_hard_affinity_of_others_counts_by_its_weight() -> None:
    wish = {"labelSelector": {"matchLabels": {"a": "1"}}, "topologyKey": HOST}
    fond = {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [wish]}}}
    objects = [node("a"), node("b"), pod("fan", on="a", **fond), pod("p", labels={"a": "1"})]
    assert scores("InterPodAffinity", *objects) == {"a": 200, "b": 0}
    none = conf(args={"InterPodAffinity": {"hardPodAffinityWeight": 0}})
    assert scores("InterPodAffinity", *objects, given=none) == {}


def soft(key: str, **rest: Any) -> dict[str, Any]:
    return spread(key, {"a": "1"}, when="ScheduleAnyway", **rest)


def test_soft_spread_counts_staying_pods_and_leaves_keyless_nodes_at_zero() -> None:
    nodes = [node("n1", labels={"z": "1"}), node("n2", labels={"z": "2"}), node("n3")]
    running = [pod(f"r{at}", on="n1", labels={"a": "1"}) for at in range(2)]
    going = pod("going", on="n2", labels={"a": "1"}, going="deleted")
    wide = pod("p", labels={"a": "1"}, topologySpreadConstraints=[soft("z")])
    # Two domains: 2 * ln 4 = 2.77 rounds to 3, 0 stays 0; 100 * (3 + 0 - v) // 3, twice.
    assert scores("PodTopologySpread", *nodes, *running, going, wide) == {"n1": 0, "n2": 200, "n3": 0}


def test_system_defaults_follow_services_and_forgive_a_missing_zone() -> None:
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "default"}}
    service["spec"] = {"selector": {"a": "1"}}
    nodes = [node("n1", labels={ZONE: "1"}), node("n2", labels={ZONE: "2"}), node("n3")]
    running = [pod(f"r{at}", on="n1", labels={"a": "1"}) for at in range(2)]
    found = scores("PodTopologySpread", *nodes, *running, service, pod("p", labels={"a": "1"}))
    # hostname: 2 ln 5 + 2; zone: 2 ln 5 + 4 (three values, one of them missing): 12; n2: 2 + 4; n3: 2.
    assert found == {"n1": 32, "n2": 132, "n3": 200}
    assert scores("PodTopologySpread", *nodes, *running, service, pod("p", labels={"b": "1"})) == {}


def test_hostname_counts_the_nodes_that_are_left() -> None:
    nodes = [node("n1"), node("n2"), node("n3", unschedulable=True)]
    running = [pod(f"r{at}", on="n1", labels={"a": "1"}) for at in range(5)]
    wide = pod("p", labels={"a": "1"}, topologySpreadConstraints=[soft(HOST, skew=3)])
    # 5 * ln 4 + 2 = 8.93 rounds to 9, and 2: 100 * (9 + 2 - v) // 9, twice.
    assert scores("PodTopologySpread", *nodes, *running, wide) == {"n1": 44, "n2": 200}


def test_weights_of_the_profile() -> None:
    plugins = {"score": {"disabled": [{"name": "*"}], "enabled": [{"name": "NodeResourcesFit", "weight": 7}]}}
    found = attempt(node("a", "1"), node("b", "2"), pod("p", "500m"), given=conf(plugins=plugins))
    assert {name: set(parts) for name, parts in found.scores.items()} == {
        "a": {"NodeResourcesFit", "total"},
        "b": {"NodeResourcesFit", "total"},
    }
    assert found.scores["a"]["total"] == 7 * ((50 + 99) // 2)


def test_without_scores_the_first_node_is_taken_and_no_other_looked_for() -> None:
    plugins = {"multiPoint": {"disabled": [{"name": "*"}]}}
    plugins["multiPoint"]["enabled"] = [
        {"name": name} for name in ("PrioritySort", "NodeUnschedulable", "DefaultBinder")
    ]
    result = attempt(node("a", unschedulable=True), node("b"), node("c"), pod("p"), given=conf(plugins=plugins))
    assert (result.node, result.via) == ("b", "only")


def devices(on: str, count: int) -> dict[str, Any]:
    spec = {"driver": "d", "nodeName": on, "pool": {"name": on, "generation": 1, "resourceSliceCount": 1}}
    spec["devices"] = [{"name": f"{on}-{at}"} for at in range(count)]
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": on}, "spec": spec}


def claim_for_two_or_one(name: str) -> dict[str, Any]:
    wishes = [{"name": f"x{count}", "deviceClassName": "any", "count": count} for count in (2, 1)]
    spec = {"devices": {"requests": [{"name": "r", "firstAvailable": wishes}]}}
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": metadata, "spec": spec}


def test_the_first_alternative_of_a_claim_is_preferred_and_devices_are_booked() -> None:
    kind = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "any"}, "spec": {}}
    objects = [node("a"), node("b"), devices("a", 1), devices("b", 2), kind]
    objects += [claim_for_two_or_one(f"c{at}") for at in range(3)]
    pods = [pod(f"p{at}", created=at, resourceClaims=[{"name": "c", "resourceClaimName": f"c{at}"}]) for at in range(3)]
    assert scores("DynamicResources", *objects, pods[0]) == {"a": 2 * (100 * 7 // 8), "b": 200}
    result = run(*objects, *pods)
    assert result.binds == {"default/p0": "b", "default/p1": "a"}
    assert result.attempts[2].post_filter_message.startswith("still not schedulable, preemption: 0/2")


def test_a_node_that_stand_ins_overfill_scores_zero() -> None:
    objects = [node("a", "100m"), node("b", "1"), pod("bare", "", on="a"), pod("p", "", requests={})]
    assert scores("NodeResourcesFit", *objects, given=fit_conf("LeastAllocated", CPU)) == {"a": 0, "b": 90}


def test_an_empty_selector_counts_no_task() -> None:
    wide = pod("p", topologySpreadConstraints=[spread(HOST, {}, when="ScheduleAnyway")])
    assert scores("PodTopologySpread", node("a"), node("b"), pod("r", on="a"), wide) == {"a": 200, "b": 200}


@pytest.mark.parametrize(("policy", "expected"), [("Honor", {"n1": 200, "n2": 200}), ("Ignore", {"n1": 0, "n2": 200})])
def test_inclusion_policies_hold_for_scores(policy: str, expected: dict[str, int]) -> None:
    taint = [{"key": "k", "effect": "NoSchedule"}]
    nodes = [node("n1", labels={"z": "1"}), node("n2", labels={"z": "2"}), node("n3", labels={"z": "1"}, taints=taint)]
    hidden = pod("r", on="n3", labels={"a": "1"})
    wide = pod("p", labels={"a": "1"}, topologySpreadConstraints=[soft("z", nodeTaintsPolicy=policy)])
    assert scores("PodTopologySpread", *nodes, hidden, wide) == expected


def test_terms_of_others_can_be_left_out() -> None:
    admirer = pod("admirer", on="b", **preferred("podAffinity", 1))
    ours = pod("p", labels={"a": "1"})
    ignore = conf(args={"InterPodAffinity": {"ignorePreferredTermsOfExistingPods": True}})
    assert scores("InterPodAffinity", node("a"), node("b"), admirer, ours) == {"a": 0, "b": 200}
    assert scores("InterPodAffinity", node("a"), node("b"), admirer, ours, given=ignore) == {}
    fond = pod("p", labels={"a": "1"}, **preferred("podAntiAffinity", 1, key="none"))
    assert scores("InterPodAffinity", node("a"), node("b"), admirer, fond, given=ignore) == {"a": 0, "b": 200}
