from __future__ import annotations

from typing import Any

import pytest

from cpsched.errors import InputError
from cpsched.policy import KubeConf, PluginArgs

HEAD = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def args(name: str, version: str = "1.36", **fields: Any) -> PluginArgs:
    return (
        KubeConf.parse({**HEAD, "profiles": [{"pluginConfig": [{"name": name, "args": fields}]}]}, version=version)
        .profiles[0]
        .args
    )


def names(*plugin_names: str) -> list[dict[str, Any]]:
    return [{"name": name} for name in plugin_names]


def refusal(given: dict[str, Any], **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        KubeConf.parse({**HEAD, **given}, file="k.yaml", **options)
    return str(caught.value)


def test_are_read_under_their_own_names() -> None:
    kind = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "InterPodAffinityArgs"}
    read = args("InterPodAffinity", hardPodAffinityWeight=50, ignorePreferredTermsOfExistingPods=True, **kind)
    assert read.inter_pod_affinity.hard_pod_affinity_weight == 50
    assert read.inter_pod_affinity.ignore_preferred_terms_of_existing_pods


def test_null_is_not_given() -> None:
    read = args("DefaultPreemption", minCandidateNodesPercentage=None, minCandidateNodesAbsolute=2)
    preemption = read.default_preemption
    assert (preemption.min_candidate_nodes_percentage, preemption.min_candidate_nodes_absolute) == (10, 2)


