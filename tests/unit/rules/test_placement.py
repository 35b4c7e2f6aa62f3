"""Rules about where tasks go: assignment, capacity, filters, actions."""

from __future__ import annotations

import pytest

from cpsched.rules import RULES, Decision
from tests.judge import broken, cluster, conf, decide, findings, job, pending, running, snapshot_of

BIND = {"binds": {"a/task-0": "n1"}}
RESERVE = {"reserves": {"a/task-0": "n1"}}
PLUGINS = ("priority", "gang", "predicates", "proportion")


def messages(rule, source, decision, **options):
    """What the rule says about a decision."""
    return [
        (v.subject, v.message) for v in findings(decide(snapshot_of(source, **options), decision)) if v.rule == rule
    ]


class TestAssignment:
    """A pending, ungated task of an admissible job goes to at most one node."""

    def test_pending_task_may_be_placed(self):
        """A waiting task of a job in the cycle goes to a node that exists."""
        assert broken(decide(snapshot_of(cluster(job("a", pending()))), BIND)) == set()

    def test_unknown_task(self):
        """No task is placed who does not exist."""
        assert messages("assignment", cluster(job("a", pending())), {"binds": {"a/task-7": "n1"}}) == [
            ("a/task-7", "does not exist")
        ]

    def test_unknown_node(self):
        """No task is placed where nothing is."""
        assert messages("assignment", cluster(job("a", pending())), {"reserves": {"a/task-0": "n9"}}) == [
            ("a/task-0", "is placed on n9, which does not exist")
        ]

    def test_task_both_started_and_reserved(self):
        """One task has one place."""
        decision = {"binds": {"a/task-0": "n1"}, "reserves": {"a/task-0": "n1"}}
        assert messages("assignment", cluster(job("a", pending())), decision) == [("a/task-0", "is placed twice")]

    @pytest.mark.parametrize(
        ("fields", "status"),
        [
            ({"running": "n1"}, "Running"),
            ({"running": "n1", "phase": "Pending"}, "Bound"),
            ({"running": "n1", "deletionTimestamp": "2026-01-01T00:00:00Z"}, "Releasing"),
            ({"phase": "Succeeded"}, "Succeeded"),
            ({"phase": "Failed"}, "Failed"),
            ({"phase": "Unknown"}, "Unknown"),
        ],
    )
    def test_only_pending_tasks(self, fields, status):
        """A task that is not pending cannot be placed."""
        assert messages("assignment", cluster(job("a", pending(**fields), minMember=0)), BIND) == [
            ("a/task-0", f"is {status}, not Pending")
        ]

    def test_gate(self):
        """A gated task waits for its gate."""
        gated = pending(schedulingGates=[{"name": "example.com/wait"}])
        assert messages("assignment", cluster(job("a", gated)), BIND) == [("a/task-0", "is held by a scheduling gate")]

    def test_pod_without_a_job(self):
        """A pod that names a PodGroup no task gave is in no job, so it is not placed."""
        orphan = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "x", "annotations": {"scheduling.k8s.io/group-name": "missing"}},
            "spec": {"containers": [{"name": "main"}]},
            "status": {"phase": "Pending"},
        }
        found = messages("assignment", cluster(objects=[orphan]), {"binds": {"default/x": "n1"}})
        assert found == [("default/x", "belongs to no job of this session")]

    def test_job_that_can_never_be_ready(self):
        """A gang with too few tasks is not valid."""
        source = cluster(job("a", pending(), minMember=2))
        assert messages("assignment", source, BIND) == [
            ("a/task-0", "its job default/a has too few tasks to ever be ready")
        ]

    def test_too_few_tasks_do_not_matter_without_the_gang_plugin(self):
        """Validity is the gang plugin's question."""
        settings = conf("enqueue, allocate", "priority", "predicates")
        assert broken(decide(snapshot_of(cluster(job("a", pending(), minMember=2)), conf=settings), BIND)) == set()

    def test_pending_job_has_to_enter(self):
        """A job whose PodGroup is Pending is placed only if it enters; Decision.of lets it enter by placing it."""
        snapshot = snapshot_of(cluster(job("a", pending(), phase="Pending")))
        outside = Decision(snapshot, {"a/task-0": "n1"}, {})
        assert [v.message for v in RULES["assignment"](outside)] == ["its job default/a has not entered the cycle"]
        assert broken(decide(snapshot, BIND)) == set()


