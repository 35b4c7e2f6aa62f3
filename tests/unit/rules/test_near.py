"""Rules about network topology and sub-groups: topology.job, topology.subgroup, gang, and what gang actions may do."""

from __future__ import annotations

import pytest

from tests.judge import broken, findings, job, pending, running, values
from tests.unit.rules.near_clusters import BLOCK, NEAR, RACK, near_decision, part, part_at_work, policy

PAIR = pending(replicas=2)
ACROSS = {"a/task-0": "n0", "a/task-1": "n2"}
TOGETHER = {"a/task-0": "n0", "a/task-1": "n1"}
SOFT, BY_NAME = {"mode": "soft", "highestTierAllowed": 1}, {"mode": "hard", "highestTierName": "block"}


def topologies(decision):
    """Findings of the two rules, as rule and subject."""
    return [(one.rule, one.subject) for one in findings(decision) if one.rule.startswith("topology")]


class TestJob:
    @pytest.mark.parametrize("kind", ["binds", "reserves"])
    def test_stays_in_one_rack(self, kind):
        decision = near_decision({kind: ACROSS}, job("a", PAIR, networkTopology=RACK))
        assert [tuple(one) for one in findings(decision)] == [
            ("topology.job", "default/a", "is on n0, n2, which no HyperNode of a tier up to 1 holds together")
        ]
        assert broken(near_decision({kind: TOGETHER}, job("a", PAIR, networkTopology=RACK))) == set()

    def test_a_higher_tier_allows_more(self):
        assert broken(near_decision({"binds": ACROSS}, job("a", PAIR, networkTopology=BLOCK))) == set()
        apart = {"a/task-0": "n0", "a/task-1": "n4"}
        assert broken(near_decision({"binds": apart}, job("a", PAIR, networkTopology=BLOCK))) == {"topology.job"}

    def test_the_whole_cluster_is_a_tier_above_all(self):
        stated = {"mode": "hard", "highestTierAllowed": 3}
        apart = {"a/task-0": "n0", "a/task-1": "n4"}
        assert broken(near_decision({"binds": apart}, job("a", PAIR, networkTopology=stated))) == set()

    def test_a_tier_may_go_by_name(self):
        assert broken(near_decision({"binds": ACROSS}, job("a", PAIR, networkTopology=BY_NAME))) == set()
        apart = {"a/task-0": "n0", "a/task-1": "n4"}
        assert broken(near_decision({"binds": apart}, job("a", PAIR, networkTopology=BY_NAME))) == {"topology.job"}

    @pytest.mark.parametrize(
        "stated",
        [SOFT, {"mode": "hard"}, {"mode": "hard", "highestTierName": "moon"}, {"highestTierAllowed": 1, "mode": ""}],
    )
    def test_soft_or_without_a_known_tier_is_no_rule(self, stated):
        assert broken(near_decision({"binds": ACROSS}, job("a", PAIR, networkTopology=stated))) == set()

    def test_no_rule_without_the_plugin_or_its_gradient_or_by_the_model(self):
        a = job("a", PAIR, networkTopology=RACK)
        silent = {"name": NEAR, "enabledHyperNodeGradient": False}
        assert broken(near_decision({"binds": ACROSS}, a, plugins=("gang", "predicates"))) == set()
        assert broken(near_decision({"binds": ACROSS}, a, plugins=("gang", "predicates", silent))) == set()
        assert broken(near_decision({"binds": ACROSS}, a, rules={"topology.job": "off"})) == set()

    def test_those_who_stay_count_and_those_who_leave_do_not(self):
        stays = job("a", running(node="n2"), pending(role="new"), minMember=1, networkTopology=RACK)
        assert topologies(near_decision({"binds": {"a/new-0": "n0"}}, stays)) == [("topology.job", "default/a")]
        leaving = running(node="n2", deletionTimestamp="2026-01-01T00:00:00Z")
        leaves = job("a", leaving, pending(role="new"), minMember=1, networkTopology=RACK)
        assert topologies(near_decision({"binds": {"a/new-0": "n0"}}, leaves)) == []
        gone = {"binds": {"a/new-0": "n0"}, "evicted": ["a/task-0"]}
        assert topologies(near_decision(gone, stays)) == []

    def test_a_job_that_receives_nothing_is_not_asked(self):
        apart = job("a", running(node="n2"), running(node="n0"), minMember=1, networkTopology=RACK)
        assert broken(near_decision({}, apart)) == set()

    def test_a_broken_tree_serves_no_job_with_topology_not_even_a_soft_one(self):
        twice = [
            {"name": name, "tier": 1 + (name != "s"), "hyperNodes": ["s"] * (name != "s")} for name in ("s", "b", "c")
        ]
        twice[0]["nodes"] = ["n0"]
        one = {"binds": {"a/task-0": "n0"}}
        for stated in (RACK, SOFT):
            found = near_decision(one, job("a", pending(), networkTopology=stated), racks=twice)
            assert topologies(found) == [("topology.job", "default/a")]
        grouped = job("a", part(0), subGroupPolicy=[policy(networkTopology=SOFT)])
        assert topologies(near_decision({"binds": {"a/w0-0": "n0"}}, grouped, racks=twice)) == [
            ("topology.job", "default/a")
        ]
        assert broken(near_decision(one, job("a", pending()), racks=twice)) == set()


