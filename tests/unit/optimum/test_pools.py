"""Nodes that are alike, taken for one."""

from __future__ import annotations

from cpsched.optimum.pools import _summed


def test_a_node_that_is_too_full_takes_nothing_from_the_others() -> None:
    rooms = {"full": {"cpu": -3, "pods": 1}, "free": {"cpu": 2}, "other": {"cpu": 5}}
    pools = {"full": "full", "free": "full", "other": "other"}
    assert _summed(rooms, pools) == {"full": {"cpu": 2, "pods": 1}, "other": {"cpu": 5}}
