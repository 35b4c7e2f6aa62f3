"""What queues use and what they are due when a session opens."""

from __future__ import annotations

import pytest

from cpsched.snapshot.queues import QUEUE_GATE, cluster_total, elastic, held, promised, queue_demands, without_gated
from tests.judge import cluster, conf, job, pending, running, snapshot_of

BASE = ("priority", "gang")
LEAVING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


def only_job(*tasks, **fields):
    """The one job of a snapshot."""
    return snapshot_of(cluster(job("a", *tasks, **fields))).jobs["default/a"]


def test_cluster_total():
    """All nodes together, whether a task uses them or not."""
    snapshot = snapshot_of(cluster(job("a", running()), nodes={"n1": 2, "n2": 3}))
    assert cluster_total(snapshot.instance) == {"cpu": 5000, "pods": 20}


def test_demand():
    """Allocated is what runs or is bound, request adds what waits; a queue without jobs is marked."""
    tasks = (running(2), running(1, phase="Pending", role="b"), pending(3, role="c"), running(4, role="d", **LEAVING))
    queues = [{"name": "q", "weight": 3, "priority": 2}, {"name": "empty"}]
    snapshot = snapshot_of(cluster(job("a", *tasks, queue="q", minMember=1), queues=queues, nodes=9))
    busy, idle = queue_demands(snapshot.instance, snapshot.jobs)
    assert (busy.name, busy.weight, busy.priority, busy.has_jobs) == ("q", 3, 2, True)
    assert busy.allocated == {"cpu": 3000, "pods": 2}
    assert busy.request == {"cpu": 6000, "pods": 3}
    assert busy.elastic == {"cpu": 3000, "pods": 2}
    assert (idle.name, idle.has_jobs, idle.request) == ("empty", False, {})


def test_elastic_is_what_a_job_holds_beyond_its_stated_minimum():
    """Per resource, never below zero."""
    one = only_job(running(3, requests={"memory": 10}), minMember=1, minResources={"cpu": 2, "memory": 20})
    assert held(one) == {"cpu": 3000, "memory": 10, "pods": 1}
    assert elastic(one) == {"cpu": 1000, "pods": 1}


@pytest.mark.parametrize(
    ("phase", "minimum", "expected"),
    [
        ("Inqueue", 3, {"cpu": 1000}),
        ("Running", 1, {"cpu": 1000}),
        ("Running", 3, {}),
        ("Pending", 1, {}),
        ("Unknown", 1, {}),
    ],
)
def test_promised(phase, minimum, expected):
    """A job let in may still come to hold its minimum less what it has; a running one only once it is complete."""
    one = only_job(
        running(2), pending(1, role="more", replicas=2), minMember=minimum, phase=phase, minResources={"cpu": 3}
    )
    assert promised(one) == expected


def test_no_minimum_no_promise():
    """Nothing announced, nothing promised."""
    assert promised(only_job(pending(), phase="Inqueue")) == {}


def test_promise_never_below_zero():
    """A job that holds more than its minimum is owed nothing."""
    one = only_job(running(2), pending(role="more"), minMember=2, phase="Inqueue", minResources={"cpu": 1})
    assert promised(one) == {"cpu": 0}


@pytest.mark.parametrize(
    ("gates", "expected"),
    [(["example.com/g"], 1000), ([QUEUE_GATE], 3000), ([QUEUE_GATE, "example.com/g"], 1000)],
)
def test_gated_tasks_are_taken_off(gates, expected):
    """All but those held by Volcano's own queue gate alone."""
    one = only_job(pending(2, schedulingGates=[{"name": gate} for gate in gates]), pending(role="free"))
    assert without_gated(one, {"cpu": 3000}) == {"cpu": expected}
    assert without_gated(one, {"cpu": 1}) == {"cpu": 1 if expected == 3000 else 0}


def test_gated_tasks_are_promised_nothing():
    """What they ask for waits for their gates."""
    tasks = (pending(2, schedulingGates=[{"name": "example.com/g"}]), pending(role="free"))
    assert promised(only_job(*tasks, phase="Inqueue", minResources={"cpu": 3})) == {"cpu": 1000}


class TestShares:
    """Which plugin's shares count."""

    source = cluster(
        job("a", pending(3), queue="left"),
        job("b", pending(3), queue="right"),
        queues=[{"name": "root"}, {"name": "left", "deserved": {"cpu": 1}}, {"name": "right", "weight": 3}],
    )

    def deserved(self, *plugins, **options):
        """CPU each queue deserves."""
        snapshot = snapshot_of(self.source, conf=conf("allocate", *BASE, *plugins), **options)
        return {name: share.deserved.get("cpu", 0) for name, share in snapshot.shares.items()}

    def test_none(self):
        """Without a share plugin there are none."""
        assert self.deserved() == {}
        assert self.deserved("proportion", rules={"deserved": "off", "queue": "off"}, levels=["jobs_admitted"]) == {}

    def test_proportion(self):
        """By weight, of queues with jobs."""
        assert self.deserved("proportion") == {"left": 1000, "right": 3000}

    def test_capacity(self):
        """As declared."""
        assert self.deserved("capacity") == {"left": 1000, "right": 0}

    def test_tree(self):
        """Of all queues, the root's is its children's."""
        tree = {"name": "capacity", "enableHierarchy": True}
        assert self.deserved(tree) == {"root": 1000, "left": 1000, "right": 0}

    def test_refusal(self):
        """A tree without a root has no shares, and says why."""
        source = {**self.source, "queues": self.source["queues"][1:]}
        settings = conf("allocate", *BASE, {"name": "capacity", "enableHierarchy": True})
        snapshot = snapshot_of(source, conf=settings)
        assert snapshot.shares == {}
        assert "root" in snapshot.shares_refused