class TestSubGroup:
    def test_each_stays_in_one_rack_of_its_own(self):
        a = job("a", part(0, 2), part(1, 2), subGroupPolicy=[policy(2, networkTopology=RACK)])
        apart = {"a/w0-0": "n0", "a/w0-1": "n1", "a/w1-0": "n2", "a/w1-1": "n3"}
        assert broken(near_decision({"binds": apart}, a)) == set()
        across = {"a/w0-0": "n0", "a/w0-1": "n2", "a/w1-0": "n1", "a/w1-1": "n3"}
        both = [("topology.subgroup", "default/a/p-0"), ("topology.subgroup", "default/a/p-1")]
        assert topologies(near_decision({"binds": across}, a)) == both
        assert broken(near_decision({"binds": across}, a, rules={"topology.subgroup": "off"})) == set()

    def test_one_that_receives_nothing_is_not_asked(self):
        spread = [part_at_work(0, "n0"), part_at_work(0, "n2")]
        a = job("a", *spread, part(1), minMember=1, subGroupPolicy=[policy(networkTopology=RACK)])
        assert broken(near_decision({"binds": {"a/w1-0": "n3"}}, a)) == set()

    def test_a_soft_one_is_bound_by_its_job(self):
        a = job("a", part(0, 2), subGroupPolicy=[policy(2, networkTopology=SOFT)], networkTopology=RACK)
        across = {"a/w0-0": "n0", "a/w0-1": "n2"}
        assert topologies(near_decision({"binds": across}, a)) == [("topology.job", "default/a")]

    def test_tasks_that_no_policy_takes_have_the_limit_of_the_job_alone(self):
        a = job("a", part(0), pending(role="other"), subGroupPolicy=[policy()], networkTopology=RACK)
        found = near_decision({"binds": {"a/w0-0": "n0", "a/other-0": "n2"}}, a)
        assert topologies(found) == [("topology.job", "default/a")]


