"""Lower bounds of stages on a relaxed model, before anything is searched; a bound that a solution attains is proved."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from ortools.sat.python import cp_model

from cpsched.optimum.model.objective.stage import Stage
from cpsched.optimum.model.variables import Expr, terms_of
from cpsched.optimum.provers import IDEAL, LP, Prover
from cpsched.optimum.solvers.linearize import Linearizer, row_of
from cpsched.optimum.solvers.lp import LpRelaxation


@dataclass(frozen=True)
class StageBound:
    """A value that no solution of a relaxed model beats on a stage, who proved that, and in how many seconds."""

    value: int
    prover: Prover
    seconds: float


class BoundQuery(NamedTuple):
    """What a prover of bounds is given: the stage, the best bound so far, and what is known besides."""

    stage: Stage
    best: StageBound
    solution_value: int | None
    """The stage's value in the solution at hand, if there is one; nothing above it can be a bound."""
    implied: StageBound | None
    """What earlier stages imply, if it is better than the ideal value."""
    from_coarser: StageBound | None
    """The stage's bound on a coarser relaxation, as long as the stages before it are as they were there."""

    @property
    def is_attained(self) -> bool:
        """Whether the solution at hand meets the best bound so far."""
        return self.solution_value == self.best.value


class StageBounds:
    """Bounds of stages one after another, each given that those before it keep their values.

    A stage's value is *fixed* once it is proved, and only *assumed* while it is a bound that no solution attains yet.
    Bounds that follow an assumption hold if the assumption is attained: `retract` withdraws them.
    """

    def __init__(self, cp: cp_model.CpModel, linear: Linearizer, *, with_lp: bool):
        self._cp, self._linear = cp, linear
        self._lp = LpRelaxation() if with_lp else None
        self.has_lp = with_lp
        """Whether bounds say more than what holds of every session; the LP may give up."""
        self._fixed: list[tuple[Stage, StageBound]] = []
        self._assumed: list[tuple[Stage, StageBound]] = []
        self._pushed = 0
        self._extended_to = (-1, -1)
        """How many variables and constraints of the model the LP has."""
        self._known: dict[tuple[int, ...], StageBound] = {}
        """By the values of the stages before it the bound of a stage: the LP is not solved twice for one question."""

    def bound(
        self, stage: Stage, solution_value: int | None, from_coarser: StageBound | None
    ) -> tuple[StageBound, bool]:
        """The best bound, and whether the solution at hand attains it or an equal stage proves that one can.

        Stages that are bounded after this one take it that the bound is attained, until `retract`.
        """
        bound, attained = self._bound(stage, solution_value, from_coarser)
        self.assume(stage, bound)
        return bound, attained

    def _bound(
        self, stage: Stage, solution_value: int | None, from_coarser: StageBound | None
    ) -> tuple[StageBound, bool]:
        before = self._before
        value, place, is_equal = stage.inherited([(earlier, bound.value) for earlier, bound in before])
        implied = None if place is None else replace(before[place][1], value=value, seconds=0.0)
        if implied is not None and is_equal:
            return implied, True
        query = BoundQuery(stage, StageBound(stage.ideal, IDEAL, 0.0), solution_value, implied, from_coarser)
        for prove in BOUND_PROVERS.values():
            if query.is_attained or query.best is from_coarser:
                break
            query = query._replace(best=prove(self, query))
        return replace(query.best, seconds=0.0), query.is_attained

    def assume(self, stage: Stage, bound: StageBound) -> None:
        """Take it that the bound is attained, until `retract`."""
        self._assumed.append((stage, bound))

    def retract(self) -> None:
        """Withdraw all that was assumed."""
        self._assumed, self._pushed = [], 0
        if self._lp is not None:
            self._lp.pop()

    def fix(self, proved: Iterable[tuple[Stage, StageBound]]) -> None:
        """These values are proved; the caller adds them to the model, from where the LP reads them."""
        self._fixed += proved

    def inherited(self, query: BoundQuery) -> StageBound:
        """What earlier stages imply: over more victims nothing is less than over fewer."""
        return query.implied or query.best

    def of_coarser(self, query: BoundQuery) -> StageBound:
        """What a coarser relaxation proved; it is mostly as good as the LP on this one, and costs nothing."""
        known = query.from_coarser
        return known if known is not None and known.value > query.best.value else query.best

    def by_lp(self, query: BoundQuery) -> StageBound:
        """What the LP relaxation proves."""
        given = tuple(bound.value for _, bound in self._before)
        if given not in self._known:
            ask = None if self._lp is None else self._lp_bound
            value = query.stage.bound_by_lp(ask, query.best.value, query.solution_value)
            self._known[given] = StageBound(value, LP, 0.0) if value > query.best.value else query.best
        return self._known[given]

    @property
    def _before(self) -> tuple[tuple[Stage, StageBound], ...]:
        return (*self._fixed, *self._assumed)

    def _lp_bound(self, expr: Expr) -> int | None:
        if self._lp is None:
            return None
        rows = [row_of(row) for stage, bound in self._assumed[self._pushed :] for row in stage.at_most(bound.value)]
        size = len(self._cp.proto.variables), len(self._cp.proto.constraints)
        if size != self._extended_to:
            self._lp.extend(*self._linear.permanent(self._cp, size[1]))
            self._extended_to = size
        if rows:
            self._lp.push(rows)
        self._pushed = len(self._assumed)
        offset, terms = terms_of(expr)
        bound = self._lp.bound(terms, offset)
        if bound is None:
            self._lp, self.has_lp = None, False
        return bound


BOUND_PROVERS: dict[str, Callable[[StageBounds, BoundQuery], StageBound]] = {
    "earlier stages": StageBounds.inherited,
    "coarser relaxation": StageBounds.of_coarser,
    "lp": StageBounds.by_lp,
}
"""Who may raise a stage's bound without a search, in the order of cost; the first that leaves nothing open ends it."""
