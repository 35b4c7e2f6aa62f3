"""Rules about victims: eviction."""

from __future__ import annotations

import pytest

from tests.judge import broken, cluster, conf, decide, findings, job, pending, running, snapshot_of

BASE = ("priority", "gang", "predicates")
ALL = "enqueue, allocate, preempt, reclaim, backfill"
PROPORTION = conf(ALL, *BASE, "proportion")
CAPACITY = conf(ALL, *BASE, "capacity")
TAKE = {"reserves": {"a/task-0": "n1"}, "evicted": ["old/task-0"]}
NO_TASK = "no task placed on n1 for a starving job may evict it"
NO_SHARE = "reclaim: its queue {} is not above its deserved share, or the other queue has no claim"


def full_node(old=None, new=None, *, old_job=None, new_job=None, **fields):
    """A node of one CPU where job old (priority 10) runs and job a (priority 100) waits, each of one task."""
    first = job("old", running(**(old or {})), **{"priority": 10, "minMember": 0, **(old_job or {})})
    second = job("a", pending(**(new or {})), **{"priority": 100, **(new_job or {})})
    return cluster(first, second, **{"nodes": 1, **fields})


def evictions(source, decision, **options):
    """Messages of the rule eviction."""
    found = findings(decide(snapshot_of(source, **options), decision))
    return [(v.subject, v.message) for v in found if v.rule == "eviction"]


class TestPreempt:
    """Same queue, strictly lower job priority, for a starving job's task placed on the victim's node."""

    def test_lower_priority_may_be_evicted(self):
        """The plain case."""
        assert broken(decide(snapshot_of(full_node()), TAKE)) == set()

    @pytest.mark.parametrize("priority", [100, 1000])
    def test_equals_and_betters_stay(self, priority):
        """Equal priority is not lower."""
        source = full_node(old_job={"priority": priority})
        assert evictions(source, TAKE) == [("old/task-0", NO_TASK)]

    def test_job_priority_counts_not_pod_priority(self):
        """The job's class decides, whatever number the pods carry."""
        assert evictions(full_node(old={"priority": 5000}, new={"priority": 0}), TAKE) == []
        source = full_node(old={"priority": 0}, new={"priority": 5000}, old_job={"priority": 100})
        assert evictions(source, TAKE) == [("old/task-0", NO_TASK)]

    def test_other_queue(self):
        """preempt stays within the queue."""
        source = full_node(old_job={"queue": "other"}, queues=[{"name": "other"}, {"name": "default"}])
        assert evictions(source, TAKE, conf=conf("allocate, preempt", *BASE, "proportion")) == [("old/task-0", NO_TASK)]

    def test_policy_never(self):
        """A pod that never preempts evicts no task."""
        assert evictions(full_node(new={"preemptionPolicy": "Never"}), TAKE) == [("old/task-0", NO_TASK)]

    def test_not_preemptable(self):
        """A pod marked not preemptable is no victim."""
        assert evictions(full_node(old={"preemptable": False}), TAKE) == [("old/task-0", NO_TASK)]

    def test_releasing_pod_is_no_victim(self):
        """What goes already cannot be evicted."""
        source = full_node(old={"deletionTimestamp": "2026-01-01T00:00:00Z"})
        assert evictions(source, TAKE) == [("old/task-0", NO_TASK)]

    def test_bound_pod_is_a_victim(self):
        """A pod that has its node but does not run yet may be preempted."""
        assert evictions(full_node(old={"phase": "Pending"}), TAKE) == []

    def test_best_effort_preemptor(self):
        """A task that asks for nothing evicts only what asks for nothing."""
        node = [{"name": "n1", "allocatable": {"cpu": 1, "pods": 1}}]
        assert evictions(full_node(new={"cpu": None}, nodes=node), TAKE) == [("old/task-0", NO_TASK)]
        assert evictions(full_node(old={"cpu": None}, new={"cpu": None}, nodes=node), TAKE) == []

    def test_job_that_does_not_starve(self):
        """A job at its minimum evicts no task for further tasks."""
        source = full_node(new_job={"minMember": 0})
        assert evictions(source, TAKE) == [("old/task-0", NO_TASK)]

    def test_who_starves_is_the_plugins_question(self):
        """With gang's flag off, priority alone calls every job starving that has tasks left."""
        settings = conf(ALL, "priority", {"name": "gang", "enableJobStarving": False}, "proportion")
        assert evictions(full_node(new_job={"minMember": 0}), TAKE, conf=settings) == []

    def test_no_task_starves_without_a_plugin_that_says_so(self):
        """No plugin, no starving job, no right."""
        assert evictions(full_node(), TAKE, conf=conf(ALL, "predicates")) == [("old/task-0", NO_TASK)]

    def test_action_has_to_be_configured(self):
        """Without preempt there is no preempting."""
        settings = conf("enqueue, allocate, reclaim", *BASE, "proportion")
        assert evictions(full_node(), TAKE, conf=settings) == [("old/task-0", NO_TASK)]

    def test_own_job_by_task_priority(self):
        """Within a job the task's priority decides, strictly."""
        settings = conf(ALL, "priority", {"name": "gang", "enablePreemptable": False}, "proportion")
        take = {"reserves": {"a/new-0": "n1"}, "evicted": ["a/task-0"]}
        for old, right in ((1, True), (5, False)):
            own = job("a", running(priority=old), pending(role="new", priority=5), minMember=2)
            found = evictions(cluster(own, nodes=1), take, conf=settings)
            assert (found == []) is right

    def test_victim_elsewhere(self):
        """The victim has to be on the node where it makes room, unless the scope is the cluster."""
        source = full_node(old={"node": "n2"}, nodes={"n1": 1, "n2": 1})
        assert evictions(source, TAKE) == [("old/task-0", "no task placed on n2 for a starving job may evict it")]
        assert evictions(source, TAKE, rules={"eviction.scope": "cluster"}) == []

    def test_kube_scheduler_compares_pod_priorities(self):
        """There a pod is its own job, marks do not count, and a BestEffort pod may evict any other."""
        source = full_node(old={"preemptable": False}, new={"cpu": None})
        assert evictions(source, TAKE, model="kube") == []
        assert evictions(full_node(old_job={"priority": 100}), TAKE, model="kube") == [("old/task-0", NO_TASK)]


