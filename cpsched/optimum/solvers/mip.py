"""What a MIP solver answers: it reckons in floats, so values are tested in integers and bounds are rounded."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from cpsched.optimum.solvers.linear_model import LinearModel

TOLERANCE = 1e-6
"""What a float solver may report above the true bound: feasibility tolerance of HiGHS and of CP-SAT's LP. A bound is
rounded up after it is taken off; without it a bound of 2.0000001 would claim 3. On HiGHS no margin is safe, so its
bounds are confirmed in any case (`confirm.py`); a larger one only makes them weaker."""
SCALED_TOLERANCE = 1e-2
"""The same where rows were divided by a scale: an objective in the hundred thousands then hangs on the last digits."""
_INTEGRALITY_TOLERANCE = 1e-4
"""A value farther from an integer is no integer solution. HiGHS allows 1e-6; what is in between is rounded, and every
constraint is tested in integers after that, so nothing wrong passes."""


@dataclass(frozen=True)
class MipAnswer:
    """What a MIP solver found: whole values of all variables, which were checked, if any, and a bound on the objective.

    It reckons in floats: the bound, and that there is no solution, are claims that may be wrong.
    """

    values: list[int] | None
    bound: int | None
    optimal: bool
    infeasible: bool = False
    failed: bool = False
    """It came to an end without an answer."""


FAILED = MipAnswer(None, None, optimal=False, failed=True)


def whole_bound(rows: LinearModel, bound: float) -> int | None:
    """The least whole number not below the bound, with the solver's own rounding forgiven; None is no bound."""
    if not abs(bound) < 2**53:
        return None
    return ceil(bound - (SCALED_TOLERANCE if any(row.scale > 1 for row in rows.rows) else TOLERANCE))


def whole_values(rows: LinearModel, values: list[float]) -> list[int] | None:
    """The solution in whole numbers; None if it is none, or does not satisfy bounds and rows exactly."""
    rounded = [round(value) for value in values]
    if any(abs(whole - value) > _INTEGRALITY_TOLERANCE for whole, value in zip(rounded, values, strict=True)):
        return None
    within = all(low <= value <= high for value, (low, high) in zip(rounded, rows.bounds, strict=True))
    return rounded if within and all(row.holds(rounded) for row in rows.rows) else None
