"""Eviction rights given a whole decision: victims that go together, claims, and what an eviction counts under."""

from __future__ import annotations

import pytest

from cpsched.rules import charging
from tests.judge import broken, cluster, conf, decide, findings, job, pending, running, snapshot_of

BASE = ("priority", "gang", "predicates")
ALL = "enqueue, allocate, preempt, reclaim, backfill"
QUEUES = [{"name": "left"}, {"name": "right"}]
CAPACITY = conf(ALL, *BASE, "capacity")


def refused(source, decision, **options):
    """Victims that break the rule eviction."""
    found = findings(decide(snapshot_of(source, **options), decision))
    return [v.subject for v in found if v.rule == "eviction"]


def evicting(*numbers, **placed):
    """Old tasks of these numbers go, tasks are reserved on n1."""
    return {
        "reserves": {f"{name}/task-{i}": "n1" for name, count in placed.items() for i in range(count)},
        "evicted": [f"old/task-{number}" for number in numbers],
    }


class TestTogether:
    """Victims of one queue are checked in the best order, one after another."""

    four = cluster(
        job("old", running(replicas=4), minMember=0, queue="left"),
        job("a", pending(2), queue="right"),
        nodes=4,
        queues=QUEUES,
    )

    @pytest.mark.parametrize(("victims", "expected"), [(1, 0), (2, 0), (3, 3)])
    def test_down_to_the_share(self, victims, expected):
        """Of four CPUs, two of them borrowed, two may go; of three together none can be the last."""
        assert len(refused(self.four, evicting(*range(victims), a=1))) == expected

    def test_larger_victim_last(self):
        """A small and a large task: the large one may go last, leading below the share."""
        old = job("old", running(1), running(3, role="big"), minMember=0, queue="left")
        source = cluster(old, job("a", pending(2), queue="right"), nodes=4, queues=QUEUES)
        decision = {"reserves": {"a/task-0": "n1"}, "evicted": ["old/task-0", "old/big-0"]}
        assert refused(source, decision) == []

    def test_rights_object(self):
        """Two of them find the queue above its share; of three none does, and no queue of that name is above one."""
        snapshot = snapshot_of(self.four)
        rights = decide(snapshot, evicting(0, 1, a=1)).rights
        tasks = [snapshot.instance.tasks[f"old/task-{number}"] for number in range(4)]
        assert rights.given_back("left", tasks[:2]) == {"old/task-0", "old/task-1"}
        assert rights.given_back("left", tasks[:3]) == frozenset()
        assert rights.given_back("nowhere", tasks[:1]) == frozenset()

    def test_other_victims_may_be_stuck(self):
        """Under capacity a victim that may go does not help one whose resources are within the share."""
        node = {"name": "n1", "allocatable": {"cpu": 2, "memory": "2Gi", "pods": 10}}
        old = job("old", running(2), running(None, requests={"memory": "2Gi"}, role="m"), minMember=0, queue="left")
        queues = [
            {"name": "left", "deserved": {"cpu": 1, "memory": "2Gi"}},
            {"name": "right", "deserved": {"cpu": 1, "memory": "1Gi"}},
        ]
        new = job("a", pending(1, requests={"memory": "1Gi"}), queue="right")
        decision = {"reserves": {"a/task-0": "n1"}, "evicted": ["old/task-0", "old/m-0"]}
        assert refused(cluster(old, new, nodes=[node], queues=queues), decision, conf=CAPACITY) == ["old/m-0"]

    def test_preempted_victims_do_not_count_against_the_share(self):
        """One goes for its own queue, one for another: only the latter has to find its queue above its share."""
        old = job("old", running(replicas=2), running(node="n2", role="far"), priority=10, minMember=0, queue="left")
        source = cluster(
            old,
            job("own", pending(), priority=100, queue="left"),
            job("a", pending(), queue="right"),
            job("more", pending(), queue="right"),
            nodes={"n1": 2, "n2": 2},
            queues=QUEUES,
        )
        snapshot = snapshot_of(source)
        assert snapshot.shares["left"].deserved["cpu"] == 2000
        decision = {"reserves": {"own/task-0": "n1", "a/task-0": "n2"}, "evicted": ["old/task-0", "old/far-0"]}
        assert broken(decide(snapshot, decision)) == set()
        assert [v.key for v in decide(snapshot, decision).rights.reclaimed["left"]] == ["old/far-0"]

    @pytest.mark.parametrize(("share", "entitled"), [(1, ["own", "a"]), (3, ["own"])])
    def test_one_more_goes_beside_those_that_are_reclaimed(self, share, entitled):
        """One of two may be reclaimed from a share of three; that is the far one, which no task preempts."""
        old = job("old", running(2), running(2, node="n2", role="far"), priority=10, minMember=0, queue="left")
        new = [job("own", pending(), priority=100, queue="left"), job("a", pending(replicas=2), queue="right")]
        queues = [{"name": "left", "deserved": {"cpu": share}}, {"name": "right", "deserved": {"cpu": 4}}]
        snapshot = snapshot_of(cluster(old, *new, nodes={"n1": 2, "n2": 2}, queues=queues), conf=CAPACITY)
        reserves = {"own/task-0": "n1", "a/task-0": "n1", "a/task-1": "n2"}
        rights = decide(snapshot, {"reserves": reserves, "evicted": ["old/task-0", "old/far-0"]}).rights
        assert [task.key.split("/")[0] for task, _ in rights.by_victim["old/task-0"]] == entitled
        assert [task.key for task, _ in rights.by_victim["old/far-0"]] == ["a/task-1"]

    def test_all_that_go_at_once_leave_their_room_to_the_next(self):
        """Two find cpu above the share; with the memory of both of them a third finds memory above it too."""
        node = {"name": "n1", "allocatable": {"cpu": 8, "memory": "8Gi", "pods": 20}}
        two, third = running(2, 2, requests={"memory": "1Gi"}), running(None, requests={"memory": "1Gi"}, role="m")
        old = job("old", two, third, minMember=0, queue="left")
        queues = [{"name": "left", "deserved": {"cpu": 1, "memory": "2560Mi"}}, {"name": "right"}]
        source = cluster(old, job("a", pending(), queue="right"), nodes=[node], queues=queues)
        decision = decide(snapshot_of(source, conf=CAPACITY), {"evicted": ["old/task-0", "old/task-1", "old/m-0"]})
        found = decision.rights.given_back("left", decision.victims)
        assert found == {"old/task-0", "old/task-1", "old/m-0"}


