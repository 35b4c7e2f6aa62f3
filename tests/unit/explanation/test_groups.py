"""Tasks of one kind see the same reasons on every node."""

from __future__ import annotations

from typing import Any

import pytest

from cpsched.explanation.groups import kinds_of, node_groups
from tests.judge import cluster, job, pending, snapshot_of

PORT = [{"containerPort": 80, "hostPort": 80}]


@pytest.mark.parametrize(
    ("stated", "kinds"),
    [
        ({}, 1),
        ({"ports": PORT}, 2),
        ({"initContainers": [{"name": "side", "ports": PORT, "restartPolicy": "Always"}]}, 2),
        ({"initContainers": [{"name": "first", "ports": PORT}]}, 1),
        ({"nodeSelector": {"disk": "ssd"}}, 2),
        ({"volumes": [{"name": "kube-api-access-x7", "projected": {}}]}, 1),
        ({"volumes": [{"name": "data", "ephemeral": {}}]}, 2),
    ],
)
def test_kinds(stated: dict[str, Any], kinds: int) -> None:
    tasks = [pending(labels={"volcano.sh/task-spec": "t"}), pending(labels={"volcano.sh/task-spec": "t"}, **stated)]
    snapshot = snapshot_of(cluster(job("a", *tasks)))
    assert len(kinds_of(snapshot.jobs["default/a"])) == kinds


def test_kinds_that_all_nodes_answer_alike_are_one() -> None:
    tasks = [pending(9, labels={"index": str(number)}) for number in range(3)]
    snapshot = snapshot_of(cluster(job("a", *tasks, pending(8))))
    found = node_groups(snapshot, snapshot.jobs["default/a"])
    assert [(group.task, group.shortages[0].needs) for group in found] == [("a/task-0", 9000), ("a/task3-0", 8000)]
