"""Rows for topology spread.

What a constraint counts in a domain only grows while tasks are placed, and so does the emptiest domain. Of the tasks
that count and have the constraint, the last to come into a domain finds all others of them there, beside those who
were there before; it is let in if they are no more than the skew above the emptiest domain as that is in the end.
Tasks that count but have another constraint or none may come later still: they count only for the emptiest domain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from ortools.sat.python import cp_model

from cpsched.optimum.model.classes import TaskClass, VictimClass
from cpsched.optimum.model.constraints.pod_filters.context import FilterModel
from cpsched.optimum.model.interactions import SpreadView, domains
from cpsched.optimum.model.variables import ZERO, Expr, sum_of


@dataclass(frozen=True)
class SpreadLimit:
    """How far a domain may be above the emptiest one, or above nothing while there are too few domains."""

    skew: int
    above_emptiest: bool

    def within(self, other: SpreadLimit) -> bool:
        """Whether it allows no more than the other, whatever the emptiest domain holds."""
        return self.skew <= other.skew and self.above_emptiest <= other.above_emptiest


ByLimit = dict[SpreadLimit, dict[int, TaskClass]]


def spread(board: FilterModel) -> None:
    """Every hard constraint of every class, for all that is placed and for what starts beside the victims."""
    wishes: dict[SpreadView, ByLimit] = {}
    nodes = board.snapshot.predicates.cluster.nodes
    for one in board.tasks:
        constraints = board.interactions.spread(one.representative)
        keys = {constraint.topology_key for constraint in constraints}
        board.forbid(one, [node for node in one.nodes if not keys <= nodes[node].labels.keys()])
        for constraint in constraints:
            view = board.interactions.spread_view(one.representative, constraint)
            values = {nodes[node].labels[view.key] for node in view.eligible}
            limit = SpreadLimit(constraint.max_skew, len(values) >= constraint.min_domains)
            wishes.setdefault(view, {}).setdefault(limit, {})[one.index] = one
    for view, by_limit in wishes.items():
        # A selector that asks for nothing counts no pod, as upstream.
        if not view.selector.is_empty:
            for starting in (False, True) if board.v.classes.victims else (False,):
                _OwnerAssignment(board, view, by_limit, starting=starting).post()


class _OwnerAssignment:
    """Rows for all constraints that count the same."""

    def __init__(self, board: FilterModel, view: SpreadView, by_limit: ByLimit, *, starting: bool):
        self.board, self.view, self.by_limit, self.starting = board, view, by_limit, starting
        eligible = set(view.eligible)
        self.everywhere = domains(board.snapshot, view.key)
        inside = {value: [n for n in nodes if n in eligible] for value, nodes in self.everywhere.items()}
        self.domains = {value: nodes for value, nodes in inside.items() if nodes}
        self.counted = [one for one in board.tasks if view.counts(one.representative)]

    def post(self) -> None:
        """One row per limit and domain for those who count, one per class and domain for those who do not."""
        for limit, classes in self.by_limit.items():
            within = {i: c for other, those in self.by_limit.items() if other.within(limit) for i, c in those.items()}
            strict = [one for one in within.values() if self.view.counts(one.representative)]
            for value, nodes in self.domains.items():
                if strict:
                    self._last_to_come(limit, strict, value, nodes)
                for one in classes.values():
                    self._uncounted(limit, one, value)

    def _last_to_come(self, limit: SpreadLimit, classes: Sequence[TaskClass], value: str, nodes: list[str]) -> None:
        counts = [count for one in classes for count in self.board.counts(one, nodes, starting=self.starting)]
        if not counts:
            return
        standing, gone = self._before(value)
        if standing or limit.skew < 1:
            there = self.board.any_placed(classes, nodes, starting=self.starting)
            self._add(sum_of(counts) + (standing - limit.skew) * there <= self._floor(limit) + gone)
        else:
            self._add(sum_of(counts) <= limit.skew + self._floor(limit))

    def _uncounted(self, limit: SpreadLimit, one: TaskClass, value: str) -> None:
        """A task that does not count where it comes, or nowhere, meets at least those who were there before."""
        matches = self.view.counts(one.representative)
        nodes = [n for n in self.everywhere[value] if not matches or n not in self.domains[value]]
        standing, gone = self._before(value)
        excess = standing + matches - limit.skew
        if excess > 0 and self.board.counts(one, nodes, starting=self.starting):
            there = self.board.any_placed([one], nodes, starting=self.starting)
            self._add(excess * there <= self._floor(limit) + gone)

    def _add(self, row: cp_model.BoundedLinearExpression | bool) -> None:
        added = self.board.cp.add(row)
        if self.starting:
            added.only_enforce_if(self.board.v.some_eviction)

    def _before(self, value: str) -> tuple[int, Expr]:
        """Who counts in the domain before any task is placed, and how many of them make way."""
        nodes = self.domains[value]
        groups = self._victims(nodes)
        standing = self._fixed(nodes) + sum(len(group.tasks) for group in groups)
        return standing, ZERO if self.starting else sum_of([self.board.v.evicted(group) for group in groups])

    def _fixed(self, nodes: list[str]) -> int:
        return sum(self.view.counts(task) for node in nodes for task in self.board.fixed_by_node.get(node, ()))

    def _victims(self, nodes: list[str]) -> list[VictimClass]:
        return [group for group in self.board.victims_on(nodes) if self.view.counts(group.representative)]

    def _floor(self, limit: SpreadLimit) -> Expr:
        return self._emptiest if limit.above_emptiest else ZERO

    @cached_property
    def _emptiest(self) -> cp_model.IntVar:
        """No more than the count of the emptiest domain in the end."""
        ends = list(self._ends())
        emptiest = self.board.cp.new_int_var(0, min(most for _, most in ends), f"emptiest {self.view.key}")
        for end, _ in ends:
            self.board.cp.add(emptiest <= end)
        return emptiest

    def _ends(self) -> Iterator[tuple[Expr, int]]:
        """Per domain who counts there in the end, and how many that can be."""
        for value, nodes in self.domains.items():
            standing, gone = self._before(value)
            counts = [c for one in self.counted for c in self.board.counts(one, nodes, starting=self.starting)]
            room = sum(self.board.most(one, nodes, starting=self.starting) for one in self.counted)
            yield standing - gone + sum_of(counts), standing + room
