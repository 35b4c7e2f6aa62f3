"""A linear model in integers, so that a second solver gets the very same problem; no solver is imported here."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

LARGEST = 10**7
"""Coefficients beyond this mean nothing to a solver with a tolerance of 1e-6: 1e7 times 1e-6 is 10 units."""


INFINITE = 2**62

Bounds = tuple[int, int]
"""The least and the most."""


@dataclass(frozen=True)
class LinearConstraint:
    """lower ≤ Σ coefficient · variable ≤ upper; None is no limit."""

    terms: dict[int, int]
    lower: int | None
    upper: int | None

    scale: int = field(init=False, compare=False)
    """What a solver that reckons in floats should divide the row by."""

    def __post_init__(self) -> None:
        scale = 1 if self._largest <= LARGEST else min(map(abs, self.terms.values()), default=1)
        object.__setattr__(self, "scale", scale)

    @cached_property
    def is_moderate(self) -> bool:
        """Whether no number of the scaled row is large beside what such a solver forgives."""
        return self._largest <= LARGEST * self.scale

    @property
    def _largest(self) -> int:
        return max(map(abs, (*self.terms.values(), self.lower or 0, self.upper or 0)))

    @property
    def bounds(self) -> tuple[int, Bounds] | None:
        """The one variable of the row and what it may be; None for rows of more."""
        if len(self.terms) != 1:
            return None
        ((variable, coefficient),) = self.terms.items()
        lower = -INFINITE if self.lower is None else self.lower
        upper = INFINITE if self.upper is None else self.upper
        if coefficient < 0:
            lower, upper = -upper, -lower
        return variable, (-(-lower // abs(coefficient)), upper // abs(coefficient))

    def holds(self, values: list[int]) -> bool:
        """Whether whole values satisfy the row exactly."""
        total = sum(coefficient * values[variable] for variable, coefficient in self.terms.items())
        return (self.lower is None or total >= self.lower) and (self.upper is None or total <= self.upper)


@dataclass(frozen=True)
class LinearModel:
    """Bounds of every variable, rows, and what to minimise; all whole numbers, so it can travel between processes."""

    bounds: list[Bounds]
    rows: list[LinearConstraint]
    objective: dict[int, int]
    offset: int
    hint: dict[int, int]
    """Values of some or all variables to start from."""

    @property
    def least(self) -> int:
        """What the objective is at least by the variables' bounds, or by a row that says so."""
        terms = self.objective.items()
        found = [sum(coefficient * self.bounds[v][0 if coefficient > 0 else 1] for v, coefficient in terms)]
        found += [row.lower for row in self.rows if row.lower is not None and row.terms == self.objective]
        return max(found) + self.offset

    @property
    def is_safe_in_floats(self) -> bool:
        """Whether a solver that reckons in floats can be trusted with them."""
        return max(map(abs, self.objective.values()), default=0) <= LARGEST and all(
            row.is_moderate for row in self.rows
        )
