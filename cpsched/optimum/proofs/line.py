"""One line of a proof: multipliers of an LP as whole numbers, which together with limits of variables show a row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from cpsched.proof.rows import ProofRow, Terms, Variable

Step = list[Any]
Reference = str | int
DENOMINATORS = (1, 2, 12, 360, 10**4, 10**7, 10**10)
"""Multipliers are rounded to these parts of one, the coarsest first: small numbers make short proofs."""


class ProofLimit(NamedTuple):
    """The limits of a variable, each with the row that says so."""

    low: int
    high: int
    low_by: Reference
    high_by: Reference


Parts = Sequence[tuple[Reference, ProofRow, float]]
"""Rows with their multipliers."""


def limits_of(variables: Mapping[str, Variable]) -> dict[str, ProofLimit]:
    """The limits that variables have by themselves."""
    return {name: ProofLimit(one.low, one.high, f">{name}", f"<{name}") for name, one in variables.items()}


def line(goal: ProofRow, parts: Parts, limits: Mapping[str, ProofLimit]) -> Step | None:
    """The rows times their multipliers, and limits for what is left, divided: the goal, or None if it is too much."""
    for denominator in DENOMINATORS:
        whole = [(reference, row, round(y * denominator)) for reference, row, y in parts]
        step = combined(goal, [part for part in whole if part[2] > 0], limits, denominator)
        if step is not None:
            return step
    return None


def combined(
    goal: ProofRow, parts: Iterable[tuple[Reference, ProofRow, int]], limits: Mapping[str, ProofLimit], divisor: int
) -> Step | None:
    """The step, if the sum of these whole multiples shows the goal."""
    left: Terms = {name: divisor * coefficient for name, coefficient in goal.terms.items()}
    least, used = 0, []
    for reference, row, times in parts:
        least += times * row.least
        used.append([reference, times])
        for name, coefficient in row.terms.items():
            left[name] = left.get(name, 0) - times * coefficient
    for name, rest in left.items():
        if rest:
            limit = limits[name]
            least += rest * (limit.low if rest > 0 else limit.high)
            used.append([limit.low_by if rest > 0 else limit.high_by, abs(rest)])
    return ["sum", divisor, used] if -(-least // divisor) >= goal.least else None
