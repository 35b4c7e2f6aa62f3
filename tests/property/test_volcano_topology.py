"""The Volcano mirror with HyperNodes: the fast path, and domains tried once, against the plain path."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from cpsched.greedy.volcano import Options, replay
from cpsched.greedy.volcano.fast.bulk_finder import BulkFinder
from cpsched.importers.load import load
from cpsched.policy import load_model, policy_for
from tests.property.test_volcano_bulk import check_fit_and_scores, move
from tests.property.test_volcano_fast_path import cluster, stated
from tests.unit.greedy_volcano.cluster import Object, conf, opened
from tests.unit.topology.shapes import domain, exact, nodes_of

ACTIONS = ("enqueue, allocate", "allocate, gangpreempt", "gangreclaim, allocate", "gangpreempt, allocate, backfill")


def in_racks(seed: int, objects: list[Object]) -> list[Object]:
    """The cluster in racks and blocks, with demands on how near pods run, and with sub-groups."""
    draw = random.Random(seed)
    names = [one["metadata"]["name"] for one in objects if one["kind"] == "Node"]
    draw.shuffle(names)
    width = draw.choice([1, 2, 3])
    racks = [names[start : start + width] for start in range(0, len(names), width)]
    made = [domain(f"s{number}", 1, nodes_of(*rack)) for number, rack in enumerate(racks)]
    for number, start in enumerate(range(0, len(racks), 2)):
        below = [f"s{place}" for place in range(start, min(start + 2, len(racks)))]
        made.append(domain(f"b{number}", draw.choice([2, 3]), exact(*below)))
    for one in objects:
        if one["kind"] == "PodGroup" and draw.random() < 0.7:
            one["spec"]["networkTopology"] = _topology(draw)
            if draw.random() < 0.3:
                policy = {"name": "g", "matchLabelKeys": ["app"], "subGroupSize": draw.choice([1, 2])}
                if draw.random() < 0.5:
                    policy["networkTopology"] = _topology(draw)
                one["spec"]["subGroupPolicy"] = [policy | {"minSubGroups": draw.choice([0, 1])}]
    return [*objects, *made]


def _topology(draw: random.Random) -> dict[str, Any]:
    hard = {"mode": "hard", "highestTierAllowed": draw.choice([1, 2, 3])}
    return draw.choice([hard, {"mode": "soft"}])


def near(draw: random.Random) -> dict[str, Any]:
    arguments = {
        "weight": draw.choice([1, 5]),
        "hypernode.binpack.memory": draw.choice([0, 1]),
        "hypernode.binpack.normal-pod.enable": draw.random() < 0.8,
        "hypernode.binpack.normal-pod.fading": draw.choice([0.8, 0, 0.5]),
    }
    return {"name": "network-topology-aware", "arguments": arguments}


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 12))
def test_the_fast_path_decides_as_the_plain_one(seed: int, nodes: int) -> None:
    draw = random.Random(seed)
    plugins = [
        "priority",
        "gang",
        "conformance",
        "predicates",
        draw.choice(["proportion", "drf"]),
        "nodeorder",
        near(draw),
    ]
    instance = load(in_racks(seed, cluster(seed, nodes)), lenient=True)
    policy = policy_for(load_model("volcano"), conf(draw.choice(ACTIONS), plugins))
    assert stated(replay(instance, policy)) == stated(replay(instance, policy, Options(fast=False)))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 24))
def test_scores_of_all_nodes_at_once_as_node_by_node(seed: int, nodes: int) -> None:
    draw = random.Random(seed)
    plugins = ["priority", "gang", "proportion", "predicates", "nodeorder", near(draw), "binpack"]
    session = opened(in_racks(seed, cluster(seed, nodes)), conf("allocate", plugins))
    session.bulk_finder = BulkFinder.over(session)
    if session.bulk_finder is None:
        return
    for _ in range(3):
        pending = [task for job in session.jobs.values() for task in job.pending() if session.bulk_finder.knows(task)]
        for task in draw.sample(pending, min(3, len(pending))):
            task.here = draw.choice(["", *session.tree.names])
            check_fit_and_scores(session, session.bulk_finder, task)
            task.here = ""
        for _ in range(draw.choice([1, 10])):
            move(draw, session, session.bulk_finder)
