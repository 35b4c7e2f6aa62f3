"""What families with HyperNodes share: racks and blocks over nodes, demands of jobs, and Volcano's configuration."""

from __future__ import annotations

from collections.abc import Sequence

from cpsched.lab.draw import Draw
from cpsched.lab.families import pieces
from cpsched.lab.families.family import Raw

RACK, BLOCK = 1, 2
"""Tiers."""
_NEAR: Raw = {
    "name": "network-topology-aware",
    "arguments": {"weight": 10, "hypernode.binpack.resources": "nvidia.com/gpu"},
}
EVICTING = "enqueue, allocate, gangpreempt, gangreclaim, backfill"
PLACING = "enqueue, allocate, backfill"


def configuration(actions: str, queues: str = "proportion") -> Raw:
    """A volcano-scheduler.conf with network-topology-aware."""
    return pieces.configuration(actions, _NEAR, queues=queues)


def hyper_nodes(nodes: Sequence[str], per_rack: int, per_block: int) -> list[Raw]:
    """So many nodes a rack, so many racks a block."""
    racks = [
        {"name": f"rack{number}", "tier": RACK, "nodes": list(nodes[start : start + per_rack])}
        for number, start in enumerate(range(0, len(nodes), per_rack))
    ]
    names = [rack["name"] for rack in racks]
    blocks = [
        {"name": f"block{number}", "tier": BLOCK, "hyperNodes": names[start : start + per_block]}
        for number, start in enumerate(range(0, len(names), per_block))
    ]
    return [*racks, *blocks]


def demand(draw: Draw, hard: int, soft: int) -> Raw | None:
    """So many percent must stay in one rack or block, so many of the others would rather be near each other."""
    if draw.chance(hard):
        return {"mode": "hard", "highestTierAllowed": draw.choice([RACK, BLOCK])}
    return {"mode": "soft"} if draw.chance(soft) else None