def test_added_affinity_has_the_shape_of_a_pod_s() -> None:
    term = {"matchExpressions": [{"key": "disk", "operator": "Exists"}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    affinity = args("NodeAffinity", addedAffinity=required).node_affinity.added_affinity
    assert affinity is not None
    assert affinity.required is not None
    assert affinity.required.node_selector_terms[0].match_expressions[0].key == "disk"


def test_a_resource_weight_of_zero_or_none_is_one_and_no_resource_is_cpu_and_memory() -> None:
    resources = [{"name": "cpu", "weight": 0}, {"name": "memory"}, {"name": "a/b", "weight": 3}]
    strategy = {"type": "MostAllocated", "resources": resources}
    read = args("NodeResourcesFit", scoringStrategy=strategy).fit.scoring_strategy
    assert [resource.weight for resource in read.resources] == [1, 1, 3]
    empty = args("NodeResourcesFit", scoringStrategy={"type": "MostAllocated", "resources": []})
    assert [resource.name for resource in empty.fit.scoring_strategy.resources] == ["cpu", "memory"]


def test_listed_spread_constraints_replace_the_system_s() -> None:
    assert args("PodTopologySpread", defaultingType="List").topology_spread.constraints == ()
    own = [{"maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}]
    spread = args("PodTopologySpread", defaultingType="List", defaultConstraints=own).topology_spread
    assert not spread.system_defaulted
    assert [constraint.max_skew for constraint in spread.constraints] == [2]


def test_resources_and_groups_may_be_ignored() -> None:
    fit = args("NodeResourcesFit", ignoredResources=["a.com/x"], ignoredResourceGroups=["b.com"]).fit
    assert (fit.ignored_resources, fit.ignored_resource_groups) == (("a.com/x",), ("b.com",))


def test_durations() -> None:
    read = args("DynamicResources", filterTimeout="0s", bindingTimeout="1.5s").dynamic_resources
    assert (read.filter_timeout, read.binding_timeout) == (0, 1_500_000_000)


ZONE = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
RATIO = "RequestedToCapacityRatio"


@pytest.mark.parametrize(
    ("name", "fields", "text"),
    [
        ("DefaultPreemption", {"minCandidateNodesPercentage": 0, "minCandidateNodesAbsolute": 0}, "are both 0"),
        ("DefaultPreemption", {"minCandidateNodesPercentage": 101}, "less than or equal to 100"),
        ("DefaultPreemption", {"minCandidateNodesAbsolute": -1}, "greater than or equal to 0"),
        ("DefaultPreemption", {"minCandidateNodesAbsolute": "5"}, '"5" does not fit; it should be a whole number'),
        ("InterPodAffinity", {"hardPodAffinityWeight": 101}, "less than or equal to 100"),
        ("InterPodAffinity", {"kind": "Affinity"}, "kind is Affinity; it should be InterPodAffinityArgs"),
        ("NodeResourcesFit", {"scoringStrategy": {"resources": []}}, "scoringStrategy.type: is missing"),
        (
            "NodeResourcesFit",
            {"ignoredResourceGroups": [5]},
            "ignoredResourceGroups[0]: 5 does not fit; it should be a text",
        ),
        ("NodeResourcesFit", {"scoringStrategy": {"type": "Most"}}, "should be 'LeastAllocated', 'MostAllocated'"),
        ("NodeResourcesFit", {"scoringStrategy": {"type": RATIO}}, "belongs to the type RequestedToCapacityRatio"),
        (
            "NodeResourcesFit",
            {"scoringStrategy": {"type": RATIO, "requestedToCapacityRatio": {"shape": [{"utilization": 9}] * 2}}},
            "the utilizations do not increase",
        ),
        (
            "NodeResourcesFit",
            {"scoringStrategy": {"type": RATIO, "requestedToCapacityRatio": {"shape": [{"score": 11}]}}},
            "shape[0].score: 11 does not fit",
        ),
        (
            "NodeResourcesFit",
            {"scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 101}]}},
            "resources[0].weight: 101 does not fit",
        ),
        ("NodeResourcesFit", {"ignoredResourceGroups": ["a/b"]}, "a/b has a slash"),
        ("NodeResourcesBalancedAllocation", {"resources": [{"name": "cpu", "weight": 2}]}, "is not 1"),
        ("NodeResourcesBalancedAllocation", {"resources": names("cpu", "cpu")}, "one resource twice"),
        ("PodTopologySpread", {"defaultConstraints": [ZONE]}, "set defaultingType to List"),
        ("PodTopologySpread", {"defaultingType": "None"}, "should be 'System' or 'List'"),
        (
            "PodTopologySpread",
            {"defaultingType": "List", "defaultConstraints": [ZONE, ZONE]},
            "repeats a topologyKey",
        ),
        (
            "PodTopologySpread",
            {"defaultingType": "List", "defaultConstraints": [{**ZONE, "maxSkew": 0}]},
            "maxSkew",
        ),
        (
            "PodTopologySpread",
            {"defaultingType": "List", "defaultConstraints": [{**ZONE, "labelSelector": {}}]},
            "no labelSelector",
        ),
        (
            "PodTopologySpread",
            {"defaultingType": "List", "defaultConstraints": [{**ZONE, "whenUnsatisfiable": "Never"}]},
            "is DoNotSchedule or ScheduleAnyway",
        ),
        ("VolumeBinding", {"bindTimeoutSeconds": -1}, "greater than or equal to 0"),
        ("VolumeBinding", {"shape": [{"utilization": 0}]}, "1.36 refuses a shape"),
        ("DynamicResources", {"filterTimeout": 5}, "5 is not a duration"),
        ("DynamicResources", {"bindingTimeout": "500ms"}, "bindingTimeout"),
    ],
)
def test_what_upstream_refuses_is_refused(name: str, fields: dict[str, Any], text: str) -> None:
    message = refusal({"profiles": [{"pluginConfig": [{"name": name, "args": fields}]}]})
    assert text in message
    assert message.startswith(f"k.yaml: profiles[0].pluginConfig.{name}")


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        (
            {"name": "NodeResourcesFit", "args": {"ignoredResource": []}},
            "pluginConfig.NodeResourcesFit: unknown field ignoredResource; did you mean ignoredResources?",
        ),
        (
            {"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": "MostAllocated", "weights": 1}}},
            "NodeResourcesFit.scoringStrategy: unknown field weights",
        ),
        ({"name": "NodeName", "args": {"a": 1}}, "plugin NodeName takes no arguments"),
        ({"name": "NodeResourceFit", "args": {}}, 'the unknown plugin "NodeResourceFit" are ignored; did you mean Nod'),
    ],
)
def test_what_is_not_known_is_a_warning_and_an_error_to_the_strict(entry: dict[str, Any], text: str) -> None:
    given = {"profiles": [{"pluginConfig": [entry]}]}
    assert text in refusal(given, strict=True)
    (warning,) = KubeConf.parse({**HEAD, **given}).warnings
    assert text in warning


def test_a_plugin_is_configured_once() -> None:
    twice = [{"name": "NodeAffinity"}, {"name": "NodeAffinity"}]
    assert "plugin NodeAffinity is configured twice" in refusal({"profiles": [{"pluginConfig": twice}]})


def test_head_takes_a_shape_of_volume_binding() -> None:
    shape = args("VolumeBinding", "head", shape=[{"utilization": 5, "score": 1}]).volume_binding.shape
    assert shape is not None
    assert [(point.utilization, point.score) for point in shape] == [(5, 1)]
