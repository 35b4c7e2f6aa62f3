"""From counts to named tasks and back."""

from __future__ import annotations

import pytest

from cpsched.optimum.model.decode import _deal, encode
from cpsched.optimum.model.session_model import SessionModel
from cpsched.optimum.params import SolveParams
from cpsched.optimum.solve import decide as optimum
from cpsched.solution import SolutionStatus
from tests.judge import cluster, conf, decide, job, pending, running, snapshot_of


@pytest.mark.parametrize(
    ("binds", "reserves", "ready", "served", "size", "expected"),
    [
        (4, 0, 2, 2, 3, "b0 b1 b0 b1"),
        (2, 2, 1, 2, 2, "b0 b0 r1 r1"),
        (1, 3, 1, 2, 2, "b0 r1 r1 r0"),
        (3, 3, 2, 3, 2, "b0 b1 b0 r2 r2 r1"),
        (0, 4, 0, 2, 2, "r0 r1 r0 r1"),
        (2, 1, 2, 2, 2, "b0 b1 r0"),
    ],
)
def test_handed_out_evenly(binds: int, reserves: int, ready: int, served: int, size: int, expected: str) -> None:
    """What starts goes to jobs that are ready, what waits to the others, until each of them has all its tasks."""
    found = [f"{kind[0]}{position}" for kind, position in _deal(binds, reserves, ready, served, size)]
    assert " ".join(found) == expected


@pytest.mark.parametrize(("scope", "nodes"), [("node", {"n1": 1}), ("cluster", {"n1": 1, "n2": 1})])
def test_an_eviction_names_whom_it_serves(scope: str, nodes: dict[str, int]) -> None:
    """Wherever the scope lets that one be."""
    old = [job(f"old-{node}", running(node=node), priority=10, minMember=0) for node in nodes]
    new = job("a", pending(replicas=len(nodes)), priority=100)
    snapshot = snapshot_of(cluster(*old, new, nodes=nodes), rules={"eviction.scope": scope})
    found = optimum(snapshot.instance, snapshot.policy, SolveParams(workers=1))
    assert [(item.task, item.for_job) for item in found.evictions] == [
        (f"old-{node}/task-0", "default/a") for node in nodes
    ]


def test_an_eviction_names_one_who_has_the_claim() -> None:
    """Who asks for nothing reclaims nothing by itself: its queue's share says nothing of it."""
    queues = [{"name": "left", "deserved": {"cpu": 1}}, {"name": "right", "deserved": {"cpu": 3}}]
    jobs = [
        job("old", running(cpu=3), running(cpu=2), priority=10, minMember=0, queue="left"),
        job("a", pending(None), priority=100, queue="right"),
        job("b", pending(), priority=100, queue="right"),
    ]
    shown = conf("allocate, reclaim, backfill", "priority", "gang", "predicates", "capacity")
    snapshot = snapshot_of(cluster(*jobs, nodes=5, queues=queues), conf=shown)
    found = optimum(snapshot.instance, snapshot.policy, SolveParams(workers=1))
    assert found.status is SolutionStatus.OPTIMAL
    assert {**found.binds, **found.pipelined} == {"a/task-0": "n1", "b/task-0": "n1"}
    assert [item.for_job for item in found.evictions] == ["default/b"]


@pytest.mark.parametrize(("cores", "binds", "reserves"), [(4, "a", "b"), (3, "", "a"), (6, "ab", "c"), (8, "abc", "")])
def test_gangs_that_are_alike_are_served_whole(cores: int, binds: str, reserves: str) -> None:
    """Two of the cores are the victims'; a gang that starts, is reserved or gets nothing does so with all its tasks."""
    gangs = [job(name, pending(replicas=2), priority=100, phase="Pending", minResources={"cpu": 1}) for name in "abc"]
    old = job("old", running(replicas=2), priority=10, minMember=0)
    snapshot = snapshot_of(cluster(old, *gangs, nodes=cores))
    found = optimum(snapshot.instance, snapshot.policy, SolveParams(workers=1))
    assert [*found.binds] == [f"{name}/task-{number}" for name in binds for number in range(2)]
    assert [*found.pipelined] == [f"{name}/task-{number}" for name in reserves for number in range(2)]


def test_counts_of_a_decision() -> None:
    """A victim whose eviction names no action counts under the one that took it."""
    old = job("old", running(replicas=3), priority=10, minMember=0)
    snapshot = snapshot_of(cluster(old, job("a", pending(replicas=4), priority=100, minMember=1), nodes=5))
    v = SessionModel(snapshot).variables
    stated = {"binds": {"a/task-0": "n1", "a/task-1": "n1"}, "reserves": {"a/task-2": "n1", "a/task-3": "n1"}}
    counts = encode(v, decide(snapshot, {**stated, "evicted": ["old/task-0", "old/task-2"]}))
    assert [counts[count] for count in (*v.bind.values(), *v.reserve.values(), *v.evict.values())] == [2, 2, 2]