class TestHowItIsStated:
    """A decision names its victims truly."""

    def test_unknown_victim(self):
        """A victim has to exist."""
        decision = {"reserves": {"a/task-0": "n1"}, "evicted": ["old/task-0", "ghost/task-0"]}
        assert evictions(full_node(), decision) == [("ghost/task-0", "does not exist")]

    def test_twice(self):
        """Once is enough."""
        decision = {"reserves": {"a/task-0": "n1"}, "evicted": ["old/task-0", "old/task-0"]}
        assert evictions(full_node(), decision) == [("old/task-0", "is evicted twice")]

    def test_wrong_node(self):
        """A stated node is the victim's."""
        decision = {"reserves": {"a/task-0": "n1"}, "evictions": [{"task": "old/task-0", "node": "n2"}]}
        assert evictions(full_node(nodes={"n1": 1, "n2": 1}), decision) == [("old/task-0", "is on n1, not on n2")]

    def test_victim_on_no_node(self):
        """A waiting pod cannot be evicted from anywhere."""
        decision = {"reserves": {"a/task-0": "n1"}, "evictions": [{"task": "b/task-0", "node": "n1"}]}
        source = cluster(job("a", pending(), priority=100), job("b", pending(), priority=10))
        assert evictions(source, decision) == [("b/task-0", "is on no node, not on n1")]

    def test_policy_without_evictions(self):
        """A model can forbid them all."""
        message = "is evicted although the policy allows no evictions"
        assert evictions(full_node(), TAKE, rules={"eviction": "off"}) == [("old/task-0", message)]

    @pytest.mark.parametrize(
        ("stated", "right"),
        [
            ({"for": "default/a"}, True),
            ({"for": "default/b"}, False),
            ({"action": "preempt"}, True),
            ({"action": "reclaim"}, False),
        ],
    )
    def test_stated_job_and_action(self, stated, right):
        """An eviction that names its job or action is held to it."""
        source = full_node()
        source["jobs"].append(job("b", pending(None), priority=10))
        decision = {"reserves": {"a/task-0": "n1"}, "evictions": [{"task": "old/task-0", **stated}]}
        assert (evictions(source, decision) == []) is right

    @pytest.mark.parametrize("name", ["a", "b"])
    def test_any_of_those_who_may(self, name):
        """Where two jobs may evict it, it goes for either."""
        source = full_node(nodes=[{"name": "n1", "allocatable": {"cpu": "1500m", "pods": 10}}])
        source["jobs"].append(job("b", pending("500m"), priority=100))
        decision = {
            "reserves": {"a/task-0": "n1", "b/task-0": "n1"},
            "evictions": [{"task": "old/task-0", "for": f"default/{name}"}],
        }
        assert broken(decide(snapshot_of(source), decision)) == set()


