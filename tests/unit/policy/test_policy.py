from __future__ import annotations

from typing import Any

import pytest

from cpsched.errors import InputError
from cpsched.policy import Policy, load_model, policy_for
from cpsched.policy.policy import EvictingAction

KUBE = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
BOTH: tuple[EvictingAction, EvictingAction] = ("preempt", "reclaim")


def policy(*plugins: str | dict[str, Any], actions: str = "allocate, preempt, reclaim", **rules: Any) -> Policy:
    """The volcano model with some rules changed, under a one-tier configuration."""
    base = load_model("volcano").model_dump()
    base["rules"] |= {key.replace("_", "."): value for key, value in rules.items()}
    base["levels"] = [*base["levels"], "pdb_violations"]
    entries = [{"name": plugin} if isinstance(plugin, str) else plugin for plugin in plugins]
    if rules.get("protect_pdb") == "off":
        base["levels"].remove("pdb_violations")
    if rules.get("deserved") == "off":
        base["levels"].remove("queue_deficit")
    return policy_for(load_model(base), {"actions": actions, "tiers": [{"plugins": entries}]})


def off(name: str, *flags: str) -> dict[str, Any]:
    return {"name": name, **dict.fromkeys(flags, False)}


class TestConfiguration:
    def test_a_model_brings_its_own(self) -> None:
        own = policy_for(load_model("volcano"), None)
        assert own.actions == ("enqueue", "allocate", "preempt", "reclaim", "backfill")
        assert len(own.volcano.tiers) == 1
        assert not own.enabled("drf", "enablePreemptable")
        assert own.warnings == ()

    def test_one_given_replaces_it(self) -> None:
        given = policy_for(load_model("volcano"), {"actions": "backfill", "tiers": [{"plugins": [{"name": "gang"}]}]})
        assert given.actions == ("backfill",)
        assert given.plugin("proportion") is None

    def test_without_any_the_scheduler_s_default_holds(self) -> None:
        bare = load_model({"name": "m", "scheduler": "volcano", "levels": ["tasks_bound"]})
        assert policy_for(bare, None).actions == ("enqueue", "allocate", "backfill")

    def test_both_mirrors_find_a_configuration(self) -> None:
        assert policy_for(load_model("volcano"), None, kube_version="head").kube.version == "head"
        assert policy_for(load_model("kube"), None).volcano.actions == ("enqueue", "allocate", "backfill")

    def test_the_release_comes_from_the_caller_or_the_model(self) -> None:
        head = load_model({**load_model("kube").model_dump(), "kube_version": "head"})
        assert policy_for(head, None).kube.version == "head"
        assert policy_for(head, KUBE, kube_version="1.36").kube.version == "1.36"
        with pytest.raises(InputError, match=r"known: 1\.36, head"):
            policy_for(head, None, kube_version="1.99")

    @pytest.mark.parametrize(
        ("name", "conf", "text"),
        [
            (
                "kube",
                {"actions": "allocate"},
                "c: this is a configuration of Volcano; the model kube needs one of kube-sch",
            ),
            ("volcano", KUBE, "c: this is a configuration of kube-scheduler; the model volcano needs one of Volcano"),
        ],
    )
    def test_one_of_another_scheduler_is_refused(self, name: str, conf: dict[str, Any], text: str) -> None:
        with pytest.raises(InputError) as caught:
            policy_for(load_model(name), conf, file="c")
        assert str(caught.value).startswith(text)

    def test_the_strict_take_no_doubt_and_no_unknown_field(self) -> None:
        conf = {"actions": "allocate", "tiers": [{"plugins": [{"name": "gang"}, {"name": "extender"}]}]}
        with pytest.raises(InputError, match=r"^c: tiers\[0\]\.plugins\[1\]: plugin extender"):
            policy_for(load_model("volcano"), conf, file="c", strict=True)
        assert len(policy_for(load_model("volcano"), conf).warnings) == 1
        kube = {**KUBE, "profile": []}
        with pytest.raises(InputError, match=r"^c: unknown field profile; did you mean profiles\?"):
            policy_for(load_model("kube"), kube, file="c", strict=True)
        assert len(policy_for(load_model("kube"), kube).warnings) == 1


class TestActions:
    def test_kube_binds_and_preempts_where_a_profile_does(self) -> None:
        assert policy_for(load_model("kube"), None).actions == ("bind", "preempt")
        disabled = {"plugins": {"postFilter": {"disabled": [{"name": "DefaultPreemption"}]}}}
        calm = policy_for(load_model("kube"), {**KUBE, "profiles": [disabled]})
        assert calm.actions == ("bind",)
        assert not calm.evicts("preempt")

    def test_throughput_evicts_no_task_whatever_is_configured(self) -> None:
        conf = {"actions": "allocate, preempt", "tiers": [{"plugins": [{"name": "gang"}]}]}
        throughput = policy_for(load_model("throughput"), conf)
        assert throughput.has_action("preempt")
        assert not throughput.evicts("preempt")

    def test_an_action_must_be_configured_to_evict(self) -> None:
        only = policy("gang", actions="allocate, reclaim")
        assert [only.evicts(action) for action in BOTH] == [False, True]

    @pytest.mark.parametrize(
        ("actions", "rules", "how"),
        [
            ("enqueue, allocate", {}, "enqueue"),
            ("allocate", {}, "freely"),
            ("preempt", {}, "never"),
            ("preempt", {"enqueue": "off"}, "freely"),
        ],
    )
    def test_how_pending_jobs_enter(self, actions: str, rules: dict[str, Any], how: str) -> None:
        assert policy("gang", actions=actions, **rules).pending_jobs_enter == how

    def test_pods_of_kube_are_never_held_back(self) -> None:
        assert policy_for(load_model("kube"), None).pending_jobs_enter == "freely"


