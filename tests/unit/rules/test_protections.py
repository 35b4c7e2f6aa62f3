"""Rules that keep certain pods and queues from harm: protect.conformance, protect.pdb, protect.guarantee."""

from __future__ import annotations

import pytest

from tests.judge import broken, cluster, conf, decide, findings, job, pending, running, snapshot_of

BASE = ("priority", "gang", "predicates")
ALL = "enqueue, allocate, preempt, reclaim, backfill"
TAKE = {"reserves": {"a/task-0": "n1"}, "evicted": ["old/task-0"]}


def attacked(old=None, *, replicas=1, cpu=1, **fields):
    """Tasks of a low-priority job on a full node, and a high-priority job that wants `cpu` CPUs."""
    first = job("old", running(replicas=replicas, **(old or {})), priority=10, minMember=0, **fields.pop("old_job", {}))
    return cluster(first, job("a", pending(cpu), priority=100), nodes=replicas, **fields)


class TestConformance:
    """System-critical pods and everything in kube-system are never victims."""

    @pytest.mark.parametrize(
        ("old", "old_job", "spared"),
        [
            ({}, {}, False),
            ({}, {"namespace": "kube-system"}, True),
            ({"priorityClassName": "system-cluster-critical"}, {}, True),
            ({"priorityClassName": "system-node-critical"}, {}, True),
            ({"priorityClassName": "p10"}, {"namespace": "kube-public"}, False),
        ],
    )
    def test_who_is_spared(self, old, old_job, spared):
        """By namespace or by the pod's priority class."""
        found = findings(decide(snapshot_of(attacked(old, old_job=old_job)), TAKE))
        expected = [("protect.conformance", "old/task-0", "is critical to the system")] if spared else []
        assert [tuple(v) for v in found] == expected

    critical = attacked(old_job={"namespace": "kube-system"})

    @pytest.mark.parametrize(
        ("options", "expected"),
        [
            ({"conf": conf(ALL, *BASE)}, set()),
            ({"conf": conf(ALL, *BASE, "conformance")}, {"protect.conformance"}),
            ({"conf": conf(ALL, *BASE, {"name": "conformance", "enablePreemptable": False})}, set()),
            ({"conf": conf(ALL, *BASE, {"name": "conformance", "enableReclaimable": False})}, {"protect.conformance"}),
            ({"rules": {"protect.conformance": "off"}}, set()),
            ({"rules": {"protect.conformance": "on"}, "conf": conf(ALL, *BASE)}, {"protect.conformance"}),
        ],
    )
    def test_who_protects(self, options, expected):
        """The plugin's flag for the action decides, or the model."""
        assert broken(decide(snapshot_of(self.critical, **options), TAKE)) == expected

    @pytest.mark.parametrize(("flag", "expected"), [(True, {"protect.conformance"}), (False, set())])
    def test_reclaim(self, flag, expected):
        """Against reclaim the flag enableReclaimable decides."""
        old = job("old", running(replicas=2), minMember=0, queue="rich", namespace="kube-system")
        source = cluster(old, job("a", pending(), queue="poor"), nodes=2, queues=[{"name": "rich"}, {"name": "poor"}])
        settings = conf(ALL, *BASE, "proportion", {"name": "conformance", "enableReclaimable": flag})
        assert broken(decide(snapshot_of(source, conf=settings), TAKE)) == expected


def budget(allowed, *, name="budget", **fields):
    """A budget over the pods labelled app: db."""
    return {"name": name, "selector": {"matchLabels": {"app": "db"}}, "disruptionsAllowed": allowed, **fields}


