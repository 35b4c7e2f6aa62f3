from __future__ import annotations

from typing import Any

import pytest

from cpsched.errors import InputError
from cpsched.policy import VolcanoConf, packing_weights, revocable_zones
from cpsched.policy.volcano_registry import FLAGS


def conf(*plugins: dict[str, Any], **others: Any) -> dict[str, Any]:
    return {"actions": "allocate", "tiers": [{"plugins": list(plugins)}], **others}


def gang(**flags: Any) -> dict[str, Any]:
    return {"name": "gang", **flags}


def test_actions_keep_their_order_and_may_repeat() -> None:
    given = conf(gang(), actions=" enqueue,reclaim , allocate,enqueue")
    assert VolcanoConf.parse(given).actions == ("enqueue", "reclaim", "allocate", "enqueue")


def test_flags_are_on_unless_stated_otherwise_but_hierarchy_and_cluster_order() -> None:
    plugin = VolcanoConf.parse(conf(gang())).plugin("gang")
    assert plugin is not None
    assert {flag for flag in FLAGS if not plugin.on(flag)} == {"enableHierarchy", "enabledClusterOrder"}
    assert len(plugin.flags) == 25


def test_a_flag_given_holds_and_null_is_not_given() -> None:
    given = conf(gang(enablePreemptable=False, enableHierarchy=True, enabledOverused=None))
    plugin = VolcanoConf.parse(given).plugin("gang")
    assert plugin is not None
    assert [plugin.on(f) for f in ("enablePreemptable", "enableHierarchy", "enabledOverused")] == [False, True, True]


@pytest.mark.parametrize("value", ["true", 1, "yes"])
def test_a_flag_is_a_yaml_boolean(value: object) -> None:
    with pytest.raises(InputError, match=r"tiers\[0\]\.plugins\[0\]\.enableJobOrder: .* is not a flag"):
        VolcanoConf.parse(conf(gang(enableJobOrder=value)))


def test_the_built_in_configuration() -> None:
    built_in = VolcanoConf.default()
    assert built_in.actions == ("enqueue", "allocate", "backfill")
    assert [[plugin.name for plugin in tier] for tier in built_in.tiers] == [
        ["priority", "gang", "conformance"],
        ["overcommit", "drf", "predicates", "proportion", "nodeorder"],
    ]
    assert built_in.warnings == ()


def test_action_arguments_are_there_for_every_action() -> None:
    preempt = {
        "name": "preempt",
        "arguments": {"minCandidateNodesAbsolute": 5, "enableTopologyAwarePreemption": "true"},
    }
    configurations = VolcanoConf.parse(conf(gang(), configurations=[preempt])).configurations
    assert configurations["preempt"].values == {
        "predicateErrorCacheEnable": True,
        "enableTopologyAwarePreemption": True,
        "topologyAwarePreemptWorkerNum": 16,
        "minCandidateNodesPercentage": 10,
        "minCandidateNodesAbsolute": 5,
        "maxCandidateNodesAbsolute": 100,
    }
    assert configurations["enqueue"].values == {}
    for action in ("allocate", "backfill", "reclaim"):
        assert configurations[action].values == {"predicateErrorCacheEnable": True}


def test_a_quoted_number_is_ignored_with_a_warning_as_upstream_does() -> None:
    read = VolcanoConf.parse(conf({"name": "nodeorder", "arguments": {"mostrequested.weight": "3"}}), file="v.conf")
    plugin = read.plugin("nodeorder")
    assert plugin is not None
    assert plugin.arguments.integer("mostrequested.weight") == 0
    (warning,) = read.warnings
    assert warning.startswith('v.conf: tiers[0].plugins[0].arguments.mostrequested.weight: "3" is ignored')


