from __future__ import annotations

from typing import Any

import pytest

from cpsched.errors import InputError
from cpsched.policy import KubeConf, Profile
from cpsched.policy.kube_registry import plugins

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


def profile(version: str = "1.36", **fields: Any) -> Profile:
    return KubeConf.parse({**HEAD, "profiles": [fields]}, version=version).profiles[0]


def with_plugins(**points: Any) -> Profile:
    return profile(plugins=points)


def names(*plugin_names: str) -> list[dict[str, Any]]:
    return [{"name": name} for name in plugin_names]


def refusal(given: dict[str, Any], **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        KubeConf.parse({**HEAD, **given}, file="k.yaml", **options)
    return str(caught.value)


def test_a_disabled_filter_leaves_the_other_points_alone() -> None:
    changed = with_plugins(filter={"disabled": names("NodeAffinity")})
    assert changed.filters == tuple(name for name in FILTERS if name != "NodeAffinity")
    assert "NodeAffinity" in changed.pre_filters
    assert changed.scores["NodeAffinity"] == 2


def test_disabled_everywhere() -> None:
    changed = with_plugins(multiPoint={"disabled": names("NodeAffinity")})
    assert "NodeAffinity" not in {*changed.filters, *changed.pre_filters, *changed.scores}


def test_star_takes_all_defaults_of_a_point_and_keeps_what_is_enabled() -> None:
    changed = with_plugins(filter={"disabled": names("*"), "enabled": names("NodePorts", "NodeName")})
    assert changed.filters == ("NodePorts", "NodeName")
    assert "InterPodAffinity" in changed.pre_filters


def test_star_everywhere() -> None:
    enabled = names("PrioritySort", "NodeResourcesFit", "DefaultBinder")
    changed = with_plugins(multiPoint={"disabled": names("*"), "enabled": enabled})
    assert changed.filters == ("NodeResourcesFit",)
    assert changed.scores == {"NodeResourcesFit": 1}
    assert changed.post_filters == ()
    assert not changed.preempts


def test_an_override_runs_first_and_a_re_enabled_plugin_last() -> None:
    override = with_plugins(filter={"enabled": names("InterPodAffinity", "NodePorts")})
    assert override.filters[:3] == ("InterPodAffinity", "NodePorts", "NodeUnschedulable")
    again = with_plugins(filter={"disabled": names("NodePorts"), "enabled": names("NodePorts")})
    assert again.filters[-1] == "NodePorts"
    assert len(again.filters) == len(FILTERS)


def test_a_re_configured_default_keeps_its_place_and_takes_the_new_weight() -> None:
    changed = with_plugins(multiPoint={"enabled": [{"name": "NodeAffinity", "weight": 9}]})
    assert changed.filters == FILTERS
    assert changed.scores["NodeAffinity"] == 9


def test_a_point_s_own_weight_wins_and_no_weight_is_one() -> None:
    multi = {"enabled": [{"name": "TaintToleration", "weight": 9}]}
    changed = with_plugins(multiPoint=multi, score={"enabled": [{"name": "TaintToleration", "weight": 5}]})
    assert changed.scores["TaintToleration"] == 5
    assert with_plugins(score={"enabled": names("TaintToleration")}).scores["TaintToleration"] == 1
    zero = {"disabled": names("TaintToleration"), "enabled": [{"name": "TaintToleration", "weight": 0}]}
    assert with_plugins(score=zero).scores["TaintToleration"] == 1


def test_without_preemption_dynamic_resources_are_still_a_post_filter() -> None:
    changed = with_plugins(postFilter={"disabled": names("DefaultPreemption")})
    assert changed.post_filters == ("DynamicResources",)
    assert not changed.preempts


@pytest.mark.parametrize(
    ("points", "text"),
    [
        ({"filter": {"enabled": names("ImageLocality")}}, "plugin ImageLocality has no filter; it has score"),
        (
            {"score": {"enabled": names("ImageLocality") * 2}},
            "score.enabled: plugin ImageLocality is enabled twice",
        ),
        (
            {"multiPoint": {"enabled": names("NodeName") * 2}},
            "multiPoint.enabled: plugin NodeName is enabled twice",
        ),
        ({"queueSort": {"disabled": names("*")}}, "needs exactly one queueSort plugin"),
        ({"bind": {"disabled": names("DefaultBinder")}}, "needs a bind plugin"),
    ],
)
def test_what_upstream_refuses_is_refused(points: dict[str, Any], text: str) -> None:
    assert text in refusal({"profiles": [{"plugins": points}]})


@pytest.mark.parametrize(
    ("points", "text"),
    [
        (
            {"filter": {"disabled": names("NodePort")}},
            'filter.disabled: unknown plugin "NodePort": disabling it changes nothing; did you mean NodePorts?',
        ),
        ({"filters": {}}, "profiles[0].plugins: unknown extension point filters; did you mean filter?"),
        ({"filter": {"disable": []}}, "profiles[0].plugins.filter: unknown field disable; did you mean disabled?"),
        ({"podGroupPostFilter": {}}, "unknown extension point podGroupPostFilter"),
    ],
)
def test_what_is_not_known_is_a_warning_and_an_error_to_the_strict(points: dict[str, Any], text: str) -> None:
    given = {"profiles": [{"plugins": points}]}
    assert text in refusal(given, strict=True)
    conf = KubeConf.parse({**HEAD, **given})
    (warning,) = conf.warnings
    assert text in warning
    assert conf.doubts == ()
    assert conf.profiles[0].filters == FILTERS


def test_head_knows_one_point_more() -> None:
    assert profile("head", plugins={"podGroupPostFilter": {}}).preempts


def test_the_two_releases_have_the_same_plugins() -> None:
    assert set(plugins("1.36")) == set(plugins("head"))