class TestClaim:
    """The reclaiming queue stays within its deserved share."""

    def memory(self, cpu, memory, **right):
        """Queue left holds two CPUs and 2Gi; a task of queue right asks for some of both."""
        node = {"name": "n1", "allocatable": {"cpu": 2, "memory": "2Gi", "pods": 10}}
        old = job("old", running(2, requests={"memory": "2Gi"}), minMember=0, queue="left")
        new = job("a", pending(cpu, requests={"memory": memory}), queue="right", **right)
        return cluster(old, new, nodes=[node], queues=QUEUES)

    @pytest.mark.parametrize(
        ("cpu", "memory", "expected"),
        [(1, "1Gi", 0), ("500m", "512Mi", 0), (2, "512Mi", 1), ("500m", "2Gi", 1), (2, "2Gi", 1)],
    )
    def test_every_resource_under_proportion(self, cpu, memory, expected):
        """At or below its share in all that is asked for; one resource beyond it is enough to have no claim."""
        assert len(refused(self.memory(cpu, memory), evicting(0, a=1))) == expected

    def test_what_is_not_asked_for_does_not_count(self):
        """Beyond its share in memory the queue may still reclaim CPU for a task that asks for no memory."""
        node = {"name": "n1", "allocatable": {"cpu": 4, "memory": "2Gi", "pods": 10}}
        container = job("held", running(None, requests={"memory": "2Gi"}), minMember=0, queue="right")
        old = job("old", running(4, requests={"memory": 0}), pending(1, role="m", requests={"memory": "2Gi"}),
                  minMember=0, queue="left")  # fmt: skip
        for memory in ({}, {"memory": 0}):
            new = job("a", pending(1, requests=memory), queue="right")
            source = cluster(container, old, new, nodes=[node], queues=QUEUES)
            assert refused(source, evicting(0, a=1)) == []

    def test_pods_do_not_count(self):
        """A queue of many small pods is not held to its share of places."""
        node = {"name": "n1", "allocatable": {"cpu": 4, "pods": 4}}
        many = job("many", running("100m", replicas=2), minMember=0, queue="right")
        old = job("old", running("3800m"), pending("100m", role="more", replicas=3), minMember=0, queue="left")
        source = cluster(many, old, job("a", pending(1), queue="right"), nodes=[node], queues=QUEUES)
        snapshot = snapshot_of(source)
        assert snapshot.shares["right"].deserved["pods"] == 2
        assert refused(source, evicting(0, a=1)) == []

    @pytest.mark.parametrize(("level", "expected"), [(0, 1), (1, 1), (2, 0)])
    def test_claim_of_a_grandparent(self, level, expected):
        """Each level reaches one ancestor further."""
        plugin = {"name": "capacity", "enableHierarchy": True, "arguments": {"ancestorReclaimLevel": level}}
        queues = [
            {"name": "root"},
            {"name": "left", "parent": "root", "deserved": {"cpu": 1}},
            {"name": "division", "parent": "root", "deserved": {"cpu": 1}},
            {"name": "dept", "parent": "division", "deserved": {"cpu": "500m"}},
            {"name": "right", "parent": "dept", "deserved": {"cpu": "500m"}},
        ]
        old = job("old", running(replicas=2), minMember=0, queue="left")
        source = cluster(old, job("a", pending(), queue="right"), nodes=2, queues=queues)
        assert len(refused(source, evicting(0, a=1), conf=conf(ALL, *BASE, plugin))) == expected


