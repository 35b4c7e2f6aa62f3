"""What a proof is about: variables, each a quantity of a decision, and rows, each a fact about them.

All numbers are whole. A row says that a sum is at least something; there is no other kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import gcd
from typing import Any, NamedTuple

Terms = dict[str, int]
"""Variable → coefficient, none of them 0."""


class ProofRow(NamedTuple):
    """Σ coefficient · variable ≥ least."""

    terms: Mapping[str, int]
    least: int

    @property
    def is_trivial(self) -> bool:
        """Whether it says nothing."""
        return not self.terms and self.least <= 0

    def implies(self, other: ProofRow) -> bool:
        """Whether the other row follows at once: it says the same of a smaller number, or this one is never true."""
        if not self.terms and self.least > 0:
            return True
        return other.is_trivial or (self.least >= other.least and self.terms == other.terms)


class Variable(NamedTuple):
    """A whole number that every decision has, between two limits."""

    low: int
    high: int
    value: Callable[[Any], int]
    """What it is in the counts of a decision (`cpsched/proof/counts.py`)."""
    place: int | None = None
    """The place that it is about, if it is one; only those who write proofs look at it."""


@dataclass(frozen=True)
class ProofStatement:
    """What is known of every legal decision that has the earlier levels' values, and what is claimed to follow."""

    variables: Mapping[str, Variable]
    rows: Mapping[str, ProofRow]
    """By label: the key of the rule or level, and what it is about."""
    claim: ProofRow
    """Nothing is better on the level than the bound."""

    def of(self, reference: str) -> ProofRow | None:
        """The row of that label; `>x` and `<x` are the limits of a variable. None if there is none."""
        if reference[:1] in (">", "<") and (variable := self.variables.get(reference[1:])) is not None:
            return (
                ProofRow({reference[1:]: 1}, variable.low)
                if reference[0] == ">"
                else ProofRow({reference[1:]: -1}, -variable.high)
            )
        return self.rows.get(reference)


def rounded(terms: Mapping[str, int], least: int) -> ProofRow:
    """The row divided by what all its coefficients have in common; the left side is whole, so the right is rounded."""
    left = {name: coefficient for name, coefficient in terms.items() if coefficient}
    common = gcd(*left.values()) or 1
    if common > 1:
        left = {name: coefficient // common for name, coefficient in left.items()}
    return ProofRow(left, -(-least // common))


def summed(parts: Iterable[tuple[int, Mapping[str, int]]]) -> Terms:
    """The sum of the parts, each times its weight."""
    found: Terms = {}
    for weight, terms in parts:
        for name, coefficient in terms.items():
            found[name] = found.get(name, 0) + weight * coefficient
    return {name: coefficient for name, coefficient in found.items() if coefficient}
