"""topology_tier_max, topology_tier_sum, hypernodes_used: how far the units that receive something are spread."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from typing import Any

from ortools.sat.python import cp_model

from cpsched import objectives
from cpsched.optimum.model.domains import PlacedUnit, chosen_tiers, placed_units
from cpsched.optimum.model.objective.stage import LevelStage, Stage
from cpsched.optimum.model.variables import Expr, Variables, sum_of, weighted
from cpsched.rules import Decision


class TopologyTierMax(Stage):
    """The highest tier of a unit, as the number of tiers up to it; 0 where no unit receives anything."""

    def __init__(self, v: Variables, _: int | None):
        super().__init__(v)
        self._units = placed_units(v)
        tree = v.snapshot.nearness.tree
        # A HyperNode that is only named by another has a tier too.
        self._tiers = sorted({tree.tier(name) for name in tree.names}) if self._units else []

    def value_in(self, values: list[int]) -> int | None:  # noqa: D102
        return _of_units(self.v, self._units, values, lambda tiers: max(map(self._rank, tiers), default=0))

    def at_most(self, value: int) -> list[Any]:  # noqa: D102
        return [flag == 0 for flag, rank in self._ranked if rank > value]

    def level_bound(self, bound: int) -> int | None:  # noqa: D102
        return self._tiers[bound - 1] if bound > 0 else None

    def _rank(self, tier: int) -> int:
        return self._tiers.index(tier) + 1

    @cached_property
    def _ranked(self) -> list[tuple[cp_model.IntVar, int]]:
        """Every choice with the rank of its tier."""
        return [(f, self._rank(domain.tier)) for one in chosen_tiers(self.v) for domain, f in one.flags.items()]

    def _expression(self) -> Expr:
        v = self.v
        reached = [v.flag(f"some unit needs tier {tier}") for tier in self._tiers]
        for flag, rank in self._ranked:
            v.cp.add_implication(flag, reached[rank - 1])
        for lower, higher in pairwise(reached):
            v.cp.add_implication(higher, lower)
        return sum_of(list(reached))

    def _value(self, decision: Decision) -> int:
        tier = objectives.topology_tier_max(decision)
        return 0 if tier is None else self._rank(tier)


class TopologyTierSum(LevelStage):
    """The tiers of all units together."""

    name = "topology_tier_sum"

    def __init__(self, v: Variables, _: int | None):
        super().__init__(v)
        self._units = placed_units(v)

    def value_in(self, values: list[int]) -> int | None:  # noqa: D102
        return _of_units(self.v, self._units, values, sum)

    def _expression(self) -> Expr:
        return weighted((domain.tier, flag) for one in chosen_tiers(self.v) for domain, flag in one.flags.items())


class HypernodesUsed(LevelStage):
    """Per unit the HyperNodes of the lowest tier with new tasks of it, each as a Boolean."""

    name = "hypernodes_used"

    def __init__(self, v: Variables, _: int | None):
        super().__init__(v)
        self._parts = [part for unit in placed_units(v) for part in self._by_leaf(unit).values()]

    def value_in(self, values: list[int]) -> int | None:  # noqa: D102
        return sum(any(values[x.index] for x in counts) for counts in self._parts)

    def _by_leaf(self, unit: PlacedUnit) -> dict[str, list[cp_model.IntVar]]:
        leaf = self.v.snapshot.nearness.tree.leaf
        found: dict[str, list[cp_model.IntVar]] = {}
        for node, counts in unit.placed_by_node.items():
            found.setdefault(leaf(node) or f"node {node}", []).extend(counts)
        return found

    def _expression(self) -> Expr:
        v = self.v
        used = []
        for counts in self._parts:
            used.append(v.flag("a unit uses a HyperNode"))
            domains: Any = v.cp.proto.variables
            most = sum(max(domains[x.index].domain) for x in counts)
            v.cp.add(sum_of(list(counts)) <= most * used[-1])
        return sum_of(list(used))


def _of_units(v: Variables, units: list[PlacedUnit], values: list[int], total: Callable[[list[int]], int]) -> int:
    nodes = (unit.nodes_in(values) for unit in units)
    return total([v.snapshot.nearness.tier_of(some) for some in nodes if some is not None])