class TestCountsUnder:
    """The action a victim counts under decides what protects it."""

    def both(self, **flags):
        """A gang of queue left whose room both a neighbour of its queue and one of queue right could take."""
        source = cluster(
            job("old", running(4), priority=10, minMember=1, queue="left"),
            job("a", pending(1), priority=100, queue="left"),
            job("b", pending(2), priority=100, queue="right"),
            queues=QUEUES,
        )
        return snapshot_of(source, conf=conf(ALL, "priority", {"name": "gang", **flags}, "proportion"))

    @pytest.mark.parametrize(
        ("action", "flags", "expected"),
        [
            ("", {"enableReclaimable": False}, {"protect.gang"}),
            ("preempt", {"enableReclaimable": False}, {"protect.gang"}),
            ("reclaim", {"enableReclaimable": False}, set()),
            ("reclaim", {"enablePreemptable": False}, {"protect.gang"}),
            ("", {"enablePreemptable": False}, set()),
        ],
    )
    def test_named_or_not(self, action, flags, expected):
        """Under the action it names, else under preempt if any task may preempt it."""
        decision = {
            "reserves": {"a/task-0": "n1", "b/task-0": "n1"},
            "evictions": [{"task": "old/task-0", "action": action}],
        }
        assert broken(decide(self.both(**flags), decision)) == expected

    def test_victim_without_a_right_counts_under_nothing(self):
        """It breaks eviction; what would protect it from an action is not asked."""
        old = job("old", running(replicas=2), priority=100, minMember=2, namespace="kube-system")
        budget = {
            "name": "b",
            "namespace": "kube-system",
            "selector": {"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]},
        }
        source = cluster(old, job("a", pending(), priority=10), nodes=2, budgets=[budget])
        settings = conf(ALL, *BASE, "conformance", "pdb", "proportion")
        snapshot = snapshot_of(source, conf=settings)
        decision = decide(snapshot, evicting(0, a=1))
        assert decision.rights.action("old/task-0") is None
        assert broken(decision) == {"eviction", "charge"}

    def test_protected_from_one_of_two_actions(self):
        """A gang that loses one task to each action is kept whole as soon as one of them respects it."""
        old = job("old", running(), running(role="far", node="n2"), priority=10, minMember=2, queue="left")
        source = cluster(
            old,
            job("own", pending(), priority=100, queue="left"),
            job("a", pending(), queue="right"),
            job("more", pending(3), queue="right"),
            nodes={"n1": 1, "n2": 1},
            queues=[{"name": "left"}, {"name": "right", "weight": 3}],
        )
        gang = {"name": "gang", "enableReclaimable": False}
        snapshot = snapshot_of(source, conf=conf(ALL, "priority", gang, "proportion"))
        decision = {
            "reserves": {"own/task-0": "n1", "a/task-0": "n2"},
            "evicted": ["old/task-0", "old/far-0"],
        }
        assert "protect.gang" in broken(decide(snapshot, decision))

    def test_placed_task_without_a_job(self):
        """It evicts no task, and is assignment's business."""
        orphan = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "x", "annotations": {"scheduling.k8s.io/group-name": "missing"}},
            "spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}], "priority": 1000},
            "status": {"phase": "Pending"},
        }
        source = cluster(job("old", running(), priority=10, minMember=0), nodes=1, objects=[orphan])
        decision = {"reserves": {"default/x": "n1"}, "evicted": ["old/task-0"]}
        assert broken(decide(snapshot_of(source), decision)) == {"assignment", "eviction", "charge"}