IGNORED = [
    (conf(gang(), {"enableJobOrder": True}), "tiers[0].plugins[1]: the plugin has no name, so Volcano goes on without"),
    (
        conf(gang(enabledPreemptable=True)),
        'tiers[0].plugins[0]: unknown flag enabledPreemptable of plugin "gang" is ignored, as by Volcano; '
        "did you mean enablePreemptable?",
    ),
    (conf(gang(disableJobOrder=True)), "unknown flag disableJobOrder of plugin"),
    (
        conf(gang(arguments={"a": 1})),
        "tiers[0].plugins[0].arguments: unknown argument a of plugin gang is ignored, as by Volcano; it takes none",
    ),
    (conf(gang(), gang()), "tiers: plugin gang is configured twice"),
    (conf(gang(), tier=[]), "unknown key tier is ignored, as by Volcano; did you mean tiers? known: actions, config"),
    (conf(gang(), tiers=[{"plugins": [gang()], "name": "x"}]), "tiers[0]: unknown key name is ignored, as by Volcano"),
    (
        conf(gang(), configurations=[{"name": "preemt"}]),
        'arguments for the unknown action "preemt" are ignored, as by Volcano; did you mean preempt?',
    ),
    (
        conf(gang(), configurations=[{"name": "enqueue", "arguments": {"overcommit-factor": 2}}]),
        "configurations[0].arguments: unknown argument overcommit-factor of action enqueue is ignored",
    ),
    (conf(gang(), configurations=[{"name": "preempt"}] * 2), "configurations[1]: arguments of preempt are given twice"),
    (conf(gang(), configurations=[{"name": "preempt", "x": 1}]), "configurations[0]: unknown key x is ignored"),
]


@pytest.mark.parametrize(("given", "text"), IGNORED)
def test_what_volcano_ignores_is_a_warning_and_an_error_to_the_strict(given: dict[str, Any], text: str) -> None:
    read = VolcanoConf.parse(given, file="v.conf")
    (warning,) = read.warnings
    assert warning.startswith("v.conf: ")
    assert text in warning
    assert read.doubts == ()
    assert read.actions == ("allocate",)
    assert {plugin.name for plugin in read.plugins} == {"gang"}
    with pytest.raises(InputError) as caught:
        VolcanoConf.parse(given, file="v.conf", strict=True)
    assert str(caught.value) == warning


REFUSED = [
    (conf(gang(), actions=""), "no action is configured"),
    ({"tiers": []}, "no action is configured"),
    (conf(gang(), actions=["allocate"]), "is not a text"),
    (
        conf(gang(), actions="allocate, premept"),
        'actions: unknown action "premept", for which Volcano refuses the configuration; did you mean preempt?',
    ),
    (conf(gang(), actions="allocate, gangPreempt"), "did you mean gangpreempt?"),
    (conf(gang(), actions="allocate,"), 'actions: unknown action "", for which Volcano refuses'),
    (conf({"name": ["gang"]}), 'tiers[0].plugins[0].name: ["gang"] is not a text'),
    (conf({"arguments": ["a"]}), 'tiers[0].plugins[0].arguments: ["a"] is not a mapping'),
    (conf({"name": "usage", "enablePredicate": "no"}), 'enablePredicate: "no" is not a flag'),
    (conf(gang(), configurations=[{"name": {}}]), "configurations[0].name: {} is not a text"),
    (
        conf(gang(), metrics={"type": "elasticsearch", "tls": {"insecureSkipVerify": "false"}}),
        'metrics.tls: {"insecureSkipVerify": "false"} is not a text; write flat keys such as tls.insecureSkipVerify',
    ),
    (conf(gang(), metrics="prometheus"), 'metrics: "prometheus" is not a mapping'),
    (conf(gang(), tiers={"plugins": []}), 'tiers: {"plugins": []} is not a list'),
    (conf("gang"), "is not a mapping"),  # type: ignore[arg-type]
    (conf({"name": "drf", "enableHierarchy": True}, {"name": "proportion"}), "drf with enableHierarchy conflicts with"),
    (conf({"name": "predicates", "enablePredicate": False}), "predicates with enablePredicate: false"),
    (conf({"name": "predicates", "arguments": {"volumebinding.weight": "1"}}), "stops the scheduler"),
    (conf({"name": "tdm", "arguments": {"tdm.revocable-zone.a": 600}}), "stops the scheduler"),
]


