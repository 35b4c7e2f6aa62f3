"""Nodes before and after: who is where, which look alike, and what the bars say."""

from __future__ import annotations

import cpsched
from cpsched.report.bars import MOST_BLOCKS, node_picture
from cpsched.report.cluster import cluster_section
from cpsched.report.nodes import DrawnNodes, by_interest, node_groups, pictured_resources
from cpsched.report.scene import Fate, Scene
from tests.unit.report.conftest import job, node, scene

RUNNING = (job("old", "6", running="n1"), job("calm", "1", running="n1"))
NEW = job("new", "6", priority="high")
EVICTS = {"evictions": [{"task": "old/task-0", "node": "n1"}], "pipelined": {"new/task-0": "n1"}}
STARTS = {"binds": {"new/task-0": "n2"}}


def fates(group: DrawnNodes, state: int) -> dict[str, Fate]:
    return {one.task.key: one.fate for one in group.states[state].occupants}


def two_decisions() -> Scene:
    return scene([node("n1"), node("n2")], [*RUNNING, NEW], EVICTS, STARTS)


def test_every_task_has_its_fate_in_every_state() -> None:
    n1, n2 = node_groups(two_decisions())
    assert fates(n1, 0) == {"calm/task-0": Fate.STAYS, "old/task-0": Fate.STAYS}
    assert fates(n1, 1) == {"calm/task-0": Fate.STAYS, "old/task-0": Fate.VICTIM, "new/task-0": Fate.WAITS}
    assert fates(n1, 2) == fates(n1, 0)
    assert fates(n2, 0) == fates(n2, 1) == {}
    assert fates(n2, 2) == {"new/task-0": Fate.STARTS}


def test_what_leaves_no_longer_takes_room_but_before_it_does() -> None:
    n1, _ = node_groups(two_decisions())
    assert [state.used("cpu") for state in n1.states] == [7000, 7000, 7000]
    gone = node_groups(scene([node("n1")], RUNNING, {"evictions": EVICTS["evictions"]}))[0]
    assert [state.used("cpu") for state in gone.states] == [7000, 1000]


def test_what_ends_anyway_has_its_room_before_and_not_after() -> None:
    cluster = scene([node("n1")], RUNNING, {})
    ending = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "default", "deletionTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"nodeName": "n1", "containers": [{"name": "c", "resources": {"requests": {"cpu": "2"}}}]},
        "status": {"phase": "Running"},
    }
    instance = cpsched.load([*cluster.instance.to_dict()["objects"], ending])
    other = Scene.of(instance, cluster.snapshot.policy, [cluster.views[0].solution], ["a"])
    group = node_groups(other)[0]
    assert [state.used("cpu") for state in group.states] == [9000, 7000]
    assert [[one.task.key for one in state.leaving] for state in group.states] == [[], ["default/p"]]
    rows = cluster_section(other, ["cpu"]).blocks[-1].rows
    size = group.allocatable["cpu"] // 1000
    assert [cell.text for cell in rows[0]] == ["n1", "cpu", f"{size}", "7", "2", f"{size - 9}", "7"]


def test_nodes_that_look_alike_are_one_picture() -> None:
    nodes = [node(f"n{n}") for n in range(5)]
    jobs = [job("a", "2", running="n0"), job("b", "2", running="n3"), job("c", "3", running="n4")]
    groups = node_groups(scene(nodes, jobs, {}))
    assert [group.names for group in groups] == [("n0", "n3"), ("n1", "n2"), ("n4",)]


def test_a_different_size_priority_or_fate_is_not_alike() -> None:
    nodes = [node("n0"), node("n1", cpu="9"), node("n2"), node("n3")]
    jobs = [job(f"j{n}", "2", running=f"n{n}", priority="high" if n == 2 else "low") for n in range(4)]
    victim = {"evictions": [{"task": "j3/task-0", "node": "n3"}]}
    assert len(node_groups(scene(nodes, jobs, victim))) == 4


def test_where_decisions_differ_comes_first() -> None:
    nodes = [node("calm"), node("same"), node("disputed", cpu="9")]
    pending = job("new", "1", replicas=2)
    one = {"binds": {"new/task-0": "same", "new/task-1": "disputed"}}
    other = {"binds": {"new/task-0": "same"}}
    groups = by_interest(node_groups(scene(nodes, [pending], one, other)))
    assert [group.names[0] for group in groups] == ["disputed", "same", "calm"]


def test_resources_are_those_that_nodes_have_and_tasks_want() -> None:
    plain = scene([node("n1", **{"nvidia.com/gpu": "4"})], RUNNING, {})
    assert pictured_resources(plain) == ["cpu", "memory"]
    wants = job("gpu", "1")
    wants["tasks"][0]["requests"]["nvidia.com/gpu"] = "1"
    assert pictured_resources(scene([node("n1", **{"nvidia.com/gpu": "4"})], [wants], {})) == [
        "cpu",
        "memory",
        "nvidia.com/gpu",
    ]


def test_bars_hold_blocks_in_hundredths() -> None:
    cluster = two_decisions()
    picture = node_picture(cluster, node_groups(cluster)[0], ["cpu"])
    before, evicts, _ = (panel.bars[0] for panel in picture.panels)
    assert [(block.label, block.x, block.width) for block in before.present] == [
        ("calm-task-0", 0, 12.5),
        ("old-task-0", 12.5, 75),
    ]
    assert [(block.kind, block.letter, block.x) for block in evicts.leaving] == [("victim", "V", 12.5)]
    assert [(block.kind, block.letter, block.x) for block in evicts.present] == [("stays", "", 0), ("waits", "W", 12.5)]
    assert (evicts.used, evicts.size, evicts.full) == ("7", "8", 100)


def test_a_node_taken_beyond_its_size_shows_where_it_ends() -> None:
    cluster = scene([node("n1", cpu="4")], [job("big", "5", running="n1")], {})
    bar = node_picture(cluster, node_groups(cluster)[0], ["cpu"]).panels[0].bars[0]
    assert (bar.used, bar.size, bar.full) == ("5", "4", 80)


def test_many_tasks_become_one_block_per_job_and_fate() -> None:
    crowd = job("crowd", "100m", running="n1", replicas=MOST_BLOCKS + 1)
    cluster = scene([node("n1", pods="99")], [crowd], {"evictions": [{"task": "crowd/task-0", "node": "n1"}]})
    before, after = node_picture(cluster, node_groups(cluster)[0], ["cpu"]).panels
    assert [block.label for block in before.bars[0].present] == [f"{MOST_BLOCKS + 1} × crowd"]
    assert len(after.bars[0].leaving) == 1
    assert len(after.bars[0].present) == MOST_BLOCKS


def test_narrow_blocks_have_no_name_but_a_tip() -> None:
    cluster = scene([node("n1")], [job("small", "100m", running="n1")], {})
    block = node_picture(cluster, node_groups(cluster)[0], ["cpu"]).panels[0].bars[0].present[0]
    assert block.label == ""
    assert block.tooltip.splitlines() == ["small/task-0: runs", "100m cpu, 1Gi memory", "priority 10, queue default"]
