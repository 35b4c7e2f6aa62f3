"""The rule `numa`: whether all containers placed on a node find their CPUs aligned, by an exact search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from cpsched.rules.decision import Decision
from cpsched.rules.violation import Violation
from cpsched.snapshot.node_rules import NumaRule

STEPS = 200_000
Sets = Counter[frozenset[int]]


def numa(decision: Decision) -> Iterator[Violation]:
    """Containers that are to be aligned on a node have their CPUs on sets of NUMA nodes that are large enough for all.

    Evicting frees no CPU: those who run took theirs before the session.
    """
    rule = decision.snapshot.numa
    if rule is None:
        return
    for node, tasks in decision.placed_by_node.items():
        demands = sorted((amount for task in tasks for amount in rule.demands(task, node)), reverse=True)
        if demands and not _Search(rule, node, demands).run():
            yield Violation("numa", node, "cannot align the CPUs of all that is placed there")


class _Search:
    """Gives each container a set of NUMA nodes, the largest container first."""

    def __init__(self, rule: NumaRule, node: str, demands: Sequence[int]):
        self._free, self._demands = rule.free(node), demands
        self._ways = {amount: rule.ways(node, amount) for amount in demands}
        self._failed: set[tuple[int, frozenset[tuple[frozenset[int], int]]]] = set()
        self._steps = 0

    def run(self) -> bool:
        """Whether there is a way."""
        return self._next(0, Counter())

    def _next(self, position: int, wanted: Sets) -> bool:
        if position == len(self._demands):
            return True
        state = (position, frozenset(wanted.items()))
        self._steps += 1
        if self._steps > STEPS or state in self._failed:
            return False
        amount = self._demands[position]
        for nodes in self._ways[amount]:
            more = Counter(wanted)
            more[nodes] += amount
            if _fit(more, self._free) and self._next(position + 1, more):
                return True
        self._failed.add(state)
        return False


def _fit(wanted: Sets, free: Mapping[int, int]) -> bool:
    """Whether sets of NUMA nodes can give what is wanted of them together: Hall's condition, for their unions."""
    unions: set[frozenset[int]] = set()
    for nodes in wanted:
        unions |= {nodes, *(nodes | union for union in unions)}
    return all(
        sum(amount for nodes, amount in wanted.items() if nodes <= union) <= sum(free.get(node, 0) for node in union)
        for union in unions
    )
