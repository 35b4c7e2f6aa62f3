"""The session as it opens: room on nodes, who takes part, what time it is."""

from __future__ import annotations

import pytest

from cpsched import timestamps
from tests.judge import cluster, conf, job, pending, running, snapshot_of

LEAVING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
BASE = ("priority", "gang", "predicates")


class TestRoom:
    """What is free today, and what will be."""

    def test_empty_node(self):
        """Everything it can allocate, in Volcano's units."""
        node = {"name": "n1", "allocatable": {"cpu": "1500m", "memory": "1Ki", "pods": 3, "nvidia.com/gpu": 2}}
        snapshot = snapshot_of(cluster(nodes=[node]))
        assert snapshot.idle["n1"] == {"cpu": 1500, "memory": 1024, "pods": 3, "nvidia.com/gpu": 2000}

    def test_releasing_room(self):
        """A terminating pod holds its room today; later it is free."""
        snapshot = snapshot_of(cluster(job("old", running(), running(2, role="leaving", **LEAVING)), nodes=4))
        assert (snapshot.idle["n1"]["cpu"], snapshot.future_idle["n1"]["cpu"]) == (1000, 3000)
        assert (snapshot.idle["n1"]["pods"], snapshot.future_idle["n1"]["pods"]) == (8, 9)

    def test_finished_pods_hold_nothing(self):
        """Succeeded and failed pods are off the node."""
        ended = [{**pending(role=phase.lower(), phase=phase), "nodeName": "n1"} for phase in ("Succeeded", "Failed")]
        snapshot = snapshot_of(cluster(job("old", *ended, minMember=0), nodes=4))
        assert snapshot.idle["n1"] == {"cpu": 4000, "pods": 10}

    def test_pods_of_unknown_phase_hold_room(self):
        """A lost pod may still be there."""
        lost = {**pending(phase="Unknown"), "nodeName": "n1"}
        assert snapshot_of(cluster(job("old", lost, minMember=0), nodes=4)).idle["n1"]["cpu"] == 3000

    def test_overcommitted_room_is_negative(self):
        """A node taken beyond its size."""
        assert snapshot_of(cluster(job("old", running(3)), nodes=2)).idle["n1"]["cpu"] == -1000

    def test_resource_the_node_lacks(self):
        """What a pod holds of something the node does not offer is missing there."""
        snapshot = snapshot_of(cluster(job("old", running(requests={"nvidia.com/gpu": 1}))))
        assert snapshot.idle["n1"]["nvidia.com/gpu"] == -1000


class TestTakingPart:
    """Valid, and in the cycle already or able to enter it."""

    def parts(self, *jobs, **options):
        """Names of the jobs that take part."""
        snapshot = snapshot_of(cluster(*jobs), **options)
        return [name for name, one in snapshot.jobs.items() if snapshot.takes_part(one)]

    def test_invalid_gang(self):
        """Too few tasks: out, unless no task asks."""
        short = job("a", pending(), minMember=2)
        assert self.parts(short) == []
        assert self.parts(short, conf=conf("allocate", "priority")) == ["default/a"]

    @pytest.mark.parametrize(
        ("actions", "cpu", "expected"),
        [
            ("enqueue, allocate", 1, True),
            ("enqueue, allocate", 100, False),
            ("allocate", 100, True),
            ("preempt", 1, False),
        ],
    )
    def test_pending_job(self, actions, cpu, expected):
        """In by enqueue if it is not refused, in by allocate freely, else not."""
        waiting = job("a", pending(), phase="Pending", minResources={"cpu": cpu})
        assert bool(self.parts(waiting, conf=conf(actions, *BASE, "overcommit"))) is expected

    def test_starving_jobs_are_below_their_minimum_and_have_tasks_to_place(self):
        """A complete job, and one whose only task is gated, do not wait for admission."""
        gated = job("gated", pending(schedulingGates=[{"name": "g"}]))
        complete = job("complete", running(), pending(role="more"), minMember=1)
        snapshot = snapshot_of(cluster(job("a", pending()), gated, complete))
        assert [one.key for one in snapshot.starving] == ["default/a"]


class TestNow:
    """The clock."""

    def test_stated(self):
        """The instance's own word."""
        source = cluster(job("a", running(startTime="2026-02-01T00:00:00Z")), now="2026-01-01T00:00:00Z")
        assert timestamps.text(snapshot_of(source).now) == "2026-01-01T00:00:00Z"

    @pytest.mark.parametrize(
        "late",
        [{"startTime": "2026-03-01T00:00:00Z"}, {"creationTimestamp": "2026-03-01T00:00:00Z"},
         {"deletionTimestamp": "2026-03-01T00:00:00Z"}],
    )  # fmt: skip
    def test_latest_moment_mentioned(self, late):
        """A year after start, creation or deletion, whichever is last."""
        source = cluster(job("a", running(creationTimestamp="2026-01-01T00:00:00Z"), running(role="b", **late)))
        assert timestamps.text(snapshot_of(source).now) == "2027-03-01T00:00:00Z"

    def test_no_moment_at_all(self):
        """A year after the epoch."""
        assert timestamps.text(snapshot_of(cluster()).now) == "1971-01-01T00:00:00Z"


class TestLookups:
    """From a task to its job and queue."""

    def test_task_of_a_job(self):
        """Both ways of asking agree."""
        snapshot = snapshot_of(cluster(job("a", pending(), queue="q"), queues=[{"name": "q"}]))
        (task,) = snapshot.instance.tasks.values()
        assert snapshot.job_key(task) == "default/a"
        assert snapshot.job_of(task) is snapshot.jobs["default/a"]
        assert snapshot.queue_of(task) is snapshot.instance.queues["q"]

    def test_kube_scheduler_knows_no_queues(self):
        """Every pod is its own job, in no queue."""
        snapshot = snapshot_of(cluster(job("a", pending(replicas=2))), model="kube")
        assert list(snapshot.jobs) == ["a/task-0", "a/task-1"]
        assert {snapshot.queue_of(task) for task in snapshot.instance.tasks.values()} == {None}

    def test_pod_of_another_scheduler_waits_for_it(self):
        """A pending pod of a scheduler without a profile is no job; a running one may be a victim."""
        other = {"schedulerName": "other"}
        source = cluster(job("a", pending(**other), running(role="old", **other)))
        assert list(snapshot_of(source, model="kube").jobs) == ["a/old-0"]