class TestPdb:
    """With `hard` no budget is exceeded."""

    hard = conf(ALL, *BASE, "pdb")
    two = {"reserves": {"a/task-0": "n1"}, "evicted": ["old/task-0", "old/task-1"]}

    def databases(self, *budgets, **fields):
        """Two databases on a full node, both of which have to go."""
        return attacked({"labels": {"app": "db"}}, replicas=2, cpu=2, budgets=list(budgets), **fields)

    @pytest.mark.parametrize(("allowed", "expected"), [(2, set()), (1, {"protect.pdb"}), (-1, {"protect.pdb"})])
    def test_allowance(self, allowed, expected):
        """Two evictions of two allowed are fine, of fewer not."""
        assert broken(decide(snapshot_of(self.databases(budget(allowed)), conf=self.hard), self.two)) == expected

    def test_message(self):
        """It counts."""
        found = findings(decide(snapshot_of(self.databases(budget(1)), conf=self.hard), self.two))
        assert [tuple(v) for v in found] == [("protect.pdb", "default/budget", "2 of its pods are evicted, 1 allowed")]

    def test_every_budget_counts(self):
        """One generous budget does not outweigh a strict one."""
        source = self.databases(budget(5, name="wide"), budget(1, name="narrow"))
        found = findings(decide(snapshot_of(source, conf=self.hard), self.two))
        assert [v.subject for v in found] == ["default/narrow"]

    @pytest.mark.parametrize(
        "other",
        [
            budget(0, namespace="elsewhere"),
            {**budget(0), "selector": {"matchLabels": {"app": "web"}}},
            {**budget(0), "selector": {}},
            {**budget(0), "selector": {"matchExpressions": [{"key": "app", "operator": "Near", "values": ["db"]}]}},
            budget(0, disruptedPods=["old-task-0", "old-task-1"]),
        ],
    )
    def test_budgets_that_do_not_cover_the_victims(self, other):
        """Another namespace, other labels, an empty or unreadable selector, pods already being disrupted."""
        assert broken(decide(snapshot_of(self.databases(other), conf=self.hard), self.two)) == set()

    def test_budget_without_a_selector(self):
        """It covers no task."""
        raw = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b"}}
        source = {**self.databases(), "objects": [raw]}
        assert broken(decide(snapshot_of(source, conf=self.hard), self.two)) == set()

    def test_budget_of_victims_that_are_not_protected(self):
        """The budget binds preempt alone; it is exceeded by a reclaimed pod, while the preempted one is not its own."""
        old = job(
            "old", running(labels={"app": "db"}), running(role="b", node="n2"), priority=10, minMember=0, queue="left"
        )
        source = cluster(
            old,
            job("a", pending(), priority=10, queue="right"),
            job("own", pending(), priority=100, queue="left"),
            nodes={"n1": 1, "n2": 1},
            queues=[{"name": "left"}, {"name": "right"}],
            budgets=[budget(0)],
        )
        pdb = {"name": "pdb", "enableReclaimable": False}
        snapshot = snapshot_of(source, conf=conf(ALL, *BASE, "proportion", pdb))
        decision = {
            "reserves": {"a/task-0": "n1", "own/task-0": "n2"},
            "evicted": ["old/task-0", "old/b-0"],
        }
        assert {decide(snapshot, decision).rights.action(key) for key in decision["evicted"]} == {"preempt", "reclaim"}
        assert broken(decide(snapshot, decision)) == set()

    def test_expressions_select_too(self):
        """A selector may consist of expressions alone."""
        selector = {"matchExpressions": [{"key": "app", "operator": "In", "values": ["db"]}]}
        source = self.databases({**budget(0), "selector": selector})
        assert broken(decide(snapshot_of(source, conf=self.hard), self.two)) == {"protect.pdb"}

    @pytest.mark.parametrize(
        "options",
        [
            {"conf": conf(ALL, *BASE)},
            {"conf": conf(ALL, *BASE, {"name": "pdb", "enablePreemptable": False})},
            {"conf": hard, "rules": {"protect.pdb": "off"}},
            {"model": "kube"},
        ],
    )
    def test_no_task_protects(self, options):
        """Without the plugin, with its flag off, or where the model is lenient, budgets may be exceeded."""
        assert broken(decide(snapshot_of(self.databases(budget(0)), **options), self.two)) == set()

    def test_reclaim_flag(self):
        """Against reclaim the flag enableReclaimable decides."""
        old = job("old", running(replicas=2, labels={"app": "db"}), minMember=0, queue="rich")
        queues = [{"name": "rich"}, {"name": "poor"}]
        source = cluster(old, job("a", pending(), queue="poor"), nodes=2, queues=queues, budgets=[budget(0)])
        for flag, expected in ((True, {"protect.pdb"}), (False, set())):
            settings = conf(ALL, *BASE, "proportion", {"name": "pdb", "enableReclaimable": flag})
            assert broken(decide(snapshot_of(source, conf=settings), TAKE)) == expected


