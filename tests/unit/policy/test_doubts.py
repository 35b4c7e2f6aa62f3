"""What is configured and not run here: a doubt with what it decides, never a refusal."""

from __future__ import annotations

from typing import Any

import pytest

from cpsched.doubts import Doubt, without
from cpsched.errors import InputError
from cpsched.greedy.volcano.plugins import RULES_OF_PLUGIN
from cpsched.policy import KubeConf, Policy, VolcanoConf, load_model, policy_for
from cpsched.policy.kube_registry import DECIDES as POINTS
from cpsched.policy.kube_registry import MERGED_PLUGINS, points
from cpsched.policy.kube_registry import PLUGINS as KUBE_PLUGINS
from cpsched.policy.kube_registry import UNMIRRORED_PLUGINS as UNMIRRORED_KUBE_PLUGINS
from cpsched.policy.unsearched import VOTERS, plugins_not_searched
from cpsched.policy.volcano_registry import (
    ACTIONS,
    ASKED_BY,
    DECIDES,
    FLAGS,
    PLUGINS,
    UNMIRRORED_PLUGINS,
    UNSEARCHED_PLUGINS,
)

ALL_ACTIONS = "enqueue, allocate, backfill, preempt, reclaim, shuffle"
KUBE = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
NODES = "which nodes fit, node choice"


def volcano(*plugins: Any, actions: str = ALL_ACTIONS) -> VolcanoConf:
    entries = [{"name": one} if isinstance(one, str) else one for one in ("gang", *plugins)]
    return VolcanoConf.parse({"actions": actions, "tiers": [{"plugins": entries}]}, file="v.conf")


def kube(**plugins: Any) -> KubeConf:
    sets = {
        point: {side: [{"name": name} for name in names] for side, names in one.items()}
        for point, one in plugins.items()
    }
    return KubeConf.parse({**KUBE, "profiles": [{"plugins": sets}]}, file="k.yaml")


def named(conf: VolcanoConf | KubeConf) -> list[str]:
    return [str(doubt) for doubt in conf.doubts if doubt.kind != "action"]