class TestCapacity:
    """No node is given more than it has or will have."""

    def test_exactly_full_is_fine(self):
        """Four CPUs take four tasks of one."""
        four = {"binds": {f"a/task-{i}": "n1" for i in range(4)}}
        assert broken(decide(snapshot_of(cluster(job("a", pending(replicas=4)))), four)) == set()

    def test_started_tasks_fit_what_is_idle(self):
        """A fifth CPU is not there; it is missing today and later."""
        assert messages("capacity", cluster(job("a", pending(cpu=5)), nodes=4), BIND) == [
            ("n1", "more cpu is started than is idle"),
            ("n1", "more cpu is promised than will be free"),
        ]

    def test_room_of_a_victim_may_be_reserved(self):
        """An evicted pod's room is there later."""
        source = cluster(job("old", running(), priority=10, minMember=0), job("a", pending(), priority=100), nodes=1)
        snapshot = snapshot_of(source)
        assert broken(decide(snapshot, {**RESERVE, "evicted": ["old/task-0"]})) == set()
        assert "capacity" in broken(decide(snapshot, RESERVE))

    def test_room_of_a_victim_is_not_there_yet(self):
        """It cannot be started in."""
        source = cluster(job("old", running(), priority=10, minMember=0), job("a", pending(), priority=100), nodes=1)
        assert messages("capacity", source, {**BIND, "evicted": ["old/task-0"]}) == [
            ("n1", "more cpu is started than is idle")
        ]

    def test_releasing_room_may_be_reserved_not_started_in(self):
        """A terminating pod still holds its room today."""
        leaving = running(deletionTimestamp="2026-01-01T00:00:00Z")
        snapshot = snapshot_of(cluster(job("old", leaving, minMember=0), job("a", pending()), nodes=1))
        assert broken(decide(snapshot, RESERVE)) == set()
        assert broken(decide(snapshot, BIND)) == {"capacity"}

    def test_binds_and_reserves_share_the_future(self):
        """What is started now is not free later."""
        source = cluster(job("a", pending(), pending(role="b")), nodes=1)
        decision = {"binds": {"a/task-0": "n1"}, "reserves": {"a/b-0": "n1"}}
        assert messages("capacity", source, decision) == [("n1", "more cpu is promised than will be free")]

    def test_every_node_counts_for_itself(self):
        """Room on one node does not help on another."""
        source = cluster(job("a", pending(cpu=2)), nodes={"n1": 1, "n2": 1})
        assert {subject for subject, _ in messages("capacity", source, BIND)} == {"n1"}

    def test_pod_count_is_a_resource(self):
        """Every task asks for one of the node's pods."""
        node = {"name": "n1", "allocatable": {"cpu": 4, "pods": 1}}
        two = {"binds": {"a/task-0": "n1", "a/task-1": "n1"}}
        found = messages("capacity", cluster(job("a", pending(replicas=2)), nodes=[node]), two)
        assert ("n1", "more pods is started than is idle") in found

    def test_only_what_is_asked_for_is_looked_at(self):
        """Memory that is promised twice over does not stop a task without memory, and stops one that asks for any."""
        node = {"name": "n1", "allocatable": {"cpu": 4, "memory": "1Gi", "pods": 10}}
        hog = running(requests={"memory": "2Gi"})
        greedy = pending(requests={"memory": 1})
        plain = conf("enqueue, allocate", "priority", "gang")
        snapshot = snapshot_of(
            cluster(job("hog", hog), job("a", pending()), job("b", greedy), nodes=[node]), conf=plain
        )
        assert broken(decide(snapshot, BIND)) == set()
        assert broken(decide(snapshot, {"binds": {"b/task-0": "n1"}})) == {"capacity"}

    def test_a_request_of_zero_is_no_request(self):
        """Zero of something the node lacks fits."""
        zero = pending(requests={"nvidia.com/gpu": 0})
        assert broken(decide(snapshot_of(cluster(job("a", zero))), BIND)) == set()

    def test_zero_of_something_overcommitted(self):
        """Zero also fits where less than nothing is left; one byte does not."""
        node = {"name": "n1", "allocatable": {"cpu": 4, "memory": "1Gi", "pods": 10}}
        plain = conf("enqueue, allocate", "priority", "gang")
        for memory, expected in ((0, set()), (1, {"capacity"})):
            new = job("a", pending(requests={"memory": memory}))
            source = cluster(job("hog", running(requests={"memory": "2Gi"})), new, nodes=[node])
            assert broken(decide(snapshot_of(source, conf=plain), BIND)) == expected

    def test_a_resource_the_node_lacks(self):
        """One of something the node lacks does not."""
        gpu = pending(requests={"nvidia.com/gpu": 1})
        assert ("n1", "more nvidia.com/gpu is started than is idle") in messages(
            "capacity", cluster(job("a", gpu)), BIND
        )


