"""How near to each other pods are to run, as a session takes it; mirrors `adjustNetworkTopologySpec`."""

from __future__ import annotations

from dataclasses import dataclass

from cpsched.objects.groups import NetworkTopology
from cpsched.topology.tree import Tree

HARD, SOFT = "hard", "soft"


@dataclass(frozen=True)
class Demand:
    """Mode and highest tier; soft has become hard by now, with the top's tier or the job's."""

    mode: str
    highest_tier: int | None

    @property
    def limit(self) -> int | None:
        """The highest tier of a demand that binds, None where it constrains nothing."""
        return self.highest_tier if self.mode == HARD else None


def demand_of(stated: NetworkTopology | None, tree: Tree, soft_limit: int | None = None) -> Demand | None:
    """The demand as stated, its tier looked up by name; soft is as near as possible up to `soft_limit`."""
    if stated is None:
        return None
    if stated.mode == SOFT:
        return Demand(HARD, tree.top_tier if soft_limit is None else soft_limit)
    tier = stated.highest_tier_allowed
    if tier is None and stated.highest_tier_name:
        tier = tree.tier_named(stated.highest_tier_name)
    return Demand(stated.mode, tier)
