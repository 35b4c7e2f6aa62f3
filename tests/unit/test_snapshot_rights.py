"""Who may evict whom, as far as the snapshot alone says."""

from __future__ import annotations

import pytest

from cpsched.snapshot.rights import actions_against, is_above_share
from tests.judge import cluster, conf, job, pending, running, snapshot_of

BASE = ("priority", "gang", "predicates")
ALL = "enqueue, allocate, preempt, reclaim, backfill"


def actions(source, **options):
    """The actions by which a/task-0 may evict old/task-0."""
    snapshot = snapshot_of(source, **options)
    tasks = snapshot.instance.tasks
    return list(actions_against(snapshot, tasks["a/task-0"], tasks["old/task-0"]))


def pair(old=None, new=None, *, old_job=None, new_job=None, **fields):
    """Job old (priority 10) runs, job a (priority 100) waits."""
    first = job("old", running(**(old or {})), **{"priority": 10, "minMember": 0, **(old_job or {})})
    second = job("a", pending(**(new or {})), **{"priority": 100, **(new_job or {})})
    return cluster(first, second, **fields)


TWO = [{"name": "left"}, {"name": "right"}]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (pair(), ["preempt"]),
        (pair(old_job={"queue": "left"}, new_job={"queue": "right"}, queues=TWO), ["reclaim"]),
        (pair(old_job={"queue": "left", "priority": 1000}, new_job={"queue": "right"}, queues=TWO), ["reclaim"]),
        (pair(old_job={"queue": "left"}, new_job={"queue": "left"}, queues=TWO), ["preempt"]),
        (pair(old_job={"priority": 100}), []),
        (pair(new={"preemptionPolicy": "Never"}), []),
        (pair(new={"preemptionPolicy": "PreemptLowerPriority"}), ["preempt"]),
        (pair(new_job={"minMember": 0}), []),
        (pair(old={"preemptable": False}), []),
        (pair(old={"deletionTimestamp": "2026-01-01T00:00:00Z"}), []),
        (pair(new={"cpu": None}), []),
        (pair(old={"cpu": None}, new={"cpu": None}), ["preempt"]),
        (pair(new={"cpu": None}, old_job={"queue": "left"}, new_job={"queue": "right"}, queues=TWO), ["reclaim"]),
    ],
)
def test_volcano(source, expected):
    """Same queue and lower priority: preempt; other queue: reclaim, whatever the priorities."""
    assert actions(source) == expected


def test_queue_that_gives_nothing_back():
    """reclaimable: false."""
    queues = [{"name": "left", "reclaimable": False}, {"name": "right"}]
    assert actions(pair(old_job={"queue": "left"}, new_job={"queue": "right"}, queues=queues)) == []


@pytest.mark.parametrize(
    ("configured", "expected"), [("allocate", []), ("allocate, preempt", ["preempt"]), ("reclaim", [])]
)
def test_configured_actions(configured, expected):
    """A right needs its action."""
    assert actions(pair(), conf=conf(configured, *BASE)) == expected


def test_policy_without_evictions():
    """A model without evictions gives no task a right."""
    assert actions(pair(), rules={"eviction": "off"}) == []


def test_victim_outside_the_session():
    """A pod whose PodGroup is unknown is no task's victim."""
    orphan = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "x", "annotations": {"scheduling.k8s.io/group-name": "missing"}},
        "spec": {"nodeName": "n1", "containers": [{"name": "main"}]},
        "status": {"phase": "Running"},
    }
    snapshot = snapshot_of(cluster(job("a", pending(), priority=100), objects=[orphan]))
    tasks = snapshot.instance.tasks
    assert list(actions_against(snapshot, tasks["a/task-0"], tasks["default/x"])) == []