def beside(labels, **fields):
    """A waiting task that keeps away from pods with the labels, and a running one that has them."""
    term = {"labelSelector": {"matchLabels": labels}, "topologyKey": "kubernetes.io/hostname"}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    old = job("old", running(labels=labels, **fields), priority=10, minMember=0)
    return cluster(old, job("a", pending(affinity=affinity), priority=100))


class TestFilters:
    """Every enabled predicate holds for every placed task."""

    tainted = [
        {
            "name": "n1",
            "allocatable": {"cpu": 4, "pods": 10},
            "taints": [{"key": "gpu", "value": "only", "effect": "NoSchedule"}],
        }
    ]

    def test_static_refusal(self):
        """An untolerated taint keeps the task away, and the message is the filter's."""
        found = messages("filters", cluster(job("a", pending()), nodes=self.tainted), BIND)
        assert found == [("a/task-0", "may not be on n1: node(s) had untolerated taint(s)")]

    def test_static_acceptance(self):
        """A toleration lets it in."""
        tolerant = pending(tolerations=[{"key": "gpu", "operator": "Exists"}])
        assert broken(decide(snapshot_of(cluster(job("a", tolerant), nodes=self.tainted)), BIND)) == set()

    def test_no_predicates_plugin(self):
        """Without the plugin no task asks."""
        settings = conf("enqueue, allocate", "priority", "gang")
        source = cluster(job("a", pending()), nodes=self.tainted)
        assert broken(decide(snapshot_of(source, conf=settings), BIND)) == set()

    def test_switched_off_filter(self):
        """A filter that the plugin's arguments switch off is not asked."""
        off = {"name": "predicates", "arguments": {"predicate.TaintTolerationEnable": False}}
        source = cluster(job("a", pending()), nodes=self.tainted)
        assert broken(decide(snapshot_of(source, conf=conf("allocate", "gang", off)), BIND)) == set()

    def test_dynamic_refusal(self):
        """A pod on the node, running or placed along, can keep the task away."""
        (found,) = findings(decide(snapshot_of(beside({"app": "x"})), BIND))
        assert (found.rule, found.subject) == ("filters", "a/task-0")
        assert found.message.startswith("may not be on n1: ")

    def test_eviction_removes_the_hindrance_later(self):
        """Once the victim is gone the task may be there: a reserve is fine, a start is too early."""
        snapshot = snapshot_of(beside({"app": "x"}))
        assert broken(decide(snapshot, {**RESERVE, "evicted": ["old/task-0"]})) == set()
        found = findings(decide(snapshot, {**BIND, "evicted": ["old/task-0"]}))
        assert [(v.rule, v.message.partition(":")[0]) for v in found] == [("filters", "may not start on n1 yet")]

    def test_who_waits_for_the_victim_does_not_hinder_those_who_start(self):
        """Only what starts now has to get on with the victims; the port is free for the other once they are gone."""
        port = {"ports": [{"containerPort": 80, "hostPort": 80}]}
        old = job("old", running(**port), priority=10, minMember=0)
        source = cluster(old, job("a", pending(**port), priority=100), job("b", pending(), priority=100))
        decision = {**RESERVE, "binds": {"b/task-0": "n1"}, "evicted": ["old/task-0"]}
        assert broken(decide(snapshot_of(source), decision)) == set()

    def test_ports_of_two_newcomers_clash(self):
        """Two placed tasks may not share a host port."""
        proxy = pending(replicas=2, ports=[{"containerPort": 80, "hostPort": 80}])
        two = {"binds": {"a/task-0": "n1", "a/task-1": "n1"}}
        assert broken(decide(snapshot_of(cluster(job("a", proxy))), two)) == {"filters"}

    def test_ports_of_two_newcomers_on_two_nodes(self):
        """On two nodes they may."""
        proxy = pending(replicas=2, ports=[{"containerPort": 80, "hostPort": 80}])
        two = {"binds": {"a/task-0": "n1", "a/task-1": "n2"}}
        assert broken(decide(snapshot_of(cluster(job("a", proxy), nodes={"n1": 1, "n2": 1})), two)) == set()


