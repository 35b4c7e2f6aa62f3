"""The map of all nodes."""

from __future__ import annotations

from cpsched.report.fleet import CELL, fleet
from tests.unit.report.conftest import job, node, scene


def test_cells_are_as_full_as_the_fullest_resource_and_little_is_seen_too() -> None:
    jobs = [job("half", "4", running="n1"), job("little", "10m", running="n2"), job("new", "1")]
    decision = {"binds": {"new/task-0": "n3"}, "evictions": [{"task": "half/task-0", "node": "n1"}]}
    before, after = fleet(scene([node("n1"), node("n2"), node("n3")], jobs, decision), ["cpu"])
    assert before.filled == f"M0 {CELL // 2}h12v6h-12zM14 {CELL - 1}h12v1h-12z"
    assert (before.comes, before.goes) == ("", "")
    assert before.caption == "before: 2 of 3 nodes in use"
    assert after.caption == "a: 2 of 3 nodes in use, tasks are placed (+) on 1, tasks are evicted (×) from 1"
    assert after.comes.startswith("M31 ")
    assert after.goes.startswith("M0 0")
    assert (after.width, after.height) == (40, 12)
