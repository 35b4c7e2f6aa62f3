"""Which tasks are to run near each other: the tree of HyperNodes, and the units whose tasks it counts together."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from cpsched.objects.groups import NetworkTopology
from cpsched.snapshot.jobs import SessionJob
from cpsched.topology.demand import SOFT, Demand, demand_of
from cpsched.topology.tree import Tree

if TYPE_CHECKING:
    from cpsched.snapshot import Snapshot


class TopologyUnit(NamedTuple):
    """A sub-group with a networkTopology, or a job with one: its tasks, and the highest tier of a HyperNode for all."""

    key: str
    job: str
    tasks: frozenset[str]
    limit: int | None
    """None where nothing binds it."""
    is_sub_group: bool


class Nearness:
    """Units by job, and whether the policy keeps those apart that are too far from each other."""

    def __init__(self, snapshot: Snapshot, free: tuple[str, frozenset[str]] = ("", frozenset())):
        """`free` is a job with the rules that do not bind it; only an explanation names any."""
        self._snapshot, self._free = snapshot, free

    def _binds(self, rule: str, job: str) -> bool:
        free, rules = self._free
        return self._snapshot.policy.keeps_near(rule) and not (job == free and rule in rules)

    @cached_property
    def tree(self) -> Tree:
        """The HyperNodes of the session."""
        return Tree(self._snapshot.instance)

    @cached_property
    def units(self) -> dict[str, tuple[TopologyUnit, ...]]:
        """Per job that has any: its own first."""
        found = {job.key: tuple(self._units_of(job)) for job in self._snapshot.jobs.values() if job.is_shaped}
        return {key: units for key, units in found.items() if units}

    @cached_property
    def limits(self) -> dict[str, int]:
        """Per job that must stay in one HyperNode the highest tier of that."""
        own = [unit for units in self.units.values() for unit in units if not unit.is_sub_group]
        return {unit.job: limit for unit in own if (limit := self.limit_of(unit)) is not None}

    def is_barred(self, job: str) -> bool:
        """Whether the job receives nothing, since the tree that it asks for is unusable."""
        return job in self.units and self._binds("topology.job", job) and not self.tree.ready

    def limit_of(self, unit: TopologyUnit) -> int | None:
        """The highest tier that a rule allows the unit, None without any."""
        rule = "topology.subgroup" if unit.is_sub_group else "topology.job"
        return unit.limit if self._binds(rule, unit.job) else None

    def tier_of(self, nodes: Iterable[str]) -> int:
        """The lowest tier of a HyperNode that holds all the nodes; nodes that do not exist count as in the top."""
        known = frozenset(nodes)
        if known not in self._tiers:
            tree = self.tree
            around = [tree.tier(name) for name, found in tree.node_sets.items() if known <= found]
            self._tiers[known] = min(around, default=tree.top_tier)
        return self._tiers[known]

    @cached_property
    def _tiers(self) -> dict[frozenset[str], int]:
        return {}

    def _units_of(self, job: SessionJob) -> Iterable[TopologyUnit]:
        assert job.group is not None
        stated, groups = job.group.group.spec.network_topology, job.sub_groups
        own = demand_of(stated, self.tree)
        if stated is not None:
            tasks = frozenset([task.key for task in job.tasks])
            yield TopologyUnit(job.key, job.key, tasks, _limit(stated, own), is_sub_group=False)
        for group in groups.groups if groups is not None else ():
            wish = stated if group.policy is None else group.policy.network_topology
            if wish is not None and groups is not None:
                # What a soft wish must not exceed is the job's limit, which the job's own unit has.
                limit = None if group.policy is None else _limit(wish, demand_of(wish, self.tree))
                tasks = frozenset([key for key, of in groups.by_task.items() if of.key == group.key])
                yield TopologyUnit(group.key, job.key, tasks, limit, is_sub_group=True)


def _limit(stated: NetworkTopology, demand: Demand | None) -> int | None:
    """The tier of a hard demand; a soft one is bound by none."""
    return None if demand is None or stated.mode == SOFT else demand.limit