class TestGangOfSubGroups:
    TWO = job("a", part(0, 2), part(1, 2), minMember=2, subGroupPolicy=[policy(2, 1)])
    BOTH = job("a", part(0, 2), part(1, 2), minMember=2, subGroupPolicy=[policy(2, 2)])
    FIRST = {"a/w0-0": "n0", "a/w0-1": "n0"}

    def test_as_many_as_the_policy_asks_for_are_complete(self):
        assert broken(near_decision({"binds": self.FIRST}, self.TWO)) == set()
        found = near_decision({"binds": self.FIRST}, self.BOTH)
        assert [one.subject for one in findings(found)] == ["default/a"]
        found = near_decision({"reserves": self.FIRST}, self.BOTH)
        assert [one.subject for one in findings(found)] == ["default/a"]

    def test_one_that_receives_something_is_complete(self):
        more = {**self.FIRST, "a/w1-0": "n1"}
        for places in ({"binds": more}, {"binds": self.FIRST, "reserves": {"a/w1-0": "n1"}}):
            assert [one.subject for one in findings(near_decision(places, self.TWO))] == ["default/a/p-1"]

    def test_a_complete_one_may_be_reserved_beside_one_that_starts_but_not_start_in_part(self):
        second = {"a/w1-0": "n1", "a/w1-1": "n1"}
        assert broken(near_decision({"binds": self.FIRST, "reserves": second}, self.TWO)) == set()
        half = {"binds": {**self.FIRST, "a/w1-0": "n1"}, "reserves": {"a/w1-1": "n1"}}
        found = findings(near_decision(half, self.TWO))
        assert [(one.subject, one.message) for one in found] == [
            ("default/a/p-1", "starts tasks before the sub-group's minimum is ready")
        ]

    def test_what_runs_counts_and_a_ready_one_takes_single_tasks(self):
        a = job("a", part_at_work(0, "n0", 2), part(0), minMember=2, subGroupPolicy=[policy(2, 1)])
        assert broken(near_decision({"reserves": {"a/w0-0": "n1"}}, a)) == set()

    def test_the_flags_of_gang_switch_it_off(self):
        more = {"binds": {**self.FIRST, "a/w1-0": "n1"}}
        silent = {"name": "gang", "enabledSubJobReady": False}
        assert broken(near_decision(more, self.TWO, plugins=(silent, "predicates"))) == set()
        free = {"name": "gang", "enabledSubJobPipelined": False}
        reserved = {"binds": self.FIRST, "reserves": {"a/w1-0": "n1"}}
        assert broken(near_decision(reserved, self.TWO, plugins=(free, "predicates"))) == set()

    def test_a_policy_with_too_few_sub_groups_makes_the_job_invalid(self):
        a = job("a", part(0), minMember=1, subGroupPolicy=[policy(1, 2)])
        assert "assignment" in broken(near_decision({"binds": {"a/w0-0": "n0"}}, a))

    def test_of_tasks_that_no_policy_takes_one_is_enough(self):
        a = job("a", pending(replicas=2), minMember=1, subGroupPolicy=[policy(2)])
        assert broken(near_decision({"binds": {"a/task-0": "n0"}}, a)) == set()