def two_queues(old_cpus=2, *, waiting=1, new_cpu=1, cpus=2, left=None, right=None, **fields):
    """Queue left runs `old_cpus` tasks of one CPU, queue right has `waiting` jobs of one task each."""
    old = job("old", running(replicas=old_cpus), minMember=0, queue="left")
    new = [job(f"a{i}", pending(new_cpu), queue="right") for i in range(waiting)]
    queues = [{"name": "left", **(left or {})}, {"name": "right", **(right or {})}]
    return cluster(old, *new, nodes=cpus, queues=queues, **fields)


def take(victims=1, placed=1):
    """So many of the old tasks go for so many of the new ones."""
    return {
        "reserves": {f"a{i}/task-0": "n1" for i in range(placed)},
        "evicted": [f"old/task-{i}" for i in range(victims)],
    }


class TestReclaimUnderProportion:
    """Another queue gives back what it holds above its deserved share, to a queue within its own."""

    def test_borrowed_room_is_given_back(self):
        """Two queues deserve one CPU each, the left one holds two."""
        assert broken(decide(snapshot_of(two_queues()), take())) == set()

    def test_priority_plays_no_part(self):
        """The victim may be more important than the one it makes room for."""
        source = two_queues()
        source["jobs"][0]["priorityClassName"] = "p1000"
        assert evictions(source, take()) == []

    def test_own_share_is_kept(self):
        """The second victim would find its queue at its share; none of the two can be the last one."""
        found = evictions(two_queues(waiting=2), take(2, 2))
        assert found == [(f"old/task-{i}", NO_SHARE.format("left")) for i in range(2)]

    def test_last_victim_may_lead_below_the_share(self):
        """A queue is above its share before its last victim goes, even if it is below afterwards."""
        old = job("old", running(cpu=3), minMember=0, queue="left")
        queues = [{"name": "left"}, {"name": "right"}]
        source = cluster(old, job("a", pending(cpu=2), queue="right"), nodes=4, queues=queues)
        assert evictions(source, TAKE) == []

    def test_every_resource_counts(self):
        """Above the share in memory is above the share, also for a task that asks for CPU."""
        node = {"name": "n1", "allocatable": {"cpu": 2, "memory": "2Gi", "pods": 10}}
        old = job("old", running(cpu=1, requests={"memory": "2Gi"}), minMember=0, queue="left")
        new = job("a", pending(cpu=1, requests={"memory": "1Gi"}), queue="right")
        source = cluster(old, new, nodes=[node], queues=[{"name": "left"}, {"name": "right"}])
        assert evictions(source, TAKE) == []

    def test_claim_ends_at_the_own_share(self):
        """A queue that would exceed its own share has no claim, in any resource it asks for."""
        source = two_queues(new_cpu=2)
        decision = {"reserves": {"a0/task-0": "n1"}, "evicted": ["old/task-0", "old/task-1"]}
        assert len(evictions(source, decision)) == 2

    def test_queue_that_gives_nothing_back(self):
        """reclaimable: false."""
        assert evictions(two_queues(left={"reclaimable": False}), take()) == [("old/task-0", NO_TASK)]

    def test_action_has_to_be_configured(self):
        """Without reclaim nothing is given back."""
        settings = conf("enqueue, allocate, preempt", *BASE, "proportion")
        assert evictions(two_queues(), take(), conf=settings) == [("old/task-0", NO_TASK)]

    def test_without_shares_no_task_is_above(self):
        """Without a share plugin there is nothing to be above of."""
        assert evictions(two_queues(), take(), conf=conf(ALL, *BASE)) == [("old/task-0", NO_SHARE.format("left"))]

    def test_what_the_decision_places_gives_no_right(self):
        """A queue is checked by what it holds now; new tasks of its own do not make it a giver."""
        old = job("old", running(), minMember=0, queue="left")
        more = job("more", pending(), queue="left")
        source = cluster(
            old,
            more,
            job("a", pending(cpu=2), queue="right"),
            nodes=[
                {"name": "n1", "allocatable": {"cpu": 2, "pods": 10}},
                {"name": "n2", "allocatable": {"cpu": 1, "pods": 10}},
            ],
            queues=[{"name": "left"}, {"name": "right", "weight": 2}],
        )
        decision = {"binds": {"more/task-0": "n2"}, "reserves": {"a/task-0": "n1"}, "evicted": ["old/task-0"]}
        assert evictions(source, decision) == [("old/task-0", NO_SHARE.format("left"))]