class TestGuarantee:
    """A queue that loses tasks keeps its guarantee."""

    capacity = conf(ALL, *BASE, "capacity")

    def guaranteed(self, guarantee, **fields):
        """A queue that holds three CPUs, two of them in one task, against a queue that wants one."""
        old = job("old", running(cpu=2), running(role="small"), minMember=0, queue="left")
        left = {"name": "left", "deserved": {"cpu": 2}, "guarantee": {"cpu": guarantee}}
        queues = [left, {"name": "right", "deserved": {"cpu": 1}}]
        return cluster(old, job("a", pending(), queue="right"), nodes=3, queues=queues, **fields)

    @pytest.mark.parametrize(("guarantee", "expected"), [(1, set()), (2, {"protect.guarantee"})])
    def test_what_is_left(self, guarantee, expected):
        """One CPU is left: as much as is guaranteed is fine, less is not."""
        snapshot = snapshot_of(self.guaranteed(guarantee), conf=self.capacity)
        assert broken(decide(snapshot, TAKE)) == expected

    def test_message(self):
        """The queue is named."""
        found = findings(decide(snapshot_of(self.guaranteed(2), conf=self.capacity), TAKE))
        assert [tuple(v) for v in found] == [("protect.guarantee", "left", "is pushed below its guarantee")]

    def test_smaller_victim(self):
        """The small task may go."""
        decision = {"reserves": {"a/task-0": "n1"}, "evicted": ["old/small-0"]}
        assert broken(decide(snapshot_of(self.guaranteed(2), conf=self.capacity), decision)) == set()

    def test_flag_and_model(self):
        """With the plugin's enableReclaimable off, or by the model, no task looks."""
        settings = conf(ALL, *BASE, {"name": "capacity", "enableReclaimable": False})
        assert broken(decide(snapshot_of(self.guaranteed(2), conf=settings), TAKE)) == set()
        off = snapshot_of(self.guaranteed(2), conf=self.capacity, rules={"protect.guarantee": "off"})
        assert broken(decide(off, TAKE)) == set()

    def test_preempt_is_within_the_queue(self):
        """Against preempt the plugin does not protect; the model can."""
        old = job("old", running(cpu=2), priority=10, minMember=0, queue="left")
        new = job("a", pending(), priority=100, queue="left")
        queues = [{"name": "left", "deserved": {"cpu": 2}, "guarantee": {"cpu": 2}}]
        source = cluster(old, new, nodes=2, queues=queues)
        assert broken(decide(snapshot_of(source, conf=self.capacity), TAKE)) == set()
        insisting = snapshot_of(source, conf=self.capacity, rules={"protect.guarantee": "on"})
        assert broken(decide(insisting, TAKE)) == {"protect.guarantee"}

    def test_no_shares_no_guarantee(self):
        """Without a share plugin there is no guarantee to keep, even if the model insists."""
        old = job("old", running(), priority=10, minMember=0)
        source = cluster(old, job("a", pending(), priority=100), nodes=1)
        snapshot = snapshot_of(source, conf=conf(ALL, *BASE), rules={"protect.guarantee": "on"})
        assert broken(decide(snapshot, TAKE)) == set()

    def test_victim_without_a_right(self):
        """It breaks eviction, not the guarantee."""
        old = job("old", running(2), priority=100, minMember=0, queue="left")
        queues = [{"name": "left", "deserved": {"cpu": 2}, "guarantee": {"cpu": 2}}]
        source = cluster(old, job("a", pending(), priority=10, queue="left"), nodes=2, queues=queues)
        snapshot = snapshot_of(source, conf=self.capacity, rules={"protect.guarantee": "on"})
        assert broken(decide(snapshot, TAKE)) == {"eviction", "charge"}
