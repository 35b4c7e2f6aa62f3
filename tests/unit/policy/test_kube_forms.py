"""Every released form of the KubeSchedulerConfiguration, read as its own releases understood it."""

from __future__ import annotations

from typing import Any

import pytest

from cpsched.policy import KubeConf, Profile
from cpsched.policy.kube_registry import FORMS
from tests.unit.policy.test_kube_conf import FILTERS, names, refusal

NEW = {"TaintToleration": 3, "NodeAffinity": 2, "InterPodAffinity": 2}
OLD = dict.fromkeys(NEW, 1)
WITH_STRATEGIES = ["v1beta1", "v1alpha2"]


def head(form: str) -> dict[str, str]:
    return {"apiVersion": f"kubescheduler.config.k8s.io/{form}", "kind": "KubeSchedulerConfiguration"}


def parse(form: str, **fields: Any) -> KubeConf:
    return KubeConf.parse({**head(form), **fields}, file="k")


def profile(form: str, **fields: Any) -> Profile:
    (found,) = parse(form, profiles=[fields]).profiles
    return found


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_read_with_its_own_weights(form: str) -> None:
    conf = parse(form)
    (only,) = conf.profiles
    assert only.filters == FILTERS
    assert {name: only.scores[name] for name in NEW} == (NEW if form in ("v1", "v1beta3") else OLD)
    assert only.args == KubeConf.default().profiles[0].args
    assert conf.preempts
    assert conf.doubts == ()


@pytest.mark.parametrize("form", FORMS)
def test_an_old_form_is_stated_with_its_releases(form: str) -> None:
    warnings = parse(form).warnings
    output = f"k: apiVersion: releases {FORMS[form].releases} read {form}: its default weights hold"  # type: ignore[index]
    assert len(warnings) == (form != "v1")
    assert all(warning.startswith(output) for warning in warnings)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "field",
    [
        "leaderElection",
        "clientConnection",
        "healthzBindAddress",
        "metricsBindAddress",
        "enableProfiling",
        "enableContentionProfiling",
    ],
)
@pytest.mark.parametrize("value", ["0.0.0.0:10251", True, {"leaderElect": False}])
def test_what_no_decision_reads_may_be_anything(form: str, field: str, value: object) -> None:
    assert parse(form, **{field: value}) == parse(form)


@pytest.mark.parametrize("form", FORMS)
def test_an_unknown_field_is_a_warning(form: str) -> None:
    warnings = parse(form, leaderElections={}).warnings
    assert len(warnings) == 1 + (form != "v1")
    assert "k: unknown field leaderElections; did you mean leaderElection?" in warnings[-1]


@pytest.mark.parametrize("form", [form for form in FORMS if form != "v1"])
def test_a_plugin_that_has_lost_a_point_since_is_left_out_there(form: str) -> None:
    misfit = {"filter": {"enabled": names("ImageLocality")}}
    fields = {"plugins": misfit} if form == "v1alpha1" else {"profiles": [{"plugins": misfit}]}
    conf = parse(form, **fields)
    assert conf.profiles[0].filters == FILTERS
    assert "plugin ImageLocality has no filter any more; it has score" in conf.warnings[-1]
    assert "plugin ImageLocality has no filter" in refusal({"profiles": [{"plugins": misfit}]})