@pytest.mark.parametrize(("given", "text"), REFUSED)
def test_what_upstream_refuses_is_refused(given: dict[str, Any], text: str) -> None:
    with pytest.raises(InputError) as caught:
        VolcanoConf.parse(given)
    assert text in str(caught.value)


def test_hierarchical_drf_and_proportion_may_live_in_different_tiers() -> None:
    tiers = [{"plugins": [{"name": "drf", "enableHierarchy": True}]}, {"plugins": [{"name": "proportion"}]}]
    assert VolcanoConf.parse(conf(tiers=tiers)).warnings == ()


def test_flat_drf_and_proportion_may_share_a_tier() -> None:
    assert VolcanoConf.parse(conf({"name": "drf"}, {"name": "proportion"})).warnings == ()


def test_of_a_repeated_plugin_each_entry_has_its_flags_and_both_the_last_arguments() -> None:
    first = {"name": "binpack", "enableNodeOrder": False, "arguments": {"binpack.cpu": 2}}
    read = VolcanoConf.parse(conf(first, {"name": "binpack", "arguments": {"binpack.cpu": 5}}))
    assert [(p.on("enableNodeOrder"), p.arguments.integer("binpack.cpu")) for p in read.plugins] == [
        (False, 5),
        (True, 5),
    ]
    assert read.enabled("binpack", "enableNodeOrder")


def test_arguments_of_an_action_that_is_not_mirrored_are_left_aside() -> None:
    given = conf(gang(), configurations=[{"name": "gangpreempt", "arguments": {"maxDomains": 3}}])
    assert VolcanoConf.parse(given).warnings == ()


def test_no_plugin_at_all_is_allowed_with_a_warning() -> None:
    read = VolcanoConf.parse({"actions": "allocate"})
    assert read.tiers == ()
    assert len(read.warnings) == 1


def test_binpack_weighs_cpu_memory_and_what_is_listed() -> None:
    arguments = {
        "binpack.cpu": 0,
        "binpack.memory": -3,
        "binpack.resources": "nvidia.com/gpu, example.com/foo , example.com/nil,",
        "binpack.resources.nvidia.com/gpu": 4,
        "binpack.resources.example.com/nil": 0,
        "binpack.resources.example.com/other": 9,
    }
    read = VolcanoConf.parse(conf({"name": "binpack", "arguments": arguments}))
    plugin = read.plugin("binpack")
    assert plugin is not None
    assert packing_weights(plugin) == {
        "nvidia.com/gpu": 4,
        "example.com/foo": 1,
        "example.com/nil": 0,
        "cpu": 0,
        "memory": 1,
    }
    assert [warning.partition(": ")[2] for warning in read.warnings] == [
        "-3 is below 0, the default 1 holds",
        "binpack.resources does not list example.com/other, so its weight is ignored",
    ]


def test_binpack_weight_itself_may_be_negative() -> None:
    plugin = VolcanoConf.parse(conf({"name": "binpack", "arguments": {"binpack.weight": -2}})).plugin("binpack")
    assert plugin is not None
    assert plugin.arguments.integer("binpack.weight") == -2


def test_tdm_zones() -> None:
    arguments = {"tdm.revocable-zone.rz1": "10:00-21:00", "tdm.evict.period": "1m"}
    plugin = VolcanoConf.parse(conf({"name": "tdm", "arguments": arguments})).plugin("tdm")
    assert plugin is not None
    assert revocable_zones(plugin) == {"rz1": "10:00-21:00"}


def test_metrics_are_texts_and_without_effect() -> None:
    metrics = {"type": "prometheus", "interval": "30s", "tls.insecureSkipVerify": False, "elasticsearch.index": None}
    assert VolcanoConf.parse(conf(gang(), metrics=metrics)) == VolcanoConf.parse(conf(gang()))
