from __future__ import annotations

from typing import Any

import pytest

from cpsched.errors import InputError
from cpsched.policy import VolcanoConf, binpack_weights, revocable_zones
from cpsched.policy.volcano_registry import FLAGS, PLUGINS, UNSUPPORTED_PLUGINS


def conf(*plugins: dict[str, Any], **others: Any) -> dict[str, Any]:
    return {"actions": "allocate", "tiers": [{"plugins": list(plugins)}], **others}


def gang(**flags: Any) -> dict[str, Any]:
    return {"name": "gang", **flags}


def test_actions_keep_their_order_and_may_repeat() -> None:
    given = conf(gang(), actions=" enqueue,reclaim , allocate,enqueue")
    assert VolcanoConf.parse(given).actions == ("enqueue", "reclaim", "allocate", "enqueue")


def test_flags_are_on_unless_said_otherwise_but_hierarchy_and_cluster_order() -> None:
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
        VolcanoConf.parse(conf(gang(enableJobOrder=value)), lenient=True)


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


DOUBTS = [
    (conf(gang(), actions="allocate, premept"), 'actions: unknown action "premept"; did you mean preempt?'),
    (conf(gang(), actions="allocate,"), 'actions: unknown action ""; known: allocate, backfill, enqueue, preempt'),
    (conf(gang(), actions="allocate, shuffle"), "action shuffle exists in Volcano but is not mirrored here"),
    (conf(gang(), {"name": "gnag"}), 'tiers[0].plugins[1]: unknown plugin "gnag"; did you mean gang? known: binpack,'),
    (conf(gang(), {"name": "numaaware"}), "did you mean numa-aware?"),
    (conf(gang(), {"name": "cdp"}), "plugin cdp exists in Volcano but is not mirrored here; supported: binpack,"),
    (conf(gang(enabledPreemptable=True)), "unknown flag enabledPreemptable of plugin gang; did you mean enablePreemp"),
    (conf(gang(arguments={"a": 1})), "tiers[0].plugins[0].arguments: unknown argument a of plugin gang; it takes none"),
    (conf(gang(), gang()), "tiers: plugin gang is configured twice"),
    (conf(gang(), tier=[]), "unknown key tier; did you mean tiers? known: actions, configurations, metrics, tiers"),
    (conf(gang(), tiers=[{"plugins": [gang()], "name": "x"}]), "tiers[0]: unknown key name; a tier holds plugins"),
    (conf(gang(), configurations=[{"name": "preemt"}]), 'arguments for the unknown action "preemt"; did you mean pree'),
    (
        conf(gang(), configurations=[{"name": "enqueue", "arguments": {"overcommit-factor": 2}}]),
        "configurations[0].arguments: unknown argument overcommit-factor of action enqueue; it takes none",
    ),
    (conf(gang(), configurations=[{"name": "preempt"}] * 2), "configurations[1]: arguments of preempt are given twice"),
    (conf(gang(), configurations=[{"name": "preempt", "x": 1}]), "configurations[0]: unknown key x"),
]


@pytest.mark.parametrize(("given", "text"), DOUBTS)
def test_what_is_not_known_is_an_error_that_names_it_and_a_warning_to_the_lenient(
    given: dict[str, Any], text: str
) -> None:
    with pytest.raises(InputError) as caught:
        VolcanoConf.parse(given, file="v.conf")
    assert text in str(caught.value)
    assert str(caught.value).startswith("v.conf: ")
    read = VolcanoConf.parse(given, file="v.conf", lenient=True)
    assert any(text in warning for warning in read.warnings)
    assert read.actions == ("allocate",)
    assert {plugin.name for plugin in read.plugins} == {"gang"}


REFUSED = [
    (conf(gang(), actions=""), "no action is configured"),
    ({"tiers": []}, "no action is configured"),
    (conf(gang(), actions=["allocate"]), "is not a text"),
    (conf(gang(), actions="shuffle"), "no action is left"),
    (conf(gang(), tiers={"plugins": []}), "tiers: {'plugins': []} is not a list"),
    (conf("gang"), "is not a mapping"),  # type: ignore[arg-type]
    (conf({"enableJobOrder": True}), "the plugin has no name"),
    (conf({"name": "drf", "enableHierarchy": True}, {"name": "proportion"}), "drf with enableHierarchy conflicts with"),
    (conf({"name": "predicates", "enablePredicate": False}), "predicates with enablePredicate: false"),
    (conf({"name": "predicates", "arguments": {"volumebinding.weight": "1"}}), "stops the scheduler"),
    (conf({"name": "tdm", "arguments": {"tdm.revocable-zone.a": 600}}), "stops the scheduler"),
]


@pytest.mark.parametrize(("given", "text"), REFUSED)
def test_what_upstream_refuses_is_refused_even_to_the_lenient(given: dict[str, Any], text: str) -> None:
    with pytest.raises(InputError) as caught:
        VolcanoConf.parse(given, lenient=True)
    assert text in str(caught.value)


def test_hierarchical_drf_and_proportion_may_live_in_different_tiers() -> None:
    tiers = [{"plugins": [{"name": "drf", "enableHierarchy": True}]}, {"plugins": [{"name": "proportion"}]}]
    assert VolcanoConf.parse(conf(tiers=tiers)).warnings == ()


def test_flat_drf_and_proportion_may_share_a_tier() -> None:
    assert VolcanoConf.parse(conf({"name": "drf"}, {"name": "proportion"})).warnings == ()


def test_of_a_repeated_plugin_each_entry_has_its_flags_and_both_the_last_arguments() -> None:
    first = {"name": "binpack", "enableNodeOrder": False, "arguments": {"binpack.cpu": 2}}
    read = VolcanoConf.parse(conf(first, {"name": "binpack", "arguments": {"binpack.cpu": 5}}), lenient=True)
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
    assert binpack_weights(plugin) == {
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


def test_the_ci_configuration_of_volcano_reads_but_for_network_topology() -> None:
    second = ("overcommit", "drf", "predicates", "proportion", "nodeorder", "binpack", "network-topology-aware")
    plugins: list[dict[str, Any]] = [{"name": name} for name in second]
    plugins[2]["arguments"] = {"predicate.DynamicResourceAllocationEnable": True}
    given = {
        "actions": "enqueue, allocate, backfill, reclaim, preempt",
        "tiers": [
            {"plugins": [{"name": "priority"}, gang(enablePreemptable=False), {"name": "sla"}]},
            {"plugins": plugins},
        ],
    }
    with pytest.raises(InputError, match="network-topology-aware"):
        VolcanoConf.parse(given)
    assert len(VolcanoConf.parse(given, lenient=True).warnings) == 1


def test_every_plugin_that_upstream_registers_is_known() -> None:
    assert len(PLUGINS) + len(UNSUPPORTED_PLUGINS) == 24
    assert not set(PLUGINS) & UNSUPPORTED_PLUGINS
