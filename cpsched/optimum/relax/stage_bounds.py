"""Hopes: what a step can be at best, before anybody searched; bounds, so a hope that comes true is proved."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import Any

from ortools.sat.python import cp_model

from cpsched.optimum.model.objective.stage import Step
from cpsched.optimum.model.variables import Expr, terms_of
from cpsched.optimum.solvers.linearize import Linearisation, row_of
from cpsched.optimum.solvers.lp import Relaxation
from cpsched.solution import ProverName


@dataclass(frozen=True)
class Foreseen:
    """One step of one level: its best value on the sketch, and who proved that."""

    value: int
    holder: ProverName
    seconds: float


class Hopes:
    """What the steps of a sketch can be at best, given that those before them are."""

    def __init__(self, cp: cp_model.CpModel, linear: Linearisation, *, relaxed: bool):
        self._cp, self._linear = cp, linear
        self._relaxation = Relaxation() if relaxed else None
        self._settled: list[tuple[Step, Foreseen]] = []
        self._assumed: list[tuple[Step, Foreseen]] = []
        self._lent = 0
        self._known: dict[tuple[int, ...], Foreseen] = {}

    @property
    def are_founded(self) -> bool:
        """Whether they are more than what is always true."""
        return self._relaxation is not None

    def of(self, step: Step, worth: int | None, known: Foreseen | None = None) -> tuple[Foreseen, bool]:
        """The best that can be hoped for, and whether it is there already: `worth` is what an assignment at hand is.

        `known` is a bound from elsewhere, mostly as good as any.
        """
        hope, same = self._inherited(step)
        if same or worth == hope.value:
            return hope, True
        if known is not None and known.value > hope.value:
            hope = replace(known, seconds=0.0)
            return hope, worth == hope.value
        given = tuple(foreseen.value for _, foreseen in (*self._settled, *self._assumed))
        if given not in self._known:
            bound = step.attainable(self._bound(step, hope.value, worth))
            self._known[given] = Foreseen(bound, "lp", 0.0) if bound > hope.value else hope
        hope = self._known[given]
        return hope, worth == hope.value

    def assume(self, step: Step, hope: Foreseen) -> None:
        """Take the hope for granted, for now."""
        self._assumed.append((step, hope))

    def doubt(self) -> None:
        """No longer take for granted what was assumed."""
        self._assumed, self._lent = [], 0
        if self._relaxation is not None:
            self._relaxation.take_back()

    def settle(self, step: Step, foreseen: Foreseen) -> None:
        """Take it for granted for good; the sketch says so too."""
        self._settled.append((step, foreseen))

    def _inherited(self, step: Step) -> tuple[Foreseen, bool]:
        """As far as earlier steps know, and whether they settled the very same.

        Over more victims nothing is less than over fewer.
        """
        found = Foreseen(step.least, "bound", 0.0)
        for earlier, foreseen in (*self._settled, *self._assumed):
            if _same(earlier, step):
                return replace(foreseen, seconds=0.0), True
            if step.ladder and earlier.ladder and earlier.among <= step.among:
                value = bisect_left(step.ladder, earlier.ladder[foreseen.value - 1]) + 1 if foreseen.value else 0
            elif _grows(earlier, step, self._cp):
                value = foreseen.value
            else:
                continue
            if value > found.value:
                found = replace(foreseen, value=value, seconds=0.0)
        return found, False

    def _bound(self, step: Step, least: int, worth: int | None) -> int:
        """As far as the rows without wholeness know; ranks are asked one by one whether they are enough."""
        if self._relaxation is None or (step.terms is None and step.beyond is None):
            return least
        if step.beyond is None:
            found = [least, self._least(step.expr)]
            found += [None if (other := self._least(expr)) is None else says(other) for expr, says in step.less]
            return max(bound for bound in found if bound is not None)
        low, high = least, step.ranks if worth is None else worth
        while low < high:
            middle = (low + high) // 2
            if (self._least(step.beyond(middle)) or 0) > 0:
                low = middle + 1
            else:
                high = middle
        return low

    def _least(self, expr: Expr) -> int | None:
        if self._relaxation is None:
            return None
        rows = [row_of(row) for step, hope in self._assumed[self._lent :] for row in step.no_worse(hope.value)]
        self._relaxation.extend(*self._linear.lasting(self._cp, len(self._cp.proto.constraints)))
        self._relaxation.lend(rows)
        self._lent = len(self._assumed)
        offset, terms = terms_of(expr)
        bound = self._relaxation.bound(terms, offset)
        if bound is None:
            self._relaxation = None
        return bound


def _same(one: Step, other: Step) -> bool:
    if one.terms is None or other.terms is None:
        return bool(one.ladder) and one.ladder == other.ladder and one.among == other.among
    return one.terms == other.terms


def _grows(fewer: Step, more: Step, cp: cp_model.CpModel) -> bool:
    """Whether the second has all of the first and beyond that only what is never negative."""
    if fewer.terms is None or more.terms is None:
        return False
    (constant, own), (their_constant, theirs) = fewer.terms, more.terms
    if constant != their_constant or any(theirs.get(x) != c for x, c in own.items()):
        return False
    variables: Any = cp.proto.variables
    return all(c > 0 and min(variables[x].domain) >= 0 for x, c in theirs.items() if x not in own)
