"""Why a victim may stay: whom the gang's minimum protects."""

from __future__ import annotations

import pytest

from cpsched.explanation.obstacles import obstacles
from tests.judge import cluster, job, pending, running, snapshot_of


@pytest.mark.parametrize(
    ("mode", "phase", "kept"),
    [("keep", "Running", True), ("keep", "Succeeded", True), ("whole", "Running", True), ("whole", "Succeeded", False)],
)
def test_the_last_at_work_may_go_where_gangs_may_go_whole(mode: str, phase: str, kept: bool) -> None:
    old = job("old", running(), running(role="other", phase=phase), priority=10, minMember=2)
    source = cluster(old, job("a", pending(), priority=100), nodes=2)
    snapshot = snapshot_of(source, rules={"protect.gang": mode})
    tasks = snapshot.instance.tasks
    found = obstacles(snapshot, tasks["a/task-0"], tasks["old/task-0"])
    assert found == (("protect.gang: default/old keeps its minimum of 2",) if kept else ())
