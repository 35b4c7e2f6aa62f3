"""Short cuts decide as the plain loop does, on random clusters."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.greedy_kube.build import ZONE, anti, budget, node, pod, run, spread

LABELS = [{}, {"a": "1"}, {"a": "2"}, {"a": "1", "b": "1"}]


def cluster(seed: int) -> list[dict[str, Any]]:
    draw = random.Random(seed)
    objects: list[dict[str, Any]] = []
    names = [f"n{at}" for at in range(draw.randint(1, 6))]
    for name in names:
        taints = (
            [{"key": "t", "effect": draw.choice(["NoSchedule", "PreferNoSchedule"])}] if draw.random() < 0.2 else []
        )
        size = draw.choice(["300m", "600m", "1"])
        labels = {ZONE: draw.choice("xy")} if draw.random() < 0.8 else {}
        objects.append(node(name, size, pods=draw.choice([2, 4, 110]), taints=taints, labels=labels))
    for at in range(draw.randint(0, 12)):
        objects.append(pod(f"r{at}", **_common(draw), on=draw.choice(names), start=draw.choice([None, 1, 1, 2, 9])))
    for at in range(draw.randint(1, 6)):
        wishes: dict[str, Any] = {}
        if draw.random() < 0.2:
            wishes["affinity"] = anti({"a": "1"})
        if draw.random() < 0.2:
            wishes["topologySpreadConstraints"] = [spread(ZONE, {"a": "1"})]
        if draw.random() < 0.2:
            wishes["ports"] = [{"containerPort": 80, "hostPort": 80}]
        nominated = draw.choice([*names, "gone"]) if draw.random() < 0.3 else ""
        objects.append(pod(f"p{at}", **_common(draw, 200), created=at, nominated=nominated, **wishes))
    for at in range(draw.randint(0, 2)):
        objects.append(budget(f"b{at}", draw.randint(0, 1), draw.choice(LABELS)))
    return objects


def _common(draw: random.Random, base: int = 0) -> dict[str, Any]:
    going = draw.choice(["preempted", "deleted"]) if draw.random() < 0.15 else ""
    cpu, labels = draw.choice(["", "100m", "200m", "300m"]), draw.choice(LABELS)
    return {"cpu": cpu, "priority": base + draw.choice([0, 0, 50, 100, 250]), "labels": labels, "going": going}


@pytest.mark.parametrize("version", ["1.36", "head"])
@settings(max_examples=150)
@given(seed=st.integers(0, 2**32))
def test_short_cuts_decide_as_the_plain_loop(version: str, seed: int) -> None:
    objects = cluster(seed)
    quick = run(*objects, version=version, record=True)
    plain = run(*objects, version=version, record=True, plain=True)
    assert [one.to_dict() for one in quick.attempts] == [one.to_dict() for one in plain.attempts]
    assert (quick.binds, quick.evictions, quick.nominations) == (plain.binds, plain.evictions, plain.nominations)


@settings(max_examples=100)
@given(seed=st.integers(0, 2**32))
def test_what_is_decided_is_consistent(seed: int) -> None:
    objects = cluster(seed)
    result = run(*objects)
    pods = {f"default/{one['metadata']['name']}": one for one in objects if one["kind"] == "Pod"}
    for victim, where, preemptor in result.evictions:
        assert pods[victim]["spec"]["nodeName"] == where
        assert pods[victim]["spec"]["priority"] < pods[preemptor]["spec"]["priority"]
        assert "deletionTimestamp" not in pods[victim]["metadata"]
    assert len({victim for victim, _, _ in result.evictions}) == len(result.evictions)
    assert not set(result.binds) & set(result.unplaced)
    assert set(result.nominations) <= set(result.unplaced)
