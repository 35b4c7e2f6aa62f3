"""numa: containers that are to be aligned have their CPUs on sets of NUMA nodes that give enough for all together.

Exact: the CPUs of a set may be split between its NUMA nodes in any way, so by Hall's theorem it is enough that every
union of sets has what is wanted within it.
"""

from __future__ import annotations

from ortools.sat.python import cp_model

from cpsched.optimum.model.variables import Expr, Variables, sum_of, weighted
from cpsched.snapshot import Snapshot
from cpsched.snapshot.node_rules import NumaRule


def numa(cp: cp_model.CpModel, snapshot: Snapshot, v: Variables) -> None:
    """Per node that aligns CPUs: every container of every task has a set of NUMA nodes."""
    rule = snapshot.numa
    for node in sorted(v.classes_by_node) if rule is not None else ():
        assert rule is not None
        wanted: dict[frozenset[int], list[tuple[int, Expr]]] = {}
        for one in v.classes_by_node[node]:
            for amount in rule.demands(one.representative, node):
                ways = rule.ways(node, amount)
                counts = [v.cp.new_int_var(0, len(one.tasks), f"{one.representative.key} aligned") for _ in ways]
                cp.add(sum_of(counts) == v.placed(one, node))
                for nodes, count in zip(ways, counts, strict=True):
                    wanted.setdefault(nodes, []).append((amount, count))
        if wanted:
            _hold(cp, rule, node, wanted)


def _hold(
    cp: cp_model.CpModel, rule: NumaRule, node: str, wanted: dict[frozenset[int], list[tuple[int, Expr]]]
) -> None:
    free, unions = rule.free(node), set[frozenset[int]]()
    for nodes in wanted:
        unions |= {nodes, *(nodes | union for union in unions)}
    for union in sorted(unions, key=sorted):
        inside = [part for nodes, parts in wanted.items() if nodes <= union for part in parts]
        cp.add(weighted(inside) <= sum(free.get(one, 0) for one in union))
