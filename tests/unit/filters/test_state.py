"""NodeState and ClusterState: who is where, and what that adds up to."""

from __future__ import annotations

from typing import Any

from cpsched.filters import Args, ClusterState, feasible
from cpsched.filters.facts import HostPort
from tests.unit.filters.build import cluster_of, node_json, pod_json, task_of


def asks(name: str, node: str = "", cpu: str = "1", port: int = 0, **spec: Any) -> dict[str, Any]:
    container = {"name": "c", "resources": {"requests": {"cpu": cpu}}, "ports": [{"hostPort": port}] if port else []}
    return pod_json(name, node, containers=[container], **spec)


def names(cluster: ClusterState, node: str) -> list[str]:
    return [task.name for task in cluster.nodes[node].tasks]


def test_the_last_task_moves_into_the_gap() -> None:
    cluster = cluster_of([node_json("a")], [asks(name, "a") for name in "pqrs"])
    cluster.remove(cluster.nodes["a"].tasks[1])
    assert names(cluster, "a") == ["p", "s", "r"]
    cluster.remove(cluster.nodes["a"].tasks[2])
    assert names(cluster, "a") == ["p", "s"]


def test_ended_tasks_hold_nothing_and_terminating_ones_do() -> None:
    ended, going = asks("done", "a"), asks("going", "a")
    ended["status"] = {"phase": "Succeeded"}
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    cluster = cluster_of([node_json("a")], [ended, going])
    assert names(cluster, "a") == ["going"]
    assert cluster.nodes["a"].requested == {"cpu": 1000}


def test_a_port_goes_with_the_first_of_its_holders() -> None:
    cluster = cluster_of([node_json("a")], [asks("p", "a", port=80), asks("q", "a", port=80)])
    cluster.remove(cluster.nodes["a"].tasks[0])
    assert cluster.nodes["a"].ports == set()
    cluster.add(task_of(asks("r", port=80)), "a")
    assert cluster.nodes["a"].ports == {HostPort("0.0.0.0", "TCP", 80)}


def test_clone_of_a_node_is_independent() -> None:
    cluster = cluster_of([node_json("a")], [asks("p", "a", port=80)])
    clone = cluster.nodes["a"].clone()
    clone.remove(clone.tasks[0])
    assert (clone.tasks, clone.requested["cpu"], clone.ports) == ([], 0, set())
    assert names(cluster, "a") == ["p"]
    assert cluster.nodes["a"].requested == {"cpu": 1000}
    assert cluster.nodes["a"].ports


def test_copy_of_the_cluster_is_independent() -> None:
    cluster = cluster_of([node_json("a"), node_json("b")], [asks("p", "a", cpu="8")])
    copy = cluster.copy()
    copy.remove(copy.nodes["a"].tasks[0])
    task = task_of(asks("q", cpu="8"))
    assert feasible(task, cluster, ["NodeResourcesFit"], Args()).passing == ["b"]
    assert feasible(task, copy, ["NodeResourcesFit"], Args()).passing == ["a", "b"]


def test_nodes_keep_the_order_asked_for() -> None:
    cluster = cluster_of([node_json("a"), node_json("b")])
    turned = ClusterState.from_instance(cluster.instance, ["b", "a"])
    assert list(turned.nodes) == ["b", "a"]
    assert [node.index for node in turned.node_list] == [0, 1]


def test_a_task_that_changed_leaves_as_it_came() -> None:
    cluster = cluster_of([node_json("a")], [asks("p", "a")])
    task = cluster.nodes["a"].tasks[0]
    changed = task_of(asks("p", "a", cpu="5"), 1000)
    assert changed.key == task.key
    assert cluster.remove(changed) is task
    assert cluster.nodes["a"].requested == {"cpu": 0}
    assert cluster.node_by_task == {}
