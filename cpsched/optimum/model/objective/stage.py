"""Stages: one integer to minimise; a level of the policy is one stage or two."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from cpsched import objectives
from cpsched.optimum.model.variables import Expr, Terms, Variables, terms_of, value_in
from cpsched.rules import Decision

LpBound = Callable[[Expr], int | None]
"""The LP's lower bound on an expression, given what is fixed and assumed; None if it gave up."""


class InheritedBound(NamedTuple):
    """A bound that an earlier stage implies: its place among them, None for none, and whether both stages are equal."""

    value: int
    place: int | None = None
    is_equal: bool = False


class Stage(ABC):
    """One integer to minimise, over the variables of one model."""

    ideal: int = 0
    """Nothing is below this, whatever the session looks like."""
    in_millionths: ClassVar[bool] = False
    """Whether the values that exist may be thousands apart."""
    counts_placements: ClassVar[bool] = False
    """Whether it is better the more tasks are placed. Bounds of such stages are attained least often: where tasks do
    not fit exactly, a relaxation places more than can be placed."""
    is_doubtful: ClassVar[bool] = False
    """Whether its bound is the next to be doubted where one of several was not attained."""
    is_loose_at_once: ClassVar[bool] = False
    """Whether its LP bound is hardly ever attained, so that it is looked for by itself."""
    is_loose_in_exact: ClassVar[bool] = False
    """The same for what coarser granularities say of it, on the exact model."""

    def __init__(self, v: Variables):
        self.v = v
        self._last: tuple[Decision, int] | None = None

    @cached_property
    def expr(self) -> Expr:
        """What to minimise; auxiliary variables are made when it is first asked for."""
        return self._expression()

    @property
    def terms(self) -> Terms | None:
        """The expression, flat; None if it would take auxiliary variables of its own."""
        return None

    def value(self, decision: Decision) -> int:
        """The value of a decision, computed without the solver and remembered for the last one: it is asked often."""
        if self._last is None or self._last[0] is not decision:
            self._last = (decision, self._value(decision))
        return self._last[1]

    def value_in(self, values: list[int]) -> int | None:
        """The value under an assignment that may know no auxiliary variables; None if they do not say."""
        return None

    def at_most(self, value: int) -> list[Any]:
        """Constraints of a decision that has at most this value, where nothing below it is possible."""
        return [self.expr <= value]

    def lower_bound(self, lp: LpBound, known: int, upper: int | None) -> int:
        """A lower bound by the LP relaxation; `known` is one already, and `upper` the value of some solution."""
        return known

    def next_value(self, bound: int) -> int:
        """The least value from the bound on that a decision can have at all."""
        return bound

    def level_bound(self, bound: int) -> int | None:
        """What a bound on this stage says of the level; None for nothing."""
        return bound

    def is_same_as(self, earlier: Stage) -> bool:
        """Whether both have the same value for every decision."""
        return self.terms is not None and self.terms == earlier.terms

    def bound_from(self, earlier: Stage, value: int) -> int | None:
        """The bound that an earlier stage's least value implies; None for none.

        If this stage has all terms of the earlier one, and beyond them only terms that are never negative, it is never
        below it.
        """
        if self.terms is None or earlier.terms is None:
            return None
        (constant, own), (their_constant, theirs) = self.terms, earlier.terms
        if constant != their_constant or any(own.get(x) != c for x, c in theirs.items()):
            return None
        variables: Any = self.v.cp.proto.variables
        further = [(x, c) for x, c in own.items() if x not in theirs]
        return value if all(c > 0 and min(variables[x].domain) >= 0 for x, c in further) else None

    def inherited(self, earlier: Sequence[tuple[Stage, int]]) -> InheritedBound:
        """What earlier stages' least values imply: an equal one's value, else the best bound, else the ideal value."""
        found = InheritedBound(self.ideal)
        for place, (one, value) in enumerate(earlier):
            if self.is_same_as(one):
                return InheritedBound(value, place, is_equal=True)
            implied = self.bound_from(one, value)
            if implied is not None and implied > found.value:
                found = InheritedBound(implied, place)
        return found

    def bound_by_lp(self, lp: LpBound | None, known: int, upper: int | None) -> int:
        """The least attainable value not below what the LP relaxation proves; without an LP, not below `known`."""
        return self.next_value(known if lp is None else self.lower_bound(lp, known, upper))

    @abstractmethod
    def _expression(self) -> Expr: ...

    @abstractmethod
    def _value(self, decision: Decision) -> int: ...


class LevelStage(Stage):
    """A stage that is the level itself, or its negative where the level is maximised."""

    name: ClassVar[str]
    sign: ClassVar[int] = 1
    priority: int | None = None

    def level_bound(self, bound: int) -> int | None:  # noqa: D102
        return self.sign * bound

    def _value(self, decision: Decision) -> int:
        value = objectives.value_of(decision, self.name, self.priority)
        assert value is not None
        return self.sign * value


class LinearStage(Stage):
    """A stage whose expression is linear in the decision variables, or in auxiliary variables that exist already."""

    has_decision_variables_only: ClassVar[bool] = True
    """Whether an assignment of the decision variables says what it is."""

    def __init__(self, v: Variables, linear: Expr):
        super().__init__(v)
        self._linear = linear

    @cached_property
    def terms(self) -> Terms:
        """The expression, flat."""
        return terms_of(self._linear)

    def value_in(self, values: list[int]) -> int | None:  # noqa: D102
        return value_in(self._linear, values) if self.has_decision_variables_only else None

    def lower_bound(self, lp: LpBound, known: int, upper: int | None) -> int:  # noqa: D102
        bound = lp(self._linear)
        return known if bound is None else max(known, bound)

    def _expression(self) -> Expr:
        return self._linear