class TestReclaimUnderCapacity:
    """The victim's dimensions count, one dimension within the own share is claim enough."""

    def test_above_the_declared_share(self):
        """Two held, one declared."""
        source = two_queues(left={"deserved": {"cpu": 1}}, right={"deserved": {"cpu": 1}})
        assert evictions(source, take(), conf=CAPACITY) == []

    def test_within_the_declared_share(self):
        """Two held, two declared."""
        source = two_queues(left={"deserved": {"cpu": 2}}, right={"deserved": {"cpu": 1}})
        assert evictions(source, take(), conf=CAPACITY) == [("old/task-0", NO_SHARE.format("left"))]

    def test_nothing_declared_is_given_up_freely(self):
        """A queue without a share in any of the victim's dimensions keeps nothing back."""
        source = two_queues(1, cpus=1, left={"deserved": {"nvidia.com/gpu": 1}}, right={"deserved": {"cpu": 1}})
        node = {"name": "n1", "allocatable": {"cpu": 1, "nvidia.com/gpu": 1, "pods": 10}}
        assert evictions({**source, "nodes": [node]}, take(), conf=CAPACITY) == []

    def test_claim_in_one_dimension_suffices(self):
        """Above its share in CPU, within it in memory: it may reclaim, as the plugin itself tests."""
        node = {"name": "n1", "allocatable": {"cpu": 2, "memory": "2Gi", "pods": 10}}
        old = job("old", running(cpu=2, requests={"memory": "2Gi"}), minMember=0, queue="left")
        new = job("a", pending(cpu=2, requests={"memory": "1Gi"}), queue="right")
        shares = ({"cpu": 1, "memory": "1Gi"}, {"cpu": 1, "memory": "1Gi"})
        queues = [{"name": name, "deserved": share} for name, share in zip(("left", "right"), shares, strict=True)]
        source = cluster(old, new, nodes=[node], queues=queues)
        assert evictions(source, TAKE, conf=CAPACITY) == []

    def test_no_claim_in_any_dimension(self):
        """Beyond its share in all it asks for, it has no claim."""
        source = two_queues(left={"deserved": {"cpu": 1}}, right={"deserved": {"cpu": "500m"}})
        assert evictions(source, take(), conf=CAPACITY) == [("old/task-0", NO_SHARE.format("left"))]

    @pytest.mark.parametrize(("level", "right"), [(0, False), (1, True)])
    def test_claim_of_an_ancestor(self, level, right):
        """With ancestorReclaimLevel a department's unused share is a claim of its teams; the root's never is."""
        plugin = {"name": "capacity", "enableHierarchy": True, "arguments": {"ancestorReclaimLevel": level}}
        queues = [
            {"name": "root"},
            {"name": "left", "parent": "root", "deserved": {"cpu": 1}},
            {"name": "dept", "parent": "root", "deserved": {"cpu": 1}},
            {"name": "right", "parent": "dept", "deserved": {"cpu": "500m"}},
        ]
        source = {**two_queues(), "queues": queues}
        assert (evictions(source, take(), conf=conf(ALL, *BASE, plugin)) == []) is right

    def test_root_is_no_claim(self):
        """However far the level reaches, what the root deserves is no task's own."""
        plugin = {"name": "capacity", "enableHierarchy": True, "arguments": {"ancestorReclaimLevel": 5}}
        queues = [
            {"name": "root"},
            {"name": "left", "parent": "root", "deserved": {"cpu": 1}},
            {"name": "spare", "parent": "root", "deserved": {"cpu": 1}},
            {"name": "right", "parent": "root", "deserved": {"cpu": "500m"}},
        ]
        source = {**two_queues(), "queues": queues}
        assert len(evictions(source, take(), conf=conf(ALL, *BASE, plugin))) == 1