class TestVolcano:
    @pytest.mark.parametrize(("name", "flags"), UNMIRRORED_PLUGINS.items())
    def test_a_plugin_that_is_not_mirrored_is_named_with_what_it_decides(
        self, name: str, flags: tuple[str, ...]
    ) -> None:
        conf = volcano({"name": name, "arguments": {"weight": 10}})
        decides = ", ".join(DECIDES[flag] for flag in flags)
        assert named(conf) == [f"plugin {name} ({decides})"]
        text = f"tiers[0].plugins[1]: plugin {name} is not mirrored, so the answer is made without it"
        text += f"; it decides: {decides}"
        assert conf.doubts[-1].text == text
        assert conf.warnings[-1] == f"v.conf: {text}"
        assert [plugin.name for plugin in conf.plugins] == ["gang"]

    def test_a_flag_that_is_off_takes_its_part_out(self) -> None:
        flags = UNMIRRORED_PLUGINS["extender"]
        on = {flag: flag == "enableNodeOrder" for flag in flags}
        assert named(volcano({"name": "extender", **on})) == ["plugin extender (node choice)"]
        assert volcano({"name": "extender", **dict.fromkeys(flags, False)}, actions="allocate").doubts == ()

    @pytest.mark.parametrize(
        ("plugin", "actions", "decides"),
        [
            ("cdp", "allocate, preempt, reclaim", None),
            ("resourcequota", "enqueue, allocate", None),
            ("drf", "allocate, preempt, reclaim", "victims of preempt"),
            ({"name": "drf", "enableHierarchy": True}, "preempt, reclaim", "victims of preempt, victims of reclaim"),
            ({"name": "drf", "enablePreemptable": False}, "allocate, preempt", None),
            ("tdm", "allocate, preempt", "which nodes fit, victims of preempt"),
            ("tdm", "allocate", "which nodes fit"),
            ("nodegroup", "allocate", None),
            ("resource-strategy-fit", "allocate", None),
            (
                {"name": "resource-strategy-fit", "arguments": {"proportional": {"enable": True, "resources": "a/b"}}},
                "allocate",
                "which nodes fit",
            ),
        ],
    )
    def test_what_only_the_mirror_knows_to_forbid_is_a_doubt_of_proofs(
        self, plugin: Any, actions: str, decides: str | None
    ) -> None:
        conf = volcano(plugin, actions=actions)
        assert conf.doubts == ()
        name = plugin if isinstance(plugin, str) else plugin["name"]
        found = [] if decides is None else [f"plugin {name} ({decides})"]
        assert [str(doubt) for doubt in plugins_not_searched(conf)] == found

    def test_drf_has_no_say_behind_a_tier_that_votes(self) -> None:
        """As in the built-in configuration; a first tier that does not vote leaves it to the second."""
        assert plugins_not_searched(VolcanoConf.default()) == ()
        tiers = [{"plugins": [{"name": "gang", "enablePreemptable": False}]}, {"plugins": [{"name": "drf"}]}]
        conf = VolcanoConf.parse({"actions": "allocate, preempt", "tiers": tiers})
        assert [str(doubt) for doubt in plugins_not_searched(conf)] == ["plugin drf (victims of preempt)"]

    def test_who_votes_on_victims(self) -> None:
        voting = {name for names in VOTERS.values() for name in names}
        assert voting == set(RULES_OF_PLUGIN)

    @pytest.mark.parametrize(("given", "near"), [("numaaware", "numa-aware"), ("gnag", "gang"), ("magic", ""), (5, "")])
    def test_an_unknown_name_may_be_a_custom_plugin(self, given: object, near: str) -> None:
        (doubt,) = volcano({"name": given}, actions="allocate").doubts
        assert (doubt.kind, doubt.name, doubt.decides) == ("plugin", str(given), "not known here")
        assert "like that of a Volcano not built with it" in doubt.text
        assert ("did you mean" in doubt.text) == bool(near)
        assert f"did you mean {near}" in doubt.text or not near

    def test_a_name_is_cut(self) -> None:
        assert len(volcano("x" * 1000).doubts[-1].name) == 60

    def test_a_plugin_that_the_search_does_not_know_is_one_that_the_mirror_runs(self) -> None:
        assert UNSEARCHED_PLUGINS.keys() <= PLUGINS.keys()

    def test_every_plugin_that_upstream_registers_is_known(self) -> None:
        assert len(PLUGINS) + len(UNMIRRORED_PLUGINS) == 24
        assert len(ACTIONS) == 8
        assert not PLUGINS.keys() & UNMIRRORED_PLUGINS.keys()
        assert DECIDES.keys() <= FLAGS.keys()
        assert ASKED_BY.keys() <= DECIDES.keys()


