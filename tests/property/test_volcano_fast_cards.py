"""The fast path of the Volcano mirror with shared cards: it decides and words everything as the plain loop does."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cpsched.greedy.volcano import Options, Replay, replay
from cpsched.greedy.volcano.fast.bulk_finder import BulkFinder
from cpsched.importers.load import load
from cpsched.policy import load_model, policy_for
from tests.property.test_volcano_fast_path import ACTIONS, cluster
from tests.unit.greedy_volcano.cluster import Object, conf, group, node, opened, pod, priority_class, queue

WAYS = {"memory": "GPUSharingEnable", "number": "GPUNumberEnable", "virtual": "VGPUEnable"}
TYPES = ("NVIDIA-A100", "NVIDIA-T4", "MLU")


def shared(draw: random.Random, way: str, seed: int, nodes: int) -> list[Object]:
    """The clusters of the other tests; half of the nodes have cards, most pods want some."""
    objects = cluster(seed, nodes)
    for made in objects:
        if made["kind"] == "Node" and draw.random() < 0.7:
            _cards(draw, way, made)
    for made in objects:
        if made["kind"] == "Pod" and draw.random() < 0.8:
            _wish(draw, way, made)
    return objects


def _cards(draw: random.Random, way: str, made: Object) -> None:
    count, status = draw.choice([1, 2, 4]), made["status"]
    if way == "virtual":
        name = made["metadata"]["name"]
        cards = [
            f"{name}-{card},{draw.choice([1, 2, 3])},10,{draw.choice(TYPES)},true,hami-core" for card in range(count)
        ]
        made["metadata"]["annotations"] = {"volcano.sh/node-vgpu-register": ":".join([*cards, ""])}
        sizes = {"number": 3 * count, "memory": 10 * count, "cores": 100 * count}
        status["allocatable"] |= {f"volcano.sh/vgpu-{key}": str(size) for key, size in sizes.items()}
    else:
        status["allocatable"] |= {"volcano.sh/gpu-memory": str(10 * count), "volcano.sh/gpu-number": str(count)}
        status["capacity"] = dict(status["allocatable"])
        if draw.random() < 0.2:
            made["metadata"]["annotations"] = {"volcano.sh/gpu-unhealthy-ids": "0"}


def _wish(draw: random.Random, way: str, made: Object) -> None:
    containers, notes = made["spec"]["containers"], made["metadata"]["annotations"]
    if way == "virtual":
        limits = {"volcano.sh/vgpu-number": str(draw.choice([1, 1, 2]))}
        if draw.random() < 0.8:
            limits["volcano.sh/vgpu-memory"] = str(draw.choice([3, 5, 6, 10]))
        if draw.random() < 0.5:
            limits["volcano.sh/vgpu-cores"] = str(draw.choice([30, 60, 100]))
        if draw.random() < 0.1:
            containers.append({"name": "other", "resources": {"requests": dict(limits), "limits": dict(limits)}})
        if draw.random() < 0.1:
            notes["volcano.sh/vgpu-podgroup-policy"] = "spread"
        if draw.random() < 0.1:
            notes["nvidia.com/use-gputype"] = "t4"
        home = made["spec"].get("nodeName")
        if home:
            share = f"{home}-{draw.choice([0, 0, 1])},NVIDIA,{draw.choice([2, 5, 10])},{draw.choice([0, 50, 100])}:"
            notes["volcano.sh/vgpu-ids-new"] = share
    else:
        key = "memory" if way == "memory" else "number"
        limits = {f"volcano.sh/gpu-{key}": str(draw.choice([3, 5, 6, 10] if way == "memory" else [1, 1, 2]))}
        if made["spec"].get("nodeName"):
            notes["volcano.sh/gpu-index"] = draw.choice(["0", "1", "0,1", "2"])
    resources = containers[0]["resources"]
    resources["limits"] = limits
    # Where the amounts themselves are no limit, cards alone keep pods off.
    resources["requests"] = {**resources.get("requests", {}), **(limits if draw.random() < 0.5 else {})}


def configuration(draw: random.Random, way: str) -> dict[str, Any]:
    arguments: dict[str, Any] = {f"deviceshare.{WAYS[way]}": True}
    if way == "virtual":
        arguments["deviceshare.SchedulePolicy"] = draw.choice(["", "binpack", "spread"])
        arguments["deviceshare.GPUExclusiveRules"] = draw.choice([[], [{"app": "x"}]])
    plugins = ["priority", "gang", "predicates", draw.choice(["proportion", "capacity"])]
    plugins += draw.choice([[], ["nodeorder"], ["binpack", "nodeorder"], ["conformance", "drf"]])
    draw.shuffle(plugins)
    return conf(draw.choice(ACTIONS), [*plugins, {"name": "deviceshare", "arguments": arguments}])


def stated(found: Replay) -> tuple[Any, ...]:
    return found.solution, found.messages, found.task_messages, found.trace


def compare(seed: int, nodes: int, way: str) -> None:
    draw = random.Random(seed)
    policy = policy_for(load_model("volcano"), configuration(draw, way))
    instance = load(shared(draw, way, seed, nodes), lenient=True)
    for trace in (True, False):
        plain = replay(instance, policy, Options(trace=trace, fast=False))
        assert stated(replay(instance, policy, Options(trace=trace))) == stated(plain)


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 12))
def test_small_clusters(way: str, seed: int, nodes: int) -> None:
    compare(seed, nodes, way)


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 10**6), st.integers(101, 130), st.sampled_from(sorted(WAYS)))
def test_clusters_in_which_nodes_are_sampled(seed: int, nodes: int, way: str) -> None:
    compare(seed, nodes, way)


@pytest.mark.parametrize(
    ("plugins", "arguments", "is_fast"),
    [
        (("predicates", "deviceshare"), {}, True),
        # A node that no eviction opens would look like one that an eviction opens.
        (("deviceshare", "predicates"), {}, False),
        # A node's score is that of the task that was asked about last.
        (("predicates", "deviceshare"), {"deviceshare.ScheduleWeight": 1}, False),
    ],
)
def test_where_all_nodes_are_answered_for_at_once(
    plugins: tuple[str, ...], arguments: dict[str, Any], *, is_fast: bool
) -> None:
    switched = {"deviceshare.VGPUEnable": True, **arguments}
    tier = [{"name": name, "arguments": switched if name == "deviceshare" else {}} for name in plugins]
    session = opened([node("n0"), queue(), group("a"), pod("a-0", "a")], conf("allocate", ("gang",), tier))
    assert (BulkFinder.over(session) is not None) is is_fast


def test_an_attempt_that_no_card_rewards_leaves_the_traces_of_an_eviction() -> None:
    """The card is held by a pod that may not go; filters forget the victim that went for it and came back."""
    made = node("n0")
    amounts = {"volcano.sh/gpu-memory": "10", "volcano.sh/gpu-number": "1"}
    made["status"]["capacity"] = made["status"]["allocatable"] | amounts
    made["status"]["allocatable"] |= amounts | {"volcano.sh/gpu-memory": "100"}
    port = [{"name": "main", "ports": [{"containerPort": 80, "hostPort": 80}], "resources": {"requests": {"cpu": "1"}}}]
    keeps, wants = pod("h-0", "h", on="n0"), pod("p-0", "p")
    keeps["metadata"]["annotations"]["volcano.sh/gpu-index"] = "0"
    for one, memory in ((keeps, "10"), (wants, "5")):
        one["spec"]["containers"][0]["resources"]["limits"] = {"volcano.sh/gpu-memory": memory}
    objects = [
        made,
        node("n1", unschedulable=True),
        queue(),
        priority_class("low", 1),
        priority_class("high", 9),
        keeps,
        wants,
    ]
    objects += [pod("v-0", "v", on="n0", containers=port), pod("x-0", "x", containers=port)]
    for name, level, phase in (("v", "low", "Running"), ("h", "high", "Running"), ("p", "high", "Inqueue")):
        objects.append(group(name, phase=phase, priorityClassName=level))
    objects.append(group("x", priorityClassName="low"))
    plugin = {"name": "deviceshare", "arguments": {"deviceshare.GPUSharingEnable": True}}
    stated_conf = conf("preempt, allocate", ("priority", "predicates", "proportion", plugin))
    policy, instance = policy_for(load_model("volcano"), stated_conf), load(objects, lenient=True)
    for fast in (True, False):
        found = replay(instance, policy, Options(fast=fast)).solution
        assert {**found.binds, **found.reserves} == {"ns/x-0": "n0"}