class TestShares:
    @pytest.mark.parametrize(
        ("plugins", "plugin"),
        [
            ((), None),
            (("proportion",), "proportion"),
            (("capacity",), "capacity"),
            (("capacity", "proportion"), "capacity"),
            ((off("capacity", "enabledAllocatable"), "proportion"), "proportion"),
            ((off("capacity", "enabledAllocatable"), off("proportion", "enabledAllocatable")), "capacity"),
        ],
    )
    def test_of_two_plugins_the_first_that_limits_queues_counts(self, plugins: Any, plugin: str | None) -> None:
        assert policy("gang", *plugins).share_plugin == plugin

    def test_both_are_listed_in_tier_order(self) -> None:
        assert policy("capacity", "gang", "proportion").share_plugins == ("capacity", "proportion")

    def test_queues_are_limited_where_the_plugin_says_so(self) -> None:
        silent = off("proportion", "enabledAllocatable")
        assert policy("proportion").limits_queues
        assert not policy(silent).limits_queues
        assert policy(silent, queue="on").limits_queues
        assert not policy("proportion", queue="off").limits_queues
        assert not policy("gang", queue="on").limits_queues
        assert not policy("proportion", deserved="off").limits_queues

    def test_without_shares_there_is_no_queue_deficit(self) -> None:
        assert "queue_deficit" in [level.key for level in policy("proportion").levels]
        assert "queue_deficit" not in [level.key for level in policy("gang").levels]

    def test_kube_has_no_queues(self) -> None:
        kube = policy_for(load_model("kube"), None)
        assert (kube.share_plugin, kube.limits_queues, kube.jobs_are_pods) == (None, False, True)
        assert not policy("gang").jobs_are_pods


class TestProtection:
    def test_gang_keeps_its_minimum_where_its_flag_is_on(self) -> None:
        assert [policy("gang").gang_protects(action) for action in BOTH] == ["keep", "keep"]
        helm = policy(off("gang", "enablePreemptable"))
        assert [helm.gang_protects(action) for action in BOTH] == ["off", "keep"]
        other = policy(off("gang", "enableReclaimable"))
        assert [other.gang_protects(action) for action in BOTH] == ["keep", "off"]
        assert policy("priority").gang_protects("preempt") == "off"

    @pytest.mark.parametrize("choice", ["keep", "whole", "off"])
    def test_a_model_may_overrule_the_flag(self, choice: str) -> None:
        assert policy(off("gang", "enablePreemptable"), protect_gang=choice).gang_protects("preempt") == choice

    def test_conformance(self) -> None:
        half = off("conformance", "enableReclaimable")
        assert [policy("conformance").conformance_protects(action) for action in BOTH] == [True, True]
        assert [policy(half).conformance_protects(action) for action in BOTH] == [True, False]
        assert not policy("gang").conformance_protects("preempt")
        assert policy("gang", protect_conformance="on").conformance_protects("preempt")
        assert not policy("conformance", protect_conformance="off").conformance_protects("preempt")

    def test_budgets_are_hard_where_volcano_s_plugin_is_asked(self) -> None:
        half = off("pdb", "enablePreemptable")
        assert [policy(half).pdb_protects(action) for action in BOTH] == ["off", "hard"]
        assert policy("gang").pdb_protects("preempt") == "off"
        assert policy("gang", protect_pdb="soft").pdb_protects("preempt") == "soft"
        assert policy("pdb", protect_pdb="off").pdb_protects("preempt") == "off"
        assert policy_for(load_model("kube"), None).pdb_protects("preempt") == "soft"

    def test_guarantees_hold_against_reclaim_under_capacity(self) -> None:
        assert [policy("capacity").guarantee_protects(action) for action in BOTH] == [False, True]
        assert not policy(off("capacity", "enableReclaimable")).guarantee_protects("reclaim")
        assert not policy("proportion").guarantee_protects("reclaim")
        assert policy("proportion", protect_guarantee="on").guarantee_protects("preempt")
        assert not policy("capacity", protect_guarantee="off").guarantee_protects("reclaim")

    def test_gangs_are_required_where_readiness_is_asked(self) -> None:
        assert policy("gang").requires_gangs
        assert not policy(off("gang", "enableJobReady")).requires_gangs
        assert policy("priority", gang="on").requires_gangs
        assert not policy("gang", gang="off").requires_gangs
        assert not policy_for(load_model("kube"), None).requires_gangs


def test_a_kube_policy_has_no_volcano_plugins_though_the_mirror_has_defaults() -> None:
    kube = policy_for(load_model("kube"), None)
    assert kube.volcano.plugin("gang") is not None
    assert kube.plugin("gang") is None
    assert not kube.enabled("gang", "enablePreemptable")


@pytest.mark.parametrize(("name", "between"), [("volcano", True), ("kube", True), ("throughput", False)])
def test_victims_between_admissions(name: str, between: bool) -> None:
    assert policy_for(load_model(name), None).victims_between == between