class TestCharging:
    """How the search for payers goes about rights that depend on each other."""

    def test_reclaim_without_a_right_pays_for_nothing(self):
        """One victim is preempted; the other could only be reclaimed, from a queue within its share."""
        old = job("old", running(replicas=2), priority=10, minMember=0, queue="left")
        source = cluster(
            old,
            job("own", pending(), priority=100, queue="left"),
            job("a", pending(), queue="right"),
            nodes=2,
            queues=[{"name": "left", "weight": 10**6}, {"name": "right"}],
        )
        settings = conf(ALL, *BASE, {"name": "proportion", "enabledAllocatable": False})
        assert broken(decide(snapshot_of(source, conf=settings), evicting(0, 1, own=1, a=1))) == {"charge"}

    def test_reclaimed_charges_add_up(self):
        """One victim pays for its own queue; each of the others could be given back alone, but not both of them."""
        source = cluster(
            job("old", running(replicas=3), priority=10, minMember=0, queue="left"),
            job("own", pending(), priority=100, queue="left"),
            job("a", pending(replicas=2), minMember=1, queue="right"),
            nodes={"n1": 3, "n2": 1},
            queues=QUEUES,
        )
        settings = conf(ALL, *BASE, {"name": "proportion", "enabledAllocatable": False})
        snapshot = snapshot_of(source, conf=settings)
        assert {name: share.deserved["cpu"] for name, share in snapshot.shares.items()} == {"left": 2000, "right": 2000}
        assert broken(decide(snapshot, evicting(0, 1, own=1, a=1))) == set()
        assert broken(decide(snapshot, evicting(0, 1, 2, own=1, a=2))) == {"charge"}

    @pytest.mark.parametrize(("weight", "deserved", "expected"), [(2, 2000, set()), (1, 3000, {"charge"})])
    def test_charges_on_two_nodes_add_up(self, weight, deserved, expected):
        """What is reclaimed on one node counts on the other: from four CPUs down to two, but not below three."""
        far = running(node="n2", role="far", replicas=2)
        source = cluster(
            job("old", running(replicas=2), far, priority=10, minMember=0, queue="left"),
            job("own", pending(replicas=2), priority=100, queue="left"),
            job("a", pending(replicas=2), queue="right"),
            job("more", pending(4), queue="right"),
            nodes={"n1": 2, "n2": 2, "n3": 2},
            queues=[{"name": "left"}, {"name": "right", "weight": weight}],
        )
        settings = conf(ALL, *BASE, {"name": "proportion", "enabledAllocatable": False})
        snapshot = snapshot_of(source, conf=settings)
        assert snapshot.shares["left"].deserved["cpu"] == deserved
        decision = {
            "reserves": {"own/task-0": "n1", "own/task-1": "n2", "a/task-0": "n1", "a/task-1": "n2"},
            "evicted": [f"old/{role}-{number}" for role in ("task", "far") for number in range(2)],
        }
        assert broken(decide(snapshot, decision)) == expected

    def test_every_missing_resource_has_to_be_paid_for(self):
        """CPU is charged to the one who may evict; the memory goes to one who may not."""
        node = {"name": "n1", "allocatable": {"cpu": 1, "memory": "1Gi", "pods": 10}}
        old = job("old", running(1), running(None, requests={"memory": "1Gi"}, role="m"), priority=10, minMember=0)
        new = job("a", pending(1), priority=100)
        rider = job("rider", pending(None, requests={"memory": "1Gi"}, preemptionPolicy="Never"), priority=100)
        decision = {"reserves": {"a/task-0": "n1", "rider/task-0": "n1"}, "evicted": ["old/task-0", "old/m-0"]}
        assert broken(decide(snapshot_of(cluster(old, new, rider, nodes=[node])), decision)) == {"charge"}

    def test_search_that_gives_up_says_so(self, monkeypatch):
        """Not decided is distinguished from refused."""
        monkeypatch.setattr(charging, "STEPS", 0)
        source = cluster(job("old", running(), priority=10, minMember=0), job("a", pending(), priority=100), nodes=1)
        (found,) = findings(decide(snapshot_of(source), evicting(0, a=1)))
        assert tuple(found) == (
            "charge",
            "n1",
            "whether its victims can be charged was not decided within the search limit",
        )