class TestGangActions:
    OLD = job("old", running(replicas=2, node="n0"), running(role="far", node="n2"), priority=10, minMember=3)
    NEW = job("new", pending(4), priority=1000, networkTopology=RACK)
    HERE = {"task": "old/task-0", "action": "gangpreempt"}, {"task": "old/task-1", "action": "gangpreempt"}
    FAR = {"task": "old/far-0", "action": "gangpreempt"}

    def checked(self, *evictions, old=None, new=None, plugins=("priority", "gang", "predicates", NEAR), **more):
        """Rules broken by a reservation of the new job on n0 with these victims."""
        actions, rules = more.pop("actions", "allocate, gangpreempt"), more.pop("rules", None)
        decision = {"reserves": {"new/task-0": "n0"}, "evictions": list(evictions)}
        jobs = (self.OLD if old is None else old, self.NEW if new is None else new)
        return broken(near_decision(decision, *jobs, actions=actions, plugins=plugins, rules=rules, **more))

    def test_half_a_gang_is_not_left(self):
        assert self.checked(*self.HERE) == {"protect.gang"}

    def test_a_gang_that_goes_whole_may_lie_elsewhere_too(self):
        assert self.checked(*self.HERE, self.FAR) == set()

    def test_a_gang_that_keeps_a_task_takes_none_elsewhere_along(self):
        parts = [running(replicas=2, node="n0"), running(role="far", node="n2"), running(role="left", node="n1")]
        old = job("old", *parts, priority=10, minMember=1)
        assert self.checked(*self.HERE, self.FAR, old=old) == {"eviction"}
        assert self.checked(*self.HERE, old=old) == set()

    def test_elsewhere_alone_it_may_not(self):
        loose = job("old", running(replicas=2, node="n0"), running(role="far", node="n2"), priority=10, minMember=0)
        assert self.checked(*self.HERE, old=loose) == set()
        assert self.checked(*self.HERE, self.FAR, old=loose) == set()
        far = job("old", running(replicas=2, node="n0"), running(role="far", node="n2"), priority=10, minMember=1)
        other = job("else", running(node="n2"), priority=10, minMember=1)
        gone = {"task": "else/task-0", "action": "gangpreempt"}
        found = near_decision(
            {"reserves": {"new/task-0": "n0"}, "evictions": [*self.HERE, gone]},
            *(far, other, self.NEW),
            actions="allocate, gangpreempt",
        )
        assert {(one.rule, one.subject) for one in findings(found)} == {("eviction", "else/task-0")}

    def test_without_a_limit_it_may_lie_anywhere_in_the_cluster(self):
        other = job("else", running(node="n4"), priority=10, minMember=1)
        decision = {"reserves": {"new/task-0": "n0"}, "evictions": [{"task": "else/task-0", "action": "gangpreempt"}]}
        jobs = (other, job("new", pending(4), priority=1000))
        for scope, expected in (("domain", set()), ("cluster", set()), ("node", {"eviction"})):
            found = near_decision(decision, *jobs, actions="allocate, gangpreempt", rules={"eviction.scope": scope})
            assert broken(found) == expected

    def test_keep_spares_the_minimum_and_an_incomplete_gang_is_spared_by_nothing(self):
        arguments = {"protect.gang": "keep"}
        assert self.checked(*self.HERE, rules=arguments) == {"protect.gang"}
        assert self.checked(*self.HERE, self.FAR, rules=arguments) == {"protect.gang", "eviction"}
        broken_before = job("old", running(replicas=2, node="n0"), priority=10, minMember=3)
        assert self.checked(*self.HERE, old=broken_before, rules=arguments) == set()

    def test_roles_and_sub_groups_are_a_part_of_the_minimum(self):
        tasks = [running(replicas=2, node="n0"), running(role="far", node="n2")]
        roles = job("old", *tasks, priority=10, minMember=2, minTaskMember={"task": 1})
        assert self.checked(self.HERE[0], old=roles, new=job("new", pending(3), priority=1000)) == set()
        roles = job("old", *tasks, priority=10, minMember=2, minTaskMember={"task": 2})
        assert self.checked(self.HERE[0], old=roles, new=job("new", pending(3), priority=1000)) == {"protect.gang"}
        parts = [part_at_work(0, "n0", 2), part_at_work(1, "n2")]
        grouped = job("old", *parts, priority=10, minMember=1, subGroupPolicy=[policy(2, 1)])
        gone = {"task": "old/r0n0-0", "action": "gangpreempt"}
        new = job("new", pending(3), priority=1000)
        assert self.checked(gone, old=grouped, new=new) == {"protect.gang"}
        free = job("old", *parts, priority=10, minMember=1, subGroupPolicy=[policy(2, 0)])
        assert self.checked(gone, old=free, new=new) == set()

    def test_gangreclaim_asks_for_shares_where_a_plugin_has_any(self):
        queues = [{"name": "left", "weight": 1}, {"name": "right", "weight": 9}]
        old = job("old", running(replicas=4, node="n0"), minMember=1, queue="right")
        new = job("new", pending(1), queue="left")
        gone = {"task": "old/task-0", "action": "gangreclaim"}
        more = {"old": old, "new": new, "queues": queues, "actions": "allocate, gangreclaim"}
        assert self.checked(gone, **more) == set()
        shares = ("priority", "gang", "predicates", "proportion", NEAR)
        assert self.checked(gone, plugins=shares, **more) == {"eviction"}


