"""Jobs as a session sees them: counters, validity, who starves."""

from __future__ import annotations

import pytest

from tests.judge import cluster, conf, job, pending, running, snapshot_of

LEAVING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


def only_job(*tasks, settings=None, **fields):
    """The one job of a snapshot, and the snapshot."""
    snapshot = snapshot_of(cluster(job("a", *tasks, **fields)), conf=settings)
    return snapshot.jobs["default/a"], snapshot


@pytest.mark.parametrize(
    ("task", "ready", "valid"),
    [
        (running(), True, True),
        (running(phase="Pending"), True, True),
        (pending(phase="Succeeded"), True, True),
        (pending(), False, True),
        (pending(schedulingGates=[{"name": "g"}]), False, True),
        (running(**LEAVING), False, False),
        (pending(phase="Failed"), False, False),
        (pending(phase="Unknown"), False, False),
    ],
)
def test_what_counts(task, ready, valid):
    """Running, bound and finished tasks are ready; waiting ones make the job valid."""
    one, _ = only_job(task, minMember=1)
    assert (one.ready, one.is_valid) == (int(ready), valid)


def test_pending_tasks_are_those_that_could_be_placed():
    """Not gated, not running."""
    one, _ = only_job(pending(), pending(role="held", schedulingGates=[{"name": "g"}]), running(role="old"))
    assert [task.key for task in one.pending] == ["a/task-0"]


class TestRoles:
    """Minima per role, as far as they count."""

    tasks = (pending(role="server"), pending(role="worker", replicas=3))

    @pytest.mark.parametrize(
        ("minimum", "by_role", "counts", "valid"),
        [
            (3, {"server": 1, "worker": 2}, True, True),
            (4, {"server": 2, "worker": 2}, True, False),
            (3, {"server": 2, "worker": 2}, False, True),
            (2, {}, False, True),
            (3, {"other": 1}, True, False),
        ],
    )
    def test_validity(self, minimum, by_role, counts, valid):
        """Minima count where they do not exceed minMember together; then each role needs its tasks."""
        one, _ = only_job(*self.tasks, minMember=minimum, minTaskMember=by_role)
        assert (one.roles_count, one.is_valid) == (counts, valid)

    def test_readiness(self):
        """Placed tasks count for their role."""
        one, _ = only_job(*self.tasks, minMember=2, minTaskMember={"server": 1, "worker": 1})
        assert one.is_ready({"a/server-0", "a/worker-0"}, set())
        assert not one.is_ready({"a/worker-0", "a/worker-1"}, set())


def test_pipelined_is_ready_with_reserves():
    """The same count over everything placed, less what is evicted."""
    one, _ = only_job(running(), pending(role="new"), minMember=2)
    assert one.is_pipelined({"a/new-0"}, set())
    assert not one.is_pipelined({"a/new-0"}, {"a/task-0"})
    assert not one.is_pipelined(set(), set())


class TestStarving:
    """The first tier in which any plugin looks decides, all its plugins agreeing."""

    def test_gang(self):
        """Below the minimum."""
        settings = conf("allocate", "gang")
        below, snapshot = only_job(running(), pending(role="more"), minMember=2, settings=settings)
        assert below.is_starving(snapshot.policy)
        complete, snapshot = only_job(running(), pending(role="more"), minMember=1, settings=settings)
        assert not complete.is_starving(snapshot.policy)

    def test_priority(self):
        """Anything left to place."""
        settings = conf("allocate", "priority")
        elastic, snapshot = only_job(running(), pending(role="more"), minMember=1, settings=settings)
        assert elastic.is_starving(snapshot.policy)
        full, snapshot = only_job(running(), minMember=1, settings=settings)
        assert not full.is_starving(snapshot.policy)

    def test_both_in_one_tier_must_agree(self):
        """gang and priority: effectively gang's word."""
        elastic, snapshot = only_job(
            running(), pending(role="more"), minMember=1, settings=conf("allocate", "priority", "gang")
        )
        assert not elastic.is_starving(snapshot.policy)

    def test_first_tier_with_a_voice(self):
        """A second tier is not asked once the first has answered; a tier without a voice is passed over."""
        tasks = (running(), pending(role="more"))
        first = conf("allocate", "conformance", tiers=[["priority"], ["gang"]])
        elastic, snapshot = only_job(*tasks, minMember=1, settings=first)
        assert elastic.is_starving(snapshot.policy)

    def test_flag(self):
        """A plugin whose enableJobStarving is off has no voice."""
        settings = conf("allocate", {"name": "gang", "enableJobStarving": False})
        one, snapshot = only_job(pending(), settings=settings)
        assert not one.is_starving(snapshot.policy)

    def test_tdm(self):
        """A job that is not preemptable and waits."""
        settings = conf("allocate", "tdm")
        one, snapshot = only_job(running(), pending(role="more"), minMember=1, settings=settings)
        assert one.is_starving(snapshot.policy)
        mark = {"volcano.sh/preemptable": "true"}
        marked, snapshot = only_job(pending(), annotations=mark, settings=settings)
        assert not marked.is_starving(snapshot.policy)

    def test_kube_scheduler(self):
        """A pod waits or it does not."""
        snapshot = snapshot_of(cluster(job("a", running(), pending(role="new"))), model="kube")
        states = {key: one.is_starving(snapshot.policy) for key, one in snapshot.jobs.items()}
        assert states == {"a/task-0": False, "a/new-0": True}


def test_pods_of_other_schedulers():
    """They are not kube-scheduler's to place, but once they run they are there, and may have to go."""
    tasks = (running(schedulerName="other"), pending(role="new", schedulerName="other"), pending(role="own"))
    assert set(snapshot_of(cluster(job("a", *tasks)), model="kube").jobs) == {"a/task-0", "a/own-0"}


@pytest.mark.parametrize(
    ("annotations", "expected"),
    [
        ({}, None),
        ({"sla-waiting-time": "1h"}, "1h"),
        ({"volcano.sh/sla-waiting-time": "2h"}, "2h"),
        ({"volcano.sh/sla-waiting-time": "2h", "sla-waiting-time": "1h"}, "2h"),
    ],
)
def test_sla_annotation(annotations, expected):
    """The new name goes before the old one."""
    one, _ = only_job(pending(), annotations=annotations)
    assert one.sla_waiting_time == expected


def test_fields_of_the_pod_group():
    """Priority, queue, phase, minimum and creation are the PodGroup's; under kube-scheduler the pod's."""
    fields = {"minResources": {"cpu": 2}, "creationTimestamp": "1970-01-01T00:00:01Z", "phase": "Pending"}
    one, _ = only_job(pending(priority=7), priority=100, **fields)
    assert (one.priority, one.queue, one.phase, one.min_available) == (100, "default", "Pending", 1)
    assert (one.min_resources, one.created, one.is_pending) == ({"cpu": 2000}, 10**9, True)
    source = cluster(job("a", pending(priority=7, creationTimestamp="1970-01-01T00:00:02Z"), priority=100))
    (alone,) = snapshot_of(source, model="kube").jobs.values()
    assert (alone.priority, alone.queue, alone.min_available, alone.created) == (7, None, 1, 2 * 10**9)
    assert not alone.is_pending
