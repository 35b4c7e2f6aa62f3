"""One line of a proof: multipliers of an LP as whole numbers, which together with limits of variables show a row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cpsched.proof.rows import ProofRow, Terms, Variable

Step = list[Any]
Reference = str | int
DENOMINATORS = (1, 2, 12, 360, 10**4, 10**7, 10**10)
"""Multipliers are rounded to these parts of one, the coarsest first: small numbers make short proofs."""


def line(
    goal: ProofRow, parts: Sequence[tuple[Reference, ProofRow, float]], limits: Mapping[str, Variable]
) -> Step | None:
    """The rows times their multipliers, and limits for what is left, divided: the goal, or None if it is too much."""
    for denominator in DENOMINATORS:
        whole = [(reference, row, round(y * denominator)) for reference, row, y in parts]
        step = combined(goal, [part for part in whole if part[2] > 0], limits, denominator)
        if step is not None:
            return step
    return None


def combined(
    goal: ProofRow, parts: Iterable[tuple[Reference, ProofRow, int]], limits: Mapping[str, Variable], divisor: int
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
            used.append([f"{'>' if rest > 0 else '<'}{name}", abs(rest)])
    return ["sum", divisor, used] if -(-least // divisor) >= goal.least else None
