"""A step: one thing to minimise on the way to a level's value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from cpsched.check import Decision
from cpsched.optimum.model.variables import Expr, Terms, terms_of


@dataclass(frozen=True)
class Step:
    """Something to minimise.

    `made` is the expression, or makes it with helper variables of its own, which few questions need. `least` is a value
    that no decision can beat, `measure` reads the value off a decision without the solver, and `level` turns a bound on
    the value into one on the level. `pin` says in plainer rows than the expression's own that a decision is no worse
    than a value that nothing beats. `read` is the value under an assignment that may know nothing of helper variables.

    Where the values are ranks, `ladder` is what they mean from 1 on, `among` the groups of victims that are ranked,
    `ranks` the highest, and `beyond` what must be nothing for one to be enough. `attainable` is the least value from a
    bound on that a decision can have at all, and `less` are expressions with what their own bounds say of this one.
    """

    made: Expr | Callable[[], Expr]
    least: int
    measure: Callable[[Decision], int]
    level: Callable[[int], int | None] = lambda value: value
    pin: Callable[[int], list[Any]] | None = None
    read: Callable[[Callable[[Expr], int]], int] | None = None
    ladder: tuple[int, ...] = ()
    among: frozenset[int] = frozenset()
    ranks: int = 0
    beyond: Callable[[int], Expr] | None = None
    attainable: Callable[[int], int] = lambda bound: bound
    less: tuple[tuple[Expr, Callable[[int], int]], ...] = ()
    in_millionths: bool = False

    @cached_property
    def expr(self) -> Expr:
        """What to minimise."""
        return self.made() if callable(self.made) else self.made

    @cached_property
    def terms(self) -> Terms | None:
        """The same, flat; None if it would have to be made."""
        return None if callable(self.made) else terms_of(self.made)

    def no_worse(self, value: int) -> list[Any]:
        """Rows of a decision that is no worse than the value, once nothing better is possible."""
        return [self.expr <= value] if self.pin is None else self.pin(value)