class TestKube:
    @pytest.mark.parametrize(("name", "hooks"), UNMIRRORED_KUBE_PLUGINS.items())
    def test_a_known_plugin_decides_what_its_points_do(self, name: str, hooks: tuple[str, ...]) -> None:
        conf = kube(multiPoint={"enabled": [name]})
        decides = ", ".join(dict.fromkeys(POINTS[hook] for hook in hooks))
        assert named(conf) == [f"plugin {name} ({decides})"]
        assert conf.profiles == KubeConf.default().profiles

    @pytest.mark.parametrize("point", points("1.36"))
    def test_any_other_decides_where_it_is_enabled(self, point: str) -> None:
        conf = kube(**{point: {"enabled": ["Mine"]}})
        assert named(conf) == ([] if point == "postBind" else [f"plugin Mine ({POINTS[point]})"])
        assert conf.profiles == KubeConf.default().profiles

    def test_after_the_binding_nothing_is_decided(self) -> None:
        assert kube(postBind={"enabled": ["NodeResourceTopologyMatch", "Mine"]}).doubts == ()

    def test_unknown_names_are_stated_in_the_order_of_the_file(self) -> None:
        names = [f"Mine{number}" for number in range(9)]
        warnings = kube(filter={"disabled": names}).warnings
        assert [warning.split('"')[1] for warning in warnings] == names

    def test_once_for_all_its_points(self) -> None:
        conf = kube(preFilter={"enabled": ["Mine"]}, filter={"enabled": ["Mine"]}, score={"enabled": ["Mine"]})
        assert named(conf) == [f"plugin Mine ({NODES})"]
        assert named(kube(multiPoint={"enabled": ["Mine"]})) == ["plugin Mine (not known here)"]

    def test_a_typo_stays_visible(self) -> None:
        (doubt,) = kube(score={"enabled": ["NodeResourceFit"]}).doubts
        assert 'unknown plugin "NodeResourceFit": the answer is made without it' in doubt.text
        assert "did you mean NodeResourcesFit?" in doubt.text

    def test_its_arguments_are_not_looked_at(self) -> None:
        plugins = {"score": {"enabled": [{"name": "Mine"}]}}
        config = [{"name": "Mine", "args": {"a": 1}}, {"name": "Coscheduling", "args": {"b": 2}}]
        conf = KubeConf.parse({**KUBE, "profiles": [{"plugins": plugins, "pluginConfig": config}]})
        assert len(conf.warnings) == len(conf.doubts) == 1

    @pytest.mark.parametrize(("point", "default"), [("queueSort", "PrioritySort"), ("bind", "DefaultBinder")])
    def test_the_default_runs_where_it_was_the_only_one(self, point: str, default: str) -> None:
        for conf in (
            kube(**{point: {"enabled": ["Mine"], "disabled": ["*"]}}),
            kube(multiPoint={"enabled": ["Mine"], "disabled": [default]}),
        ):
            assert conf.profiles[0].pipeline.points[point] == (default,)
            assert len(conf.doubts) == 1

    def test_a_former_plugin_whose_work_is_done_is_no_doubt(self) -> None:
        conf = kube(multiPoint={"enabled": list(MERGED_PLUGINS)}, filter={"disabled": ["EBSLimits"]})
        assert conf.doubts == ()
        assert len(conf.warnings) == len(MERGED_PLUGINS)
        assert "NodeVolumeLimits does its work" in conf.warnings[0]
        assert set(MERGED_PLUGINS.values()) <= KUBE_PLUGINS.keys()

    def test_a_plugin_that_is_only_disabled_decides_nothing(self) -> None:
        conf = kube(score={"disabled": ["NodeResourcesLeastAllocated", "Coscheduling"]})
        assert (conf.doubts, conf.warnings) == ((), ())

    def test_the_strict_take_none(self) -> None:
        plugins = {"score": {"enabled": [{"name": "Mine"}]}}
        with pytest.raises(InputError, match=r'^k: profiles\[0\]\.plugins: unknown plugin "Mine"'):
            KubeConf.parse({**KUBE, "profiles": [{"plugins": plugins}]}, file="k", strict=True)


class TestExtenders:
    CONF = {
        **KUBE,
        "extenders": [{"urlPrefix": "http://a", "filterVerb": "f", "prioritizeVerb": "p", "weight": 1}],
    }

    def policy(self) -> Policy:
        return policy_for(load_model("kube"), self.CONF, file="k")

    def test_one_that_is_not_asked_is_a_doubt_of_every_decision(self) -> None:
        policy = self.policy().without_extenders("k")
        (doubt,) = policy.doubts
        assert str(doubt) == f"extender http://a ({NODES})"
        assert doubt.text.startswith("extenders: an input opens no connection: the extender http://a is not asked")
        assert policy.warnings == (f"k: {doubt.text}",)
        assert policy.doubts_of_search == policy.doubts

    def test_one_that_is_asked_is_a_doubt_of_proofs(self) -> None:
        policy = self.policy()
        assert (policy.doubts, policy.warnings) == ((), ())
        (doubt,) = policy.doubts_of_search
        assert (doubt.kind, doubt.decides) == ("extender", NODES)
        assert doubt.text == "extenders: the search for the optimum does not ask the extender http://a"


class TestWithout:
    @staticmethod
    def doubt(name: str) -> Doubt:
        return Doubt(kind="plugin", name=name, decides="x", text="t")

    def test_names_each_thing_once(self) -> None:
        assert without(()) == ""
        assert without([self.doubt("a")]) == " without plugin a (x)"
        two = [self.doubt("a"), self.doubt("b"), self.doubt("a")]
        assert without(two) == " without plugin a (x) and plugin b (x)"
        three = map(self.doubt, "abc")
        assert without(three) == " without plugin a (x), plugin b (x) and plugin c (x)"


def test_a_policy_has_the_doubts_of_its_own_scheduler() -> None:
    conf = {"actions": "allocate", "tiers": [{"plugins": [{"name": "magic"}]}]}
    policy = policy_for(load_model("volcano"), conf, file="v")
    assert [str(doubt) for doubt in policy.doubts] == ["plugin magic (not known here)"]
    assert policy_for(load_model("volcano"), None).doubts == policy_for(load_model("kube"), None).doubts == ()
