"""Domains that allocate need not try: what counting says of them is what a try would come to."""

from __future__ import annotations

from typing import Any

import pytest

from cpsched.greedy.volcano import Options
from cpsched.greedy.volcano.fast.bulk_finder import BulkFinder
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.topology.room_count import Counted, RoomCount
from tests.unit.greedy_volcano.cluster import Object, conf, group, node, opened, pod, queue, run
from tests.unit.greedy_volcano.racks import HARD, PLUGINS, pods
from tests.unit.topology.shapes import domain, nodes_of

RACKS = ["s0", "s1", "s2"]
CONF = conf("allocate", (*PLUGINS, "nodeorder"))


def cluster(used: tuple[int, ...], *objects: Object, going: tuple[int, ...] = ()) -> list[Object]:
    """Three racks of two nodes of 4 cpus, with so many in use; those that are `going` terminate."""
    racks = [domain(f"s{n}", 1, nodes_of(f"n{2 * n}", f"n{2 * n + 1}")) for n in range(3)]
    leaving = {"deletionTimestamp": "2026-01-01T01:00:00Z"}
    there = [
        pod(f"r-w-{n}", "r", cpu=str(amount), on=f"n{n}", metadata=leaving if n in going else None)
        for n, amount in enumerate(used)
        if amount
    ]
    return [*(node(f"n{n}") for n in range(6)), *racks, queue(), group("r", phase="Running"), *there, *objects]


def gang(count: int, minimum: int, cpu: str = "2", **spec: Any) -> list[Object]:
    return [group("a", minimum, networkTopology=HARD, **spec), *pods("a", count, cpu=cpu)]


def session(objects: list[Object], configuration: dict[str, Any] = CONF) -> Session:
    found = opened(objects, configuration)
    found.bulk_finder = BulkFinder.over(found)
    assert found.bulk_finder is not None
    return found


def counted(objects: list[Object], configuration: dict[str, Any] = CONF, key: str = "ns/a") -> Counted | None:
    found = session(objects, configuration)
    job = found.jobs["ns/a"]
    return RoomCount(found).count(RACKS, job, job.sub_jobs[key], job.sub_jobs[key].pending())


def sure_and_hopeless(objects: list[Object], key: str = "ns/a") -> tuple[list[str], list[str]]:
    found = counted(objects, key=key)
    assert found is not None
    return found.sure, sorted(found.hopeless)


def test_room_is_counted_node_by_node() -> None:
    # 3 + 3 free cpus take two pods of 2 cpus, not three.
    assert sure_and_hopeless(cluster((1, 1, 0, 0, 4, 4), *gang(3, 3))) == (["s1"], ["s0", "s2"])


def test_room_that_is_being_freed_is_not_there_at_once() -> None:
    assert sure_and_hopeless(cluster((4, 4, 4, 0, 4, 4), *gang(3, 3), going=(0, 2))) == ([], ["s0", "s2"])


def test_tasks_that_run_count_and_the_pod_limit_of_a_node_too() -> None:
    objects = cluster((4, 0, 0, 0, 4, 0), *gang(2, 3), pod("a-w-9", "a", on="n0", cpu="0"))
    assert sure_and_hopeless(objects) == (["s0", "s1", "s2"], [])
    objects[2]["status"]["allocatable"]["pods"] = objects[3]["status"]["allocatable"]["pods"] = "0"
    assert sure_and_hopeless(objects) == (["s0", "s2"], ["s1"])


def test_with_roles_only_room_for_all_is_sure() -> None:
    one_role = gang(3, 2, minTaskMember={"w": 2})
    for one in one_role[1:]:
        one["metadata"]["annotations"]["volcano.sh/task-spec"] = "w"
    assert sure_and_hopeless(cluster((0, 2, 2, 2, 4, 4), *one_role)) == (["s0"], ["s2"])


def test_a_sub_group_counts_for_itself() -> None:
    policy = {"name": "g", "matchLabelKeys": ["part"], "subGroupSize": 2, "networkTopology": HARD}
    objects = cluster((4, 2, 0, 4, 4, 4), *gang(4, 4, subGroupPolicy=[policy]))
    for number, one in enumerate(objects[-4:]):
        one["metadata"]["labels"] = {"part": str(number // 2)}
    assert sure_and_hopeless(objects, "ns/a/g-0") == (["s1"], ["s0", "s2"])


@pytest.mark.parametrize("case", ["kinds", "gate", "nominated", "sla"])
def test_nothing_is_counted_where_more_than_room_decides(case: str) -> None:
    objects, configuration = cluster((0, 0, 0, 0, 0, 0), *gang(2, 2)), CONF
    if case == "kinds":
        objects[-1]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "1"
    elif case == "gate":
        objects[-1]["spec"]["schedulingGates"] = [{"name": "scheduling.volcano.sh/queue-allocation-gate"}]
    elif case == "nominated":
        objects[-1]["status"]["nominatedNodeName"] = "n3"
    else:
        configuration = conf("allocate", (*PLUGINS, "nodeorder", "sla"))
    assert counted(objects, configuration) is None


def test_a_hopeless_domain_is_tried_if_it_leaves_more_texts_than_those_behind_it() -> None:
    later = {"s0": 1, "s1": 3, "s2": 1, "s3": 2, "s4": 1}
    found = Counted(list(later), later, frozenset({"s0", "s2", "s3", "s4"}), ["s1"])
    assert found.worth_trying() == ["s1", "s3", "s4"]


@pytest.mark.parametrize("limit", [11, 12])
def test_where_the_queue_refuses_the_best_domain_the_others_are_tried_as_ever(limit: int) -> None:
    objects = cluster((0, 2, 2, 2, 0, 4), *gang(2, 2, cpu="1"))
    next(one for one in objects if one["kind"] == "Queue")["spec"]["capability"] = {"cpu": str(limit)}
    configuration = conf("allocate", (*PLUGINS, "nodeorder", "capacity"))
    fast, plain = (run(objects, configuration, Options(fast=fast)) for fast in (True, False))
    assert fast.solution.binds == plain.solution.binds
    assert len(fast.solution.binds) == (2 if limit == 12 else 0)


def test_the_best_of_several_sure_domains_is_taken() -> None:
    # The fullest rack that still takes both pods has the highest score.
    for used, nodes in (((0, 0, 2, 2, 4, 4), {"n2", "n3"}), ((0, 0, 4, 0, 2, 2), {"n3"})):
        objects = cluster(used, *gang(2, 2))
        fast, plain = (run(objects, CONF, Options(fast=fast)).solution.binds for fast in (True, False))
        assert fast == plain
        assert set(fast.values()) == nodes
