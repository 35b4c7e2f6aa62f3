"""What the fast path makes of victims that were evicted in vain."""

from __future__ import annotations

from cpsched.greedy.volcano.fast.board import Board
from tests.unit.greedy_volcano.cluster import conf, group, node, opened, pod, queue

PLUGINS = ("gang", "conformance", "proportion", "predicates")


def test_a_bound_pod_evicted_in_vain_is_running_for_reclaim() -> None:
    objects = [
        node("n", cpu="4"),
        queue("rich"),
        queue("poor"),
        group("big", 0, "rich", "Running"),
        pod("big-x-0", "big", "4", on="n", metadata={"phase": "Pending"}),
        group("small", 1, "poor"),
        pod("small-x-0", "small", "2"),
    ]
    session = opened(objects, conf("reclaim", PLUGINS))
    board = session.board = Board.over(session)
    assert board is not None
    task, nodes = session.tasks["ns/small-x-0"], board.nodes(set())
    assert not board.reclaiming(task, nodes)
    board.leave_traces([session.tasks["ns/big-x-0"]])
    assert [one.name for one in board.reclaiming(task, nodes)] == ["n"]
