"""The fast path of the Volcano mirror decides, explains and words everything as the plain loop over nodes does."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from cpsched.greedy.volcano import Options, Replay, replay
from cpsched.importers.load import load
from cpsched.policy import load_model, policy_for
from tests.unit.greedy_volcano.cluster import Object, conf, group, node, pod, priority_class, queue

ACTIONS = (
    "allocate",
    "enqueue, allocate, backfill, preempt, reclaim",
    "allocate, preempt",
    "reclaim, allocate, preempt",
)
ZONES, APPS, GPU = ("a", "b", "c"), ("x", "y"), "nvidia.com/gpu"


def cluster(seed: int, nodes: int) -> list[Object]:
    """Nodes half full, jobs of several kinds: most of them simple, some with affinity, spread, taints and ports."""
    draw = random.Random(seed)
    queues = [queue(f"q{i}", weight=i + 1) for i in range(3)]
    if draw.random() < 0.1:
        queues[0]["status"]["state"] = "Closed"
    objects = [priority_class("low", 1), priority_class("high", 9), *queues]
    names = [f"n{i:03d}" for i in range(nodes)]
    strange, crowded = draw.random() < 0.5, draw.random() < 0.5
    for name in names:
        taints = [{"key": "t", "value": "v", "effect": draw.choice(["NoSchedule", "PreferNoSchedule"])}]
        spec: dict[str, Any] = {"taints": taints} if strange and draw.random() < 0.2 else {}
        if draw.random() < 0.05:
            spec["unschedulable"] = True
        made = node(name, cpu=str(draw.choice([2, 4, 8])), pods=draw.choice([2, 5, 20]), labels=_zone(draw), **spec)
        if draw.random() < 0.4:
            made["status"]["allocatable"][GPU] = str(draw.choice([1, 4]))
        objects.append(made)
    for number in range(nodes * 2 if crowded and nodes < 100 else max(6, nodes // 3)):
        objects += _job(draw, number, names, strange=strange, crowded=crowded)
    return objects


def _zone(draw: random.Random) -> dict[str, str]:
    return {"zone": draw.choice(ZONES)}


def _job(draw: random.Random, number: int, names: list[str], *, strange: bool, crowded: bool) -> list[Object]:
    """A gang; in a crowd the running ones can spare tasks and the waiting ones matter more."""
    size, running = draw.choice([1, 2, 4]), draw.random() < (0.7 if crowded else 0.5)
    uniform = draw.random() < 0.8
    name, cpu, role = f"j{number}", draw.choice(["", "500m", "1", "2", "3"]), draw.choice(["", "w"])
    shape, gpus = _shape(draw) if strange else {}, draw.choice(["", "", "", "1", "2"])
    pods = []
    for i in range(size):
        on = draw.choice(names) if running and draw.random() < 0.8 else ""
        extra: dict[str, Any] = {"labels": {"app": draw.choice(APPS)}}
        if on and draw.random() < 0.1:
            extra["deletionTimestamp"] = "2026-01-01T00:30:00Z"
        if on and draw.random() < 0.1:
            extra["phase"] = "Pending"
        if on and draw.random() < 0.1:
            shape = shape | {"priorityClassName": "system-cluster-critical"}
        asked = cpu if uniform else draw.choice(["", "1", "2"])
        made = pod(f"{name}-{role or 'x'}-{i}", name, asked, on=on, role=role, second=number, metadata=extra, **shape)
        if gpus:
            made["spec"]["containers"][0]["resources"]["requests"][GPU] = gpus
        pods.append(made)
    phase = "Running" if running else draw.choice(["Inqueue", "Pending"])
    minimum, priority = draw.choice([1, size]), draw.choice(["low", "high"])
    if crowded:
        minimum, priority = (0, "low") if running else (minimum, "high")
    return [
        group(
            name, minimum, f"q{draw.randrange(3)}", phase, number, priorityClassName=priority, minResources={"cpu": "1"}
        ),
        *pods,
    ]


def _shape(draw: random.Random) -> dict[str, Any]:
    term = {
        "labelSelector": {"matchLabels": {"app": draw.choice(APPS)}},
        "topologyKey": draw.choice(["zone", "kubernetes.io/hostname"]),
    }
    soft = [{"weight": 10, "podAffinityTerm": term}]
    spread = {"maxSkew": 1, "topologyKey": "zone", "labelSelector": term["labelSelector"]}
    wanted = [{"weight": 5, "preference": {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}}]
    return draw.choice(
        [
            {},
            {},
            {"nodeSelector": {"zone": draw.choice(ZONES)}},
            {"tolerations": [{"key": "t", "operator": "Exists"}]},
            {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}},
            {"affinity": {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": soft}}},
            {"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": wanted}}},
            {
                "topologySpreadConstraints": [
                    {**spread, "whenUnsatisfiable": draw.choice(["DoNotSchedule", "ScheduleAnyway"])}
                ]
            },
        ]
    )


def tiers(draw: random.Random) -> list[list[str | dict[str, Any]]]:
    share = draw.choice(["proportion", "capacity"])
    plugins: list[str | dict[str, Any]] = ["priority", "gang", "conformance", "predicates", share]
    weights = {"mostrequested.weight": draw.choice([0, 3]), "leastrequested.weight": draw.choice([0, 1])}
    plugins += draw.choice(
        [[], ["nodeorder"], ["binpack"], ["binpack", {"name": "nodeorder", "arguments": weights}, "drf"]]
    )
    draw.shuffle(plugins)
    cut = draw.choice([len(plugins), 3])
    return [tier for tier in (plugins[:cut], plugins[cut:]) if tier]


def stated(found: Replay) -> tuple[Any, ...]:
    return found.solution, found.messages, found.task_messages, found.trace


def compare(seed: int, nodes: int) -> None:
    draw = random.Random(seed)
    configuration = conf(draw.choice(ACTIONS), *tiers(draw))
    instance = load(cluster(seed, nodes), lenient=True)
    policy = policy_for(load_model("volcano"), configuration)
    for trace in (True, False):
        plain = replay(instance, policy, Options(trace=trace, fast=False))
        assert stated(replay(instance, policy, Options(trace=trace))) == stated(plain)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 12))
def test_small_clusters(seed: int, nodes: int) -> None:
    compare(seed, nodes)


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6), st.integers(101, 160))
def test_clusters_in_which_nodes_are_sampled(seed: int, nodes: int) -> None:
    compare(seed, nodes)
