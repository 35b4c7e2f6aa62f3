"""nodes_used: the level that counts nodes with tasks on them."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from itertools import pairwise

from ortools.sat.python import cp_model

from cpsched.optimum.model.classes import Classes
from cpsched.optimum.model.objective.stage import LevelStage
from cpsched.optimum.model.variables import Expr, Variables, sum_of, value_in, weighted
from cpsched.snapshot import Snapshot


def used_in_any_case(snapshot: Snapshot, classes: Classes) -> set[str]:
    """Nodes that are used whatever is decided: some task cannot be evicted.

    Where evictions are by node, that is every node with tasks: its last task is evicted only for one placed there.
    """
    by_node = snapshot.policy.evicts_beside
    at_risk = Counter() if by_node else Counter([task.node for group in classes.victims for task in group.tasks])
    return {node for node, present in snapshot.instance.tasks_by_node.items() if at_risk[node] < len(present)}


class FewestNodes(LevelStage):
    """What is known of the level without a model: no decision uses fewer nodes than those used in any case."""

    name = "nodes_used"

    def __init__(self, snapshot: Snapshot, classes: Classes):
        self._last = None
        self.ideal = len(used_in_any_case(snapshot, classes))

    def _expression(self) -> Expr:
        return cp_model.LinearExpr.constant(self.ideal)


class NodesUsed(LevelStage):
    """Nodes that are used in any case, and a Boolean for each of the others."""

    name = "nodes_used"
    is_loose_at_once = True
    """Without integrality every node is used in part."""

    def __init__(self, v: Variables, _: int | None):
        super().__init__(v)
        used = used_in_any_case(v.snapshot, v.classes)
        self.ideal = len(used)
        self._victims = {
            node: v.victims_by_node.get(node, [])
            for node, present in v.snapshot.instance.tasks_by_node.items()
            if node not in used and (present or v.classes_by_node.get(node))
        }

    def value_in(self, values: list[int]) -> int | None:  # noqa: D102
        v = self.v
        return self.ideal + sum(
            any(value_in(v.evicted(group), values) < len(group.tasks) for group in groups)
            or any(value_in(v.placed(one, node), values) for one in v.classes_by_node.get(node, []))
            for node, groups in self._victims.items()
        )

    def _expression(self) -> Expr:
        return sum_of(list(self._flags.values())) + self.ideal

    @cached_property
    def _flags(self) -> dict[str, cp_model.IntVar]:
        v = self.v
        flags = {node: v.flag(f"{node} hosts something") for node in self._victims}
        for node, groups in self._victims.items():
            if groups:
                evicted = sum_of([v.evicted(group) for group in groups])
                v.cp.add(evicted == sum(len(g.tasks) for g in groups)).only_enforce_if(~flags[node])
                for one in v.classes_by_node.get(node, []):
                    v.cp.add(v.placed(one, node) == 0).only_enforce_if(~flags[node])
            else:
                _has_capacity_if_used(v, node, flags[node])
        # Symmetry: of identical nodes the first are used. Exact, because decisions that differ only in which of them
        # are used have equal values; without it every choice of k of n identical nodes is searched.
        for nodes in v.capacity.identical_nodes:
            for first, second in pairwise(node for node in nodes if node in flags):
                v.cp.add_implication(flags[second], flags[first])
        return flags


def _has_capacity_if_used(v: Variables, node: str, flag: cp_model.IntVar) -> None:
    """An empty node has capacity only if it counts as used: one row per resource, whose LP is tighter than a flag."""
    present = v.classes_by_node.get(node, [])
    for resource in sorted({name for one in present for name, amount in one.representative.requests.items() if amount}):
        placed = weighted((v.classes.amount(one.representative, resource), v.placed(one, node)) for one in present)
        v.cp.add(placed <= max(0, v.capacity.future_idle[node].get(resource, 0)) * flag)
