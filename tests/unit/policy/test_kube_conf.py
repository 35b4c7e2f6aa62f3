from __future__ import annotations

from typing import Any

import pytest

from cpsched.errors import InputError
from cpsched.policy import KubeConf

HEAD = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
FILTERS = (
    "NodeUnschedulable",
    "NodeName",
    "TaintToleration",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesFit",
    "VolumeRestrictions",
    "NodeVolumeLimits",
    "VolumeBinding",
    "VolumeZone",
    "PodTopologySpread",
    "InterPodAffinity",
    "DynamicResources",
    "NodeDeclaredFeatures",
)


def names(*plugin_names: str) -> list[dict[str, Any]]:
    return [{"name": name} for name in plugin_names]


def refusal(given: dict[str, Any], **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        KubeConf.parse({**HEAD, **given}, file="k.yaml", **options)
    return str(caught.value)


class TestDefaults:
    def test_of_the_configuration(self) -> None:
        conf = KubeConf.default()
        assert (conf.version, conf.parallelism, conf.percentage_of_nodes_to_score) == ("1.36", 16, 0)
        assert (conf.pod_initial_backoff_seconds, conf.pod_max_backoff_seconds) == (1, 10)
        assert [one.scheduler_name for one in conf.profiles] == ["default-scheduler"]
        assert (conf.extenders, conf.warnings, conf.preempts) == ((), (), True)

    def test_filters_in_order(self) -> None:
        assert KubeConf.default().profiles[0].filters == FILTERS

    def test_head_looks_at_the_node_name_first_and_has_more_pre_filters(self) -> None:
        old, new = KubeConf.default().profiles[0], KubeConf.default("head").profiles[0]
        assert new.filters[:3] == ("NodeName", "NodeUnschedulable", "TaintToleration")
        assert new.filters[2:] == old.filters[2:]
        assert set(new.pre_filters) - set(old.pre_filters) == {"NodeName", "NodeUnschedulable", "TaintToleration"}

    def test_dynamic_resources_come_before_preemption(self) -> None:
        default = KubeConf.default().profiles[0]
        assert default.post_filters == ("DynamicResources", "DefaultPreemption")
        assert default.preempts

    def test_score_weights(self) -> None:
        assert KubeConf.default().profiles[0].scores == {
            "TaintToleration": 3,
            "NodeAffinity": 2,
            "NodeResourcesFit": 1,
            "VolumeBinding": 1,
            "PodTopologySpread": 2,
            "InterPodAffinity": 2,
            "DynamicResources": 2,
            "NodeResourcesBalancedAllocation": 1,
            "ImageLocality": 1,
        }

    def test_arguments(self) -> None:
        default = KubeConf.default().profiles[0].args
        preemption = default.default_preemption
        assert (preemption.min_candidate_nodes_percentage, preemption.min_candidate_nodes_absolute) == (10, 100)
        assert default.inter_pod_affinity.hard_pod_affinity_weight == 1
        assert not default.inter_pod_affinity.ignore_preferred_terms_of_existing_pods
        assert default.node_affinity.added_affinity is None
        assert (default.fit.ignored_resources, default.fit.ignored_resource_groups) == ((), ())
        assert default.fit.scoring_strategy.type == "LeastAllocated"
        both = [("cpu", 1), ("memory", 1)]
        assert [(r.name, r.weight) for r in default.fit.scoring_strategy.resources] == both
        assert [(r.name, r.weight) for r in default.balanced_allocation.resources] == both
        assert default.topology_spread.system_defaulted
        assert [(c.topology_key, c.max_skew, c.when_unsatisfiable) for c in default.topology_spread.constraints] == [
            ("kubernetes.io/hostname", 3, "ScheduleAnyway"),
            ("topology.kubernetes.io/zone", 5, "ScheduleAnyway"),
        ]
        assert default.volume_binding.bind_timeout_seconds == 600
        assert default.dynamic_resources.filter_timeout == 10_000_000_000
        assert default.dynamic_resources.binding_timeout == 600_000_000_000

    @pytest.mark.parametrize("version", ["1.36", "head"])
    def test_a_shape_of_volume_binding_came_with_1_37(self, version: str) -> None:
        shape = KubeConf.default(version).profiles[0].args.volume_binding.shape
        points = None if shape is None else [(point.utilization, point.score) for point in shape]
        assert points == {"1.36": None, "head": [(0, 10), (100, 0)]}[version]


class TestProfiles:
    def test_a_profile_s_percentage_wins_even_if_it_is_zero(self) -> None:
        profiles = [{"schedulerName": "a"}, {"schedulerName": "b", "percentageOfNodesToScore": 0}]
        conf = KubeConf.parse({**HEAD, "percentageOfNodesToScore": 30, "profiles": profiles})
        assert [one.percentage_of_nodes_to_score for one in conf.profiles] == [30, 0]

    def test_are_found_by_scheduler_name(self) -> None:
        off = {"postFilter": {"disabled": names("*")}}
        conf = KubeConf.parse({**HEAD, "profiles": [{"schedulerName": "a"}, {"schedulerName": "b", "plugins": off}]})
        assert [(one.scheduler_name, one.preempts) for one in conf.profiles] == [("a", True), ("b", False)]
        assert conf.profile("b") is conf.profiles[1]
        assert conf.profile("default-scheduler") is None
        assert conf.preempts

    @pytest.mark.parametrize(
        ("given", "text"),
        [
            ({"profiles": [{}, {"schedulerName": "a"}]}, "profiles[0].schedulerName: is missing"),
            ({"profiles": [{"schedulerName": "a"}] * 2}, "profiles[1].schedulerName: a is the name of an earlier"),
            ({"profiles": [{"schedulerName": ""}]}, "profiles[0].schedulerName: is missing"),
            (
                {
                    "profiles": [
                        {"schedulerName": "a"},
                        {"schedulerName": "b", "plugins": {"queueSort": {"enabled": names("PrioritySort")}}},
                    ]
                },
                "queueSort differs between profiles",
            ),
            ({"percentageOfNodesToScore": 101}, "percentageOfNodesToScore: 101 does not fit"),
            ({"parallelism": 0}, "parallelism: 0 does not fit"),
            ({"podInitialBackoffSeconds": 0}, "podInitialBackoffSeconds: 0 does not fit"),
            ({"podInitialBackoffSeconds": 11}, "podMaxBackoffSeconds: is shorter than podInitialBackoffSeconds"),
            ({"apiVersion": "kubescheduler.config.k8s.io/v2"}, "apiVersion: unknown version"),
            ({"apiVersion": "componentconfig/v1alpha1"}, "write kubescheduler.config.k8s.io/v1; also known: v1beta3,"),
            ({"apiVersion": None}, "apiVersion: is missing; write kubescheduler.config.k8s.io/v1"),
        ],
    )
    def test_refused(self, given: dict[str, Any], text: str) -> None:
        assert text in refusal(given)

    def test_an_unknown_release_is_named(self) -> None:
        assert refusal({}, version="1.30") == 'kube-scheduler release "1.30" is not known; known: 1.36, head'


class TestExtenders:
    def test_those_that_may_fail_are_asked_last(self) -> None:
        given = [{"urlPrefix": "http://a", "ignorable": True}, {"urlPrefix": "http://b"}, {"urlPrefix": "http://c"}]
        conf = KubeConf.parse({**HEAD, "extenders": given})
        assert [extender.url_prefix for extender in conf.extenders] == ["http://b", "http://c", "http://a"]

    def test_fields(self) -> None:
        given = {
            "urlPrefix": "https://a",
            "filterVerb": "f",
            "prioritizeVerb": "p",
            "preemptVerb": "e",
            "bindVerb": "b",
            "weight": 2,
            "enableHTTPS": True,
            "tlsConfig": {"insecure": True, "caFile": "/ca"},
            "httpTimeout": "250ms",
            "nodeCacheCapable": True,
            "managedResources": [{"name": "example.com/foo"}],
            "ignorable": True,
        }
        (extender,) = KubeConf.parse({**HEAD, "extenders": [given]}).extenders
        assert (extender.filter_verb, extender.prioritize_verb) == ("f", "p")
        assert (extender.preempt_verb, extender.bind_verb) == ("e", "b")
        assert (extender.weight, extender.http_timeout, extender.enable_https) == (2, 250_000_000, True)
        assert extender.tls_config is not None
        assert extender.tls_config.ca_file == "/ca"
        assert extender.node_cache_capable
        assert [resource.name for resource in extender.managed_resources] == ["example.com/foo"]

    @pytest.mark.parametrize("given", [{}, {"httpTimeout": "0s"}])
    def test_no_timeout_is_five_seconds(self, given: dict[str, Any]) -> None:
        (extender,) = KubeConf.parse({**HEAD, "extenders": [{"urlPrefix": "http://a", **given}]}).extenders
        assert extender.http_timeout == 5_000_000_000

    def test_resources_they_take_over_replace_the_ignored_ones_of_every_profile(self) -> None:
        managed = [{"name": "a.com/x", "ignoredByScheduler": True}, {"name": "a.com/y"}]
        fit = [{"name": "NodeResourcesFit", "args": {"ignoredResources": ["b.com/z"]}}]
        profiles = [{"schedulerName": "a", "pluginConfig": fit}, {"schedulerName": "b"}]
        extenders = [{"urlPrefix": "http://a", "managedResources": managed}]
        conf = KubeConf.parse({**HEAD, "profiles": profiles, "extenders": extenders})
        assert [one.args.fit.ignored_resources for one in conf.profiles] == [("a.com/x",), ("a.com/x",)]
        without = KubeConf.parse({**HEAD, "profiles": profiles})
        assert [one.args.fit.ignored_resources for one in without.profiles] == [("b.com/z",), ()]

    @pytest.mark.parametrize(
        ("given", "text"),
        [
            ([{}], "extenders[0].urlPrefix: is missing"),
            ([{"urlPrefix": "x", "prioritizeVerb": "p"}], "needs a weight above 0"),
            ([{"urlPrefix": "x", "bindVerb": "b"}] * 2, "several extenders have a bindVerb"),
            ([{"urlPrefix": "x", "managedResources": names("a.com/x")}] * 2, "a.com/x is managed twice"),
            ([{"urlPrefix": "x", "managedResources": [{"name": 5}]}], "managedResources[0].name: 5 does not fit"),
            ([{"urlPrefix": "x", "managedResources": names("cpu")}], "cpu is not an extended resource"),
        ],
    )
    def test_refused(self, given: list[dict[str, Any]], text: str) -> None:
        assert text in refusal({"extenders": given})

    def test_an_unknown_field_is_a_warning(self) -> None:
        conf = KubeConf.parse({**HEAD, "extenders": [{"urlPrefix": "x", "filterverb": "f"}]})
        (warning,) = conf.warnings
        assert "extenders[0]: unknown field filterverb; did you mean filterVerb?" in warning
        assert [extender.filter_verb for extender in conf.extenders] == [""]
