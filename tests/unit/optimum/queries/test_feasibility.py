"""Whether any feasible decision contains what is wanted."""

from __future__ import annotations

import pytest

from cpsched.optimum.queries.feasibility import Demand, find, identical_pending
from tests.judge import cluster, job, pending, snapshot_of

SECONDS = 60.0


@pytest.mark.parametrize(("cores", "found"), [(1, False), (2, True)])
def test_jobs_that_are_alike_are_wanted_each(cores: int, found: bool) -> None:
    snapshot = snapshot_of(cluster(job("a", pending()), job("b", pending()), nodes=cores))
    wanted = Demand(served=frozenset({"default/a", "default/b"}))
    assert (find(snapshot, wanted, SECONDS) is not None) is found


@pytest.mark.parametrize(("least", "found"), [(1, True), (2, True), (3, False)])
def test_so_many_tasks_are_wanted(least: int, found: bool) -> None:
    snapshot = snapshot_of(cluster(job("a", pending(replicas=3), minMember=1), nodes=2))
    decision = find(snapshot, Demand(tasks={"default/a": least}), SECONDS)
    assert (decision is not None) is found
    assert decision is None or len(decision.placed) >= least


@pytest.mark.parametrize(("task", "found"), [("a/small-0", True), ("a/large-0", False)])
def test_tasks_of_one_kind_are_wanted(task: str, found: bool) -> None:
    """That others of its job are placed is not enough."""
    tasks = (pending(1, 2, role="small"), pending(9, role="large"))
    snapshot = snapshot_of(cluster(job("a", *tasks, minMember=1), nodes=2))
    assert (find(snapshot, Demand(alike={task: 1}), SECONDS) is not None) is found
    alike = {"a/small-0": {"a/small-0", "a/small-1"}, "a/large-0": {"a/large-0"}}
    assert identical_pending(snapshot, snapshot.instance.tasks[task]) == alike[task]
