"""Rows for the limits of queues."""

from __future__ import annotations

import pytest

from cpsched.optimum.params import SolveParams
from cpsched.optimum.solve import decide
from tests.judge import cluster, conf, job, pending, running, snapshot_of
from tests.oracle.brute_force import optimum


@pytest.mark.parametrize(("minimum", "admitted"), [(1, 1), (2, 0)])
def test_who_does_not_ask_for_what_a_queue_has_too_much_of_may_be_placed(minimum: int, admitted: int) -> None:
    """The queue holds more GPUs than it is due: one task of the job is not minded, the other is."""
    nodes = [{"name": "n1", "allocatable": {"cpu": 8, "nvidia.com/gpu": 4, "pods": 10}}]
    gpu = {"nvidia.com/gpu": 1}
    jobs = [
        job("holds", running(1, role="r", replicas=2, requests=gpu), queue="q", priority=10),
        job("wants", pending(1, role="a"), pending(1, role="b", requests=gpu), queue="q", minMember=minimum),
    ]
    queue = {"name": "q", "capability": {"cpu": 8, "nvidia.com/gpu": 1}}
    stated = conf("allocate, preempt", "capacity", "gang", "priority", "predicates")
    snapshot = snapshot_of(cluster(*jobs, nodes=nodes, queues=[queue]), conf=stated)
    solution = decide(snapshot.instance, snapshot.policy, SolveParams(workers=1, deterministic=True))
    assert solution.levels[0].value == optimum(snapshot).values[0] == admitted
