"""deviceshare: rules about cards that no recorded row notices."""

from __future__ import annotations

from typing import Any

import pytest

from cpsched.errors import InputError
from tests.unit.greedy_volcano.cluster import Object, conf, group, node, opened, pod, queue, run

CARD = "volcano.sh/vgpu-"


def shared(register: str = "GPU-0,10,3000,NVIDIA,true,hami-core:") -> Object:
    made = node("n0")
    made["metadata"]["annotations"] = {"volcano.sh/node-vgpu-register": register}
    made["status"]["allocatable"] |= {f"{CARD}number": "10", f"{CARD}cores": "100", f"{CARD}memory": "3000"}
    return made


def asking(name: str, job: str, memory: str = "1000", number: str = "1", **labels: str) -> Object:
    limits = {f"{CARD}number": number, f"{CARD}memory": memory}
    containers = [{"name": "main", "resources": {"requests": limits, "limits": limits}}]
    return pod(name, job, metadata={"labels": labels}, containers=containers)


def plugin(**arguments: Any) -> dict[str, Any]:
    stated = {f"deviceshare.{key}": value for key, value in {"VGPUEnable": True, **arguments}.items()}
    return conf("allocate", ("gang", "predicates", {"name": "deviceshare", "arguments": stated}))


@pytest.mark.parametrize(("memory", "points"), [("1004", 33), ("1005", 34), ("1006", 34)])
def test_the_score_is_rounded_half_up(memory: str, points: int) -> None:
    objects = [shared(), queue(), group("a"), asking("a-0", "a", memory)]
    session = opened(objects, plugin(SchedulePolicy="binpack", ScheduleWeight=1))
    task, on = session.tasks["ns/a-0"], session.nodes["n0"]
    session.pre_predicate(task)
    assert session.predicate(task, on) is None
    assert sum(rate(task, on) for tier in session.point("node_order") for rate in tier) == points


def test_a_rule_needs_all_its_labels() -> None:
    rules = [{"tier": "gold", "team": "x"}]
    objects = [shared(), queue(), group("a"), asking("a-0", "a", tier="gold", team="x"), group("b")]
    both, one = asking("b-0", "b", tier="gold", team="x"), asking("b-0", "b", tier="gold")
    assert run([*objects, one], plugin(GPUExclusiveRules=rules)).solution.binds == {"ns/a-0": "n0", "ns/b-0": "n0"}
    assert run([*objects, both], plugin(GPUExclusiveRules=rules)).solution.binds == {"ns/a-0": "n0"}


@pytest.mark.parametrize(
    ("register", "fits"),
    [
        ("GPU-0,10,3000,NVIDIA,false,hami-core:", True),
        ("GPU-0,10,3000,NVIDIA,true,hami-core", False),
        ("GPU-0,10,3000,NVIDIA,true:", False),
        ("GPU-0,x,3000,NVIDIA,true,hami-core:", False),
        ("GPU-0,10,3000,MLU,true,hami-core:", False),
    ],
)
def test_what_a_node_registers(register: str, *, fits: bool) -> None:
    objects = [shared(register), queue(), group("a"), asking("a-0", "a")]
    # A node whose register cannot be read has no cards, and is not filtered by them.
    unread = register.count(",") < 5 or not register.endswith(":")
    assert bool(run(objects, plugin()).solution.binds) is (fits or unread)


def test_two_ways_of_sharing_end_the_scheduler() -> None:
    with pytest.raises(InputError, match="two ways of sharing cards end the scheduler"):
        run([], plugin(GPUNumberEnable="1"))
