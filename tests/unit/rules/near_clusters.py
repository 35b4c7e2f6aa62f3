"""Four nodes in two racks of one block, and jobs on them, for tests of rules and levels about topology."""

from __future__ import annotations

from typing import Any

from cpsched.rules import Decision
from tests.judge import cluster, conf, decide, pending, running, snapshot_of

NEAR = "network-topology-aware"
RACK, BLOCK = {"mode": "hard", "highestTierAllowed": 1}, {"mode": "hard", "highestTierAllowed": 2}
KEY = "volcano.sh/partition-id"
RACKS = [
    {"name": "s0", "tier": 1, "nodes": ["n0", "n1"]},
    {"name": "s1", "tier": 1, "nodes": ["n2", "n3"]},
    {"name": "b", "tier": 2, "tierName": "block", "hyperNodes": ["s0", "s1"]},
]
Plugins = tuple[str | dict[str, Any], ...]


def near_decision(
    decision: dict[str, Any],
    *jobs: dict[str, Any],
    actions: str = "allocate",
    plugins: Plugins = ("priority", "gang", "predicates", NEAR),
    rules: dict[str, str] | None = None,
    racks: Any = None,
    cpu: int = 4,
    **fields: Any,
) -> Decision:
    """The decision in a session of these jobs."""
    nodes = {f"n{number}": cpu for number in range(5)}
    source = cluster(*jobs, nodes=nodes, hyperNodes=RACKS if racks is None else racks, **fields)
    return decide(snapshot_of(source, conf=conf(actions, *plugins), rules=rules), decision)


def part(number: int | str, count: int = 1, **fields: Any) -> dict[str, Any]:
    """Tasks of one sub-group that wait."""
    return pending(replicas=count, role=f"w{number}", labels={KEY: str(number)}, **fields)


def part_at_work(number: int | str, node: str, count: int = 1, **fields: Any) -> dict[str, Any]:
    """Tasks of one sub-group that run."""
    return running(replicas=count, node=node, role=f"r{number}{node}", labels={KEY: str(number)}, **fields)


def policy(size: int = 1, least: int = 0, **fields: Any) -> dict[str, Any]:
    """A policy by the key of the sub-groups."""
    stated = {"name": "p", "labelSelector": {}, "matchLabelKeys": [KEY], "subGroupSize": size, "minSubGroups": least}
    return {**stated, **fields}
