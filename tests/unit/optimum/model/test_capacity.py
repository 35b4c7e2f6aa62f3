"""Room: how many tasks of a class each node can take at most, now and later."""

from __future__ import annotations

from cpsched.optimum.model.capacity import NodeCapacity, node_capacity
from cpsched.optimum.model.symmetry import build_classes
from tests.judge import cluster, conf, job, pending, running, snapshot_of

LEAVING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
NODES = [
    {"name": "n1", "allocatable": {"cpu": "4100m", "pods": 50}},
    {"name": "full", "allocatable": {"cpu": 1, "pods": 50}},
    {"name": "tight", "allocatable": {"cpu": 9, "pods": 2}},
]
OLD = (
    job("low", running(replicas=2), priority=10, minMember=0),
    job("gone", running(**LEAVING), minMember=0),
    job("high", running(2, node="full"), priority=1000, minMember=0),
)


def room(replicas: int, actions: str = "allocate, preempt") -> NodeCapacity:
    """The room for so many tasks of 600m; what all ask for are multiples of 200m."""
    new = job("a", pending("600m", replicas), priority=100, minMember=1)
    snapshot = snapshot_of(cluster(*OLD, new, nodes=NODES), conf=conf(actions, "priority"))
    return node_capacity(snapshot, build_classes(snapshot))


def test_in_whole_units() -> None:
    """What is left of a unit is no room, and a node may be taken beyond its size."""
    found = room(9)
    assert {node: units["cpu"] for node, units in found.idle.items()} == {"n1": 5, "full": -5, "tight": 45}
    assert {node: units["cpu"] for node, units in found.future_idle.items()} == {"n1": 10, "full": -5, "tight": 45}


def test_now_and_once_all_victims_are_gone() -> None:
    found = room(9)
    assert found.bind_limit == {(0, "n1"): 1, (0, "tight"): 2}
    assert found.reserve_limit == {(0, "n1"): 6, (0, "tight"): 2}


def test_no_more_than_there_are() -> None:
    assert room(1).reserve_limit == {(0, "n1"): 1, (0, "tight"): 1}


def test_only_by_actions_that_do_it() -> None:
    assert not room(9, "preempt").bind_limit
    assert room(9, "preempt").reserve_limit
    assert not room(9, "backfill").reserve_limit
