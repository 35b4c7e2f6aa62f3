"""Changes: each makes the instance that the changed objects would have made."""

from __future__ import annotations

import pytest

from cpsched.explanation.changes import Change, added, applied, cloned, lowered, raised
from cpsched.importers.load import load
from tests.judge import cluster, job, pending, running

SOURCE = cluster(
    job("old", running(1), running(2), queue="left", minMember=1),
    job("gang", pending(1, 3), queue="right", minMember=3),
    nodes=[{"name": "n1", "labels": {"kubernetes.io/hostname": "n1"}, "allocatable": {"cpu": 4, "pods": 10}}],
    queues=[{"name": "left", "capability": {"cpu": 3}}, {"name": "right"}],
)


@pytest.mark.parametrize(
    "change",
    [
        raised("left", "capability", "cpu", 3000, 5000),
        raised("right", "guarantee", "cpu", None, 1500),
        raised("right", "deserved", "memory", None, 1 << 30),
        lowered("default/gang", 3, 2),
        Change("eviction", "old/task-0", 1),
        added("n1", 1, "cpu", 500),
        added("n1", 1, "nvidia.com/gpu", 2000),
        added("n1", 1, "x.io/tokens", 1500),
        added("n1", 1, "ephemeral-storage", 1000 * (2**30 + 1)),
        cloned("n1", 2),
    ],
    ids=lambda change: f"{change.kind} {change.part} {change.resource}".strip(),
)
def test_written_out_and_read_again_nothing_changes(change: Change):
    instance = load(SOURCE)
    after = applied(instance, [change])
    again = load(after.to_dict(), lenient=True)
    assert again.sha256 == after.sha256 != instance.sha256
    assert again.jobs == after.jobs
    assert again.queues == after.queues
    assert again.nodes == after.nodes
    assert again.tasks.keys() == after.tasks.keys()


def test_what_changes():
    instance = load(SOURCE)
    assert applied(instance, [added("n1", 1, "cpu", 500)]).nodes["n1"].allocatable["cpu"] == 4500
    for resource, amount in (("ephemeral-storage", 1000 * (2**30 + 1)), ("x.io/tokens", 1500), ("memory", 2**30 + 1)):
        assert applied(instance, [added("n1", 1, resource, amount)]).nodes["n1"].allocatable[resource] == amount
    assert applied(instance, [lowered("default/gang", 3, 2)]).jobs["default/gang"].min_available == 2
    assert applied(instance, [raised("left", "capability", "cpu", 3000, 5000)]).queues["left"].capability == {
        "cpu": 5000
    }
    assert applied(instance, [raised("right", "guarantee", "cpu", None, 1500)]).queues["right"].guarantee == {
        "cpu": 1500
    }
    more = applied(instance, [cloned("n1", 2)]).nodes
    assert {name: node.labels["kubernetes.io/hostname"] for name, node in more.items()} == {n: n for n in more}
    assert len(more) == 3


def test_a_job_without_tasks_stays_if_its_pod_group_does():
    stops = [Change("eviction", "old/task-0", 1), Change("eviction", "old/task1-0", 1)]
    after = applied(load(SOURCE), stops)
    assert after.jobs["default/old"].tasks == ()
    assert "old/task-0" not in after.tasks
