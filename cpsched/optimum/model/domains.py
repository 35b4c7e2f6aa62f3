"""Units as the model sees them: which HyperNodes can hold one, what is placed outside each, and which pods must go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from ortools.sat.python import cp_model

from cpsched.instance import HOLDS_ROOM
from cpsched.optimum.model.classes import TaskClass, VictimClass
from cpsched.optimum.model.variables import Expr, Variables, sum_of, value_in
from cpsched.snapshot.near import TopologyUnit


@dataclass(frozen=True)
class NearDomain:
    """A HyperNode: its tier and its nodes."""

    name: str
    tier: int
    nodes: frozenset[str]


class PlacedUnit:
    """A unit with tasks to place, over the variables of a model in which every task has its job."""

    def __init__(self, v: Variables, unit: TopologyUnit):
        self.v, self.unit = v, unit
        self.classes: list[TaskClass] = [one for one in v.classes.tasks if one.representative.key in unit.tasks]
        self.victims: list[VictimClass] = [
            group for group in v.victims_by_job.get(unit.job, ()) if group.representative.key in unit.tasks
        ]
        self.most = sum(len(one.tasks) for one in self.classes)

    @cached_property
    def placed_by_node(self) -> dict[str, list[cp_model.IntVar]]:
        """Per node the counts of what is placed there."""
        found: dict[str, list[cp_model.IntVar]] = {}
        for one in self.classes:
            for node in one.nodes:
                some = [of[one.index, node] for of in (self.v.bind, self.v.reserve) if (one.index, node) in of]
                if some:
                    found.setdefault(node, []).extend(some)
        return found

    @cached_property
    def fixed_nodes(self) -> frozenset[str]:
        """Nodes on which some task stays whatever is decided."""
        going = {task.key for group in self.victims if group.most == len(group.tasks) for task in group.tasks}
        tasks = self.v.snapshot.instance.tasks
        staying = (tasks[key] for key in self.unit.tasks - going)
        return frozenset([task.node for task in staying if task.status in HOLDS_ROOM])

    def domains(self, limit: int | None) -> list[NearDomain]:
        """HyperNodes of a tier up to the limit that hold all that stays, of those with equal nodes the lowest."""
        return _lowest(self.v, limit, self.fixed_nodes)

    def keeps_inside(self, domain: NearDomain, chosen: cp_model.IntVar) -> None:
        """Where it is chosen, tasks of the unit outside it go."""
        for group in self.victims:
            if group.node not in domain.nodes:
                self.v.cp.add(self.v.evicted(group) == len(group.tasks)).only_enforce_if(chosen)

    def places_inside(self, chosen: Mapping[NearDomain, cp_model.IntVar]) -> None:
        """Nothing is placed but in a domain that is chosen; nodes of the same domains share a row."""
        alike: dict[tuple[NearDomain, ...], list[cp_model.IntVar]] = {}
        for node, counts in self.placed_by_node.items():
            alike.setdefault(tuple([domain for domain in chosen if node in domain.nodes]), []).extend(counts)
        for around, counts in alike.items():
            self.v.cp.add(sum_of(list(counts)) <= self.most * sum_of([chosen[domain] for domain in around]))

    def nodes_in(self, values: list[int]) -> set[str] | None:
        """The nodes of the unit under an assignment; None if nothing of it is placed."""
        placed = {node for node, counts in self.placed_by_node.items() if any(values[x.index] for x in counts)}
        if not placed:
            return None
        staying = {group.node for group in self.victims if value_in(self.v.evicted(group), values) < len(group.tasks)}
        return placed | staying | self.fixed_nodes


class DomainChoice:
    """Which HyperNode a unit lies in: at most one, and without one nothing of it is placed."""

    def __init__(self, unit: PlacedUnit, domains: Iterable[NearDomain]):
        self.unit, v = unit, unit.v
        self.flags = {domain: v.flag(f"{unit.unit.key} within {domain.name}") for domain in domains}
        v.cp.add(sum_of(list(self.flags.values())) <= 1)
        for domain, flag in self.flags.items():
            unit.keeps_inside(domain, flag)
        unit.places_inside(self.flags)


def placed_units(v: Variables) -> list[PlacedUnit]:
    """All units of which something can be placed."""
    by_job = v.snapshot.nearness.units
    units = [PlacedUnit(v, unit) for job in sorted(by_job) if job in v.class_by_job for unit in by_job[job]]
    return [unit for unit in units if unit.classes]


def widest(domains: Iterable[NearDomain]) -> list[NearDomain]:
    """Those that lie in no other: dominance, where tiers make no difference."""
    found = list(domains)
    return [one for one in found if not any(one.nodes < other.nodes for other in found)]


def reach_of(v: Variables, job: str) -> dict[NearDomain, cp_model.IntVar]:
    """Per widest HyperNode that the job may have whether all that is placed of the job lies in it."""
    limit = v.snapshot.nearness.limits[job]
    chosen: dict[NearDomain, cp_model.IntVar] = {}
    for domain in widest(_lowest(v, limit, frozenset())):
        flag = chosen[domain] = v.flag(f"{job} lies in {domain.name}")
        outside = list(_outside(v, job, domain))
        if outside:
            v.cp.add(sum_of(outside) == 0).only_enforce_if(flag)
    return chosen


def _outside(v: Variables, job: str, domain: NearDomain) -> Iterator[Expr]:
    for one in v.classes.tasks:
        if job in one.jobs:
            yield from [v.placed(one, node) for node in one.nodes if node not in domain.nodes]


def _lowest(v: Variables, limit: int | None, inside: frozenset[str]) -> list[NearDomain]:
    tree = v.snapshot.nearness.tree
    found: dict[frozenset[str], NearDomain] = {}
    for name in sorted(tree.node_sets, key=lambda name: (tree.tier(name), name)):
        nodes = tree.node_sets[name]
        may_hold = nodes >= inside and (limit is None or tree.tier(name) <= limit)
        if may_hold and not any(nodes <= other for other in found):
            found[nodes] = NearDomain(name, tree.tier(name), nodes)
    return [found[nodes] for nodes in found if nodes]


def chosen_tiers(v: Variables) -> list[DomainChoice]:
    """Per unit the HyperNode that it lies in once something of it is placed; made once per model."""
    if v.choices is None:
        limit_of = v.snapshot.nearness.limit_of
        v.choices = [DomainChoice(unit, unit.domains(limit_of(unit.unit))) for unit in placed_units(v)]
    return v.choices