class TestActions:
    """What no configured action could do is not allowed."""

    @pytest.mark.parametrize(
        ("actions", "cpu", "decision", "allowed"),
        [
            ("allocate", 1, BIND, True),
            ("preempt", 1, BIND, False),
            ("reclaim", 1, BIND, False),
            ("backfill", 1, BIND, False),
            ("allocate", 1, RESERVE, True),
            ("preempt", 1, RESERVE, True),
            ("reclaim", 1, RESERVE, True),
            ("backfill", 1, RESERVE, False),
            ("backfill", None, BIND, True),
            ("allocate", None, BIND, False),
            ("allocate", None, RESERVE, False),
            ("backfill", None, RESERVE, False),
            ("preempt", None, RESERVE, True),
            ("reclaim", None, RESERVE, True),
        ],
    )
    def test_which_action_places_whom(self, actions, cpu, decision, allowed):
        """Binds need allocate (BestEffort: backfill), reserves an action that reserves."""
        snapshot = snapshot_of(cluster(job("a", pending(cpu))), conf=conf(actions, *PLUGINS))
        assert broken(decide(snapshot, decision)) == (set() if allowed else {"actions"})

    def test_message_names_what_is_missing(self):
        """The reader learns which action would have been needed."""
        found = messages("actions", cluster(job("a", pending())), BIND, conf=conf("preempt", *PLUGINS))
        assert found == [("a/task-0", "could only start by allocate, not configured")]

    def test_eviction_by_an_action_that_is_not_configured(self):
        """A victim that names its action is held to it."""
        source = cluster(job("old", running(), priority=10, minMember=0), job("a", pending(), priority=100), nodes=1)
        decision = {**RESERVE, "evictions": [{"task": "old/task-0", "action": "reclaim"}]}
        found = messages("actions", source, decision, conf=conf("allocate, preempt", *PLUGINS))
        assert found == [("old/task-0", "is evicted by reclaim, which is not configured")]

    def test_kube_scheduler_has_no_actions(self):
        """Under kube-scheduler everything can be started and reserved."""
        snapshot = snapshot_of(cluster(job("a", pending(None))), model="kube")
        assert broken(decide(snapshot, BIND)) == set()
        assert broken(decide(snapshot, RESERVE)) == set()
