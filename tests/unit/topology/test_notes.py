"""Warnings about topology that is asked for and ignored."""

from __future__ import annotations

from typing import Any

import pytest

from cpsched.importers.load import load
from cpsched.importers.policy import load_policy
from tests.judge import cluster, conf, job, pending, running
from tests.unit.rules.near_clusters import RACKS

TWICE = [{"name": "s", "tier": 1, "nodes": ["n0"]}, *({"name": n, "tier": 2, "hyperNodes": ["s"]} for n in "bc")]


def warnings(stated: dict[str, Any], racks: list[dict[str, Any]] = RACKS) -> list[str]:
    """Of a session with one job that states this."""
    a = job("a", pending(), networkTopology=stated)
    return list(load(cluster(a, nodes={"n0": 4}, hyperNodes=racks)).warnings)


@pytest.mark.parametrize(
    ("stated", "why"),
    [
        ({"mode": "hard"}, "it states no highestTierAllowed"),
        ({"mode": "hard", "highestTierName": "moon"}, "no HyperNode has the tierName moon"),
        ({"mode": "", "highestTierAllowed": 1}, "its mode is empty; hard or soft is right"),
    ],
)
def test_a_demand_that_binds_nothing_is_named(stated: dict[str, Any], why: str) -> None:
    (line,) = warnings(stated)
    assert line.endswith(f"networkTopology of PodGroup default/a binds nothing: {why}")


@pytest.mark.parametrize("stated", [{"mode": "soft"}, {"mode": "hard", "highestTierName": "block"}])
def test_one_that_binds_or_is_soft_is_not(stated: dict[str, Any]) -> None:
    assert warnings(stated) == []


def test_so_is_a_tree_that_serves_no_job() -> None:
    (line,) = warnings({"mode": "soft"}, TWICE)
    assert line.endswith("the tree of HyperNodes has a cycle or a second parent: default/a cannot be placed")
    assert load(cluster(job("a", pending()), nodes={"n0": 4}, hyperNodes=TWICE)).warnings == ()


HARD = {"mode": "hard", "highestTierAllowed": 1}
NTA = "network-topology-aware"
NODES = dict.fromkeys(("n0", "n1", "n2", "n3"), 4)


@pytest.mark.parametrize(
    ("plugins", "why"),
    [
        ((), "is not configured"),
        (({"name": NTA, "enabledHyperNodeGradient": False},), "has enabledHyperNodeGradient off"),
        ((NTA,), ""),
    ],
)
def test_a_hard_demand_that_no_plugin_keeps_is_named(plugins: tuple[Any, ...], why: str) -> None:
    jobs = (job("a", pending(), networkTopology=HARD), job("b", running(node="n0"), networkTopology=HARD))
    source = cluster(*jobs, nodes=NODES, hyperNodes=RACKS)
    policy = load_policy(None, conf("allocate", "gang", *plugins), instance=load(source))
    wanted = f"hard networkTopology of PodGroup default/a is not kept: plugin {NTA} {why}"
    assert list(policy.warnings) == [wanted] * bool(why)


@pytest.mark.parametrize("stated", [{"mode": "soft"}, {"mode": "hard"}])
def test_one_that_binds_nothing_anyway_is_not(stated: dict[str, Any]) -> None:
    source = cluster(job("a", pending(), networkTopology=stated), nodes=NODES, hyperNodes=RACKS)
    assert load_policy(None, conf("allocate", "gang"), instance=load(source)).warnings == ()


def test_many_are_counted() -> None:
    jobs = [job(f"j{n}", pending(), networkTopology={"mode": "hard"}) for n in range(5)]
    (line,) = load(cluster(*jobs, nodes={"n0": 4})).warnings
    assert "PodGroup default/j0, default/j1, default/j2 and 2 more binds nothing" in line