class TestLevels:
    def levels(self, *jobs, places, **fields):
        found = values(near_decision({"binds": places}, *jobs, **fields))
        return [found.get(name, "absent") for name in ("topology_tier_max", "topology_tier_sum", "hypernodes_used")]

    def test_a_unit_has_the_lowest_tier_that_holds_it(self):
        a = job("a", PAIR, networkTopology=SOFT)
        assert self.levels(a, places=TOGETHER) == [1, 1, 1]
        assert self.levels(a, places=ACROSS) == [2, 2, 2]
        assert self.levels(a, places={"a/task-0": "n0", "a/task-1": "n4"}) == [3, 3, 2]
        assert self.levels(a, places={"a/task-0": "n4", "a/task-1": "n4"}) == [3, 3, 1]

    def test_without_a_unit_there_is_no_tier(self):
        assert self.levels(job("a", PAIR), places=ACROSS) == [None, 0, 0]
        assert self.levels(job("a", PAIR, networkTopology=RACK), places={}) == [None, 0, 0]

    def test_units_are_sub_groups_with_a_wish_and_jobs_with_one(self):
        parts = (part(0), part(1), pending(role="rest"))
        places = {"a/w0-0": "n0", "a/w1-0": "n2", "a/rest-0": "n1"}
        groups = job("a", *parts, subGroupPolicy=[policy(networkTopology=RACK)])
        assert self.levels(groups, places=places) == [1, 2, 2]
        both = job("a", *parts, subGroupPolicy=[policy(networkTopology=RACK)], networkTopology=BLOCK)
        assert self.levels(both, places=places) == [2, 5, 5]

    def test_those_who_stay_count_for_tiers_and_not_for_new_hyper_nodes(self):
        a = job("a", running(node="n2"), pending(role="new"), minMember=1, networkTopology=SOFT)
        assert self.levels(a, places={"a/new-0": "n0"}) == [2, 2, 1]

    def test_they_are_in_no_plan_where_nothing_is_about_topology(self):
        plain = self.levels(job("a", PAIR), places=ACROSS, racks=[], plugins=("gang", "predicates"))
        assert plain == ["absent"] * 3
        assert self.levels(job("a", PAIR), places=ACROSS, racks=[]) == [None, 0, 0]
        acting = self.levels(
            job("a", PAIR), places=ACROSS, racks=[], plugins=("gang", "predicates"), actions="allocate, gangpreempt"
        )
        assert acting == [None, 0, 0]

    def test_a_gang_is_broken_by_role_and_by_sub_group_too(self):
        tasks = [running(replicas=2, node="n0"), running(role="far", node="n2")]
        gone = {"evicted": ["old/task-0"]}
        for minima, expected in (({"task": 1}, 0), ({"task": 2}, 1)):
            old = job("old", *tasks, minMember=2, minTaskMember=minima)
            assert values(near_decision(gone, old))["gangs_broken"] == expected
        parts = [part_at_work(0, "n0", 2), part_at_work(1, "n2")]
        for least in (0, 1):
            old = job("old", *parts, minMember=1, subGroupPolicy=[policy(2, least)])
            assert values(near_decision({"evicted": ["old/r0n0-0"]}, old))["gangs_broken"] == least


class TestUnnamed:
    """Evictions that name no action, as recordings have them."""

    def test_a_gang_action_counts_where_no_other_could(self):
        old = job("old", running(node="n0"), priority=10, minMember=1)
        far = job("far", running(node="n4"), priority=10, minMember=1)
        new = job("new", pending(4), priority=1000)
        decision = {"reserves": {"new/task-0": "n0"}, "evicted": ["old/task-0", "far/task-0"]}
        for actions, expected in (
            ("allocate, gangpreempt", set()),
            ("allocate, preempt", {"eviction"}),
            ("allocate, gangreclaim", {"eviction", "charge"}),
        ):
            rules = {"protect.gang": "off"}
            assert broken(near_decision(decision, old, far, new, actions=actions, rules=rules)) == expected