@pytest.mark.parametrize(("old", "new", "expected"), [(1, 2, ["preempt"]), (2, 2, []), (3, 2, [])])
def test_within_a_job(old, new, expected):
    """Task priorities decide, strictly."""
    own = job("a", pending(priority=new), running(role="old", priority=old), minMember=2)
    snapshot = snapshot_of(cluster(own))
    tasks = snapshot.instance.tasks
    assert list(actions_against(snapshot, tasks["a/task-0"], tasks["a/old-0"])) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (pair(), ["preempt"]),
        (pair(old_job={"priority": 100}), []),
        (pair(old={"preemptable": False}), ["preempt"]),
        (pair(new={"cpu": None}), ["preempt"]),
        (pair(new={"preemptionPolicy": "Never"}), []),
        (pair(old_job={"queue": "left"}, new_job={"queue": "right"}, queues=TWO), ["preempt"]),
    ],
)
def test_kube_scheduler(source, expected):
    """Pod priorities alone; marks and queues are Volcano's."""
    assert actions(source, model="kube") == expected


class TestKinds:
    """Answers that are kept for several tasks are those of each."""

    def rights(self, *jobs):
        """Per entitled task what it may evict."""
        snapshot = snapshot_of(cluster(*jobs))
        tasks = snapshot.instance.tasks
        running_now = [key for key, task in tasks.items() if task.node]
        return {
            key: [one for one in running_now if snapshot.rights.actions(task, tasks[one])]
            for key, task in tasks.items()
            if not task.node
        }

    def test_by_the_jobs_rank(self):
        """Pods of the same rank, in a job below and in one above the entitled task's."""
        old = [job(name, running(priority=7), priority=rank, minMember=0) for name, rank in (("x", 10), ("y", 1000))]
        assert self.rights(*old, job("a", pending(), priority=100)) == {"a/task-0": ["x/task-0"]}

    def test_within_the_own_job(self):
        """Of two jobs that are alike each may evict its own task of lower rank, not the other's."""
        ranks = [{"annotations": {"volcano.sh/task-priority": rank}} for rank in ("1", "5")]
        jobs = [job(name, running(**ranks[0]), pending(role="new", **ranks[1]), minMember=2) for name in ("x", "y")]
        assert self.rights(*jobs) == {"x/new-0": ["x/task-0"], "y/new-0": ["y/task-0"]}


class TestAboveShare:
    """Whether a queue holding this much is above its share, in the eyes of its plugin."""

    def above(self, held, deserved=None, plugin="proportion", **victim):
        """Queue left deserves what is declared (capacity), or two of four CPUs (proportion)."""
        queues = [{"name": "left", "deserved": deserved or {}}, {"name": "right"}]
        old = job("old", running(**{"cpu": 1, **victim}), pending(4, role="more"), queue="left", minMember=0)
        source = cluster(old, job("a", pending(4), queue="right"), queues=queues)
        snapshot = snapshot_of(source, conf=conf(ALL, *BASE, plugin))
        return is_above_share(snapshot, "left", snapshot.instance.tasks["old/task-0"], held)

    def test_proportion(self):
        """Above in any resource, by whatever little."""
        assert not self.above({"cpu": 2000})
        assert self.above({"cpu": 2001})
        assert self.above({"cpu": 1, "memory": 1})
        assert self.above({"pods": 9})

    def test_capacity(self):
        """Above in what the victim asks for and a share is declared for."""
        assert self.above({"cpu": 2000}, {"cpu": 1}, "capacity")
        assert not self.above({"cpu": 1000}, {"cpu": 1}, "capacity")
        assert not self.above({"cpu": 1, "memory": 9}, {"cpu": 1, "memory": 1}, "capacity")

    def test_capacity_gives_up_what_no_share_is_declared_for(self):
        """A victim none of whose resources is declared may always go."""
        assert self.above({"cpu": 1}, {"memory": 1}, "capacity")
        assert self.above({}, None, "capacity")

    def test_queue_without_a_share(self):
        """A queue that no plugin knows is never above."""
        snapshot = snapshot_of(pair())
        assert not is_above_share(snapshot, "nowhere", snapshot.instance.tasks["old/task-0"], {"cpu": 9})
