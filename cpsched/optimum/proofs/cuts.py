"""Chvátal-Gomory cuts: a row divided by one of its coefficients, the others rounded up by limits; each is one sum."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from cpsched.optimum.proofs.line import ProofLimit, Reference, Step
from cpsched.proof.rows import ProofRow

MOST_DIVISORS = 8
"""Of one row."""
LEAST_VIOLATION = 0.05


class RowCut(NamedTuple):
    """A row that the point at hand does not satisfy, and the step that derives it."""

    violation: float
    row: ProofRow
    step: Step


def cut_of(
    reference: Reference, row: ProofRow, point: Mapping[str, float], limits: Mapping[str, ProofLimit]
) -> RowCut | None:
    """The cut of the row that the point misses most."""
    divisors = sorted({abs(c) for c in row.terms.values()} - {1})[-MOST_DIVISORS:]
    best: RowCut | None = None
    for divisor in divisors:
        least, terms, violation = row.least, dict[str, int](), 0.0
        for name, coefficient in row.terms.items():
            rest = -coefficient % divisor
            least += rest * limits[name].low
            if quotient := (coefficient + rest) // divisor:
                terms[name] = quotient
                violation -= quotient * point[name]
        least = -(-least // divisor)
        violation += least
        if terms and violation > LEAST_VIOLATION and (best is None or violation > best.violation):
            best = RowCut(violation, ProofRow(terms, least), _step(reference, row, divisor, limits))
    return best


def _step(reference: Reference, row: ProofRow, divisor: int, limits: Mapping[str, ProofLimit]) -> Step:
    up = [[limits[name].low_by, -c % divisor] for name, c in row.terms.items() if -c % divisor]
    return ["sum", divisor, [[reference, 1], *up]]