class TestStrategies:
    """Up to v1beta1 the strategies of NodeResourcesFit were score plugins, LeastAllocated on by default."""

    @pytest.mark.parametrize("form", WITH_STRATEGIES)
    def test_one_takes_the_place_of_the_default(self, form: str) -> None:
        score = {
            "disabled": names("NodeResourcesLeastAllocated"),
            "enabled": [{"name": "NodeResourcesMostAllocated", "weight": 7}],
        }
        config = [
            {"name": "NodeResourcesMostAllocated", "args": {"resources": [{"name": "nvidia.com/gpu", "weight": 3}]}},
            {"name": "NodeResourcesFit", "args": {"ignoredResources": ["a.com/x"]}},
        ]
        found = profile(form, plugins={"score": score}, pluginConfig=config)
        strategy = found.args.fit.scoring_strategy
        assert found.scores["NodeResourcesFit"] == 7
        assert strategy.type == "MostAllocated"
        assert [(one.name, one.weight) for one in strategy.resources] == [("nvidia.com/gpu", 3)]
        assert found.args.fit.ignored_resources == ("a.com/x",)

    def test_the_ratio_brings_its_shape(self) -> None:
        shape = [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]
        score = {"disabled": names("*"), "enabled": names("RequestedToCapacityRatio")}
        config = [{"name": "RequestedToCapacityRatio", "args": {"shape": shape}}]
        found = profile("v1beta1", plugins={"score": score}, pluginConfig=config)
        ratio = found.args.fit.scoring_strategy.requested_to_capacity_ratio
        assert ratio is not None
        assert [(point.utilization, point.score) for point in ratio.shape] == [(0, 0), (100, 10)]
        assert found.scores == {"NodeResourcesFit": 1}

    @pytest.mark.parametrize("off", ["NodeResourcesLeastAllocated", "*"])
    def test_without_any_there_is_no_such_score(self, off: str) -> None:
        assert "NodeResourcesFit" not in profile("v1beta1", plugins={"score": {"disabled": names(off)}}).scores

    def test_arguments_of_the_default_count(self) -> None:
        config = [{"name": "NodeResourcesLeastAllocated", "args": {"resources": names("memory")}}]
        strategy = profile("v1beta1", pluginConfig=config).args.fit.scoring_strategy
        assert (strategy.type, [one.name for one in strategy.resources]) == ("LeastAllocated", ["memory"])

    def test_a_second_one_is_a_doubt(self) -> None:
        score = {"enabled": names("NodeResourcesMostAllocated")}
        conf = parse("v1beta1", profiles=[{"plugins": {"score": score}}])
        assert conf.profiles[0].args.fit.scoring_strategy.type == "LeastAllocated"
        assert [str(doubt) for doubt in conf.doubts] == ["plugin NodeResourcesMostAllocated (node choice)"]

    @pytest.mark.parametrize("form", ["v1", "v1beta3", "v1beta2"])
    def test_later_they_are_plugins_of_the_past(self, form: str) -> None:
        score = {"disabled": names("NodeResourcesLeastAllocated"), "enabled": names("NodeResourcesMostAllocated")}
        conf = parse(form, profiles=[{"plugins": {"score": score}}])
        assert conf.profiles[0].scores["NodeResourcesFit"] == 1
        assert [str(doubt) for doubt in conf.doubts] == ["plugin NodeResourcesMostAllocated (node choice)"]


CONSTRAINT = {"topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}


def test_listed_constraints_were_a_list_without_saying_so() -> None:
    config = [{"name": "PodTopologySpread", "args": {"defaultConstraints": [CONSTRAINT]}}]
    assert profile("v1beta1", pluginConfig=config).args.topology_spread.defaulting_type == "List"
    assert "set defaultingType to List" in refusal({**head("v1beta2"), "profiles": [{"pluginConfig": config}]})


class TestAlpha:
    def test_preemption_could_be_switched_off(self) -> None:
        two = [{"schedulerName": "a"}, {"schedulerName": "b"}]
        assert not parse("v1alpha2", disablePreemption=True, profiles=two).preempts
        assert not parse("v1alpha1", disablePreemption=True).preempts
        assert parse("v1alpha2", disablePreemption=False, bindTimeoutSeconds=5).preempts
        assert "unknown field disablePreemption" in parse("v1beta1", disablePreemption=True).warnings[-1]

    def test_the_first_had_its_profile_at_the_top(self) -> None:
        conf = parse(
            "v1alpha1",
            schedulerName="mine",
            plugins={"score": {"disabled": names("ImageLocality")}},
            pluginConfig=[{"name": "NodeResourcesFit", "args": {"ignoredResources": ["a.com/x"]}}],
            hardPodAffinitySymmetricWeight=50,
            algorithmSource={"provider": "DefaultProvider"},
        )
        (only,) = conf.profiles
        assert only.scheduler_name == "mine"
        assert "ImageLocality" not in only.scores
        assert only.args.fit.ignored_resources == ("a.com/x",)
        assert only.args.inter_pod_affinity.hard_pod_affinity_weight == 50
        assert conf.doubts == ()

    def test_a_policy_that_it_names_is_a_doubt(self) -> None:
        (doubt,) = parse("v1alpha1", algorithmSource={"policy": {"configMap": {"name": "p"}}}).doubts
        assert str(doubt) == "argument algorithmSource.policy (which nodes fit, node choice)"
        assert doubt.text.startswith("algorithmSource: the Policy that is named is not read")
