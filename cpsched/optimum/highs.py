"""HiGHS on the same rows, through MathOpt."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from math import ceil, inf
from typing import Any

from cpsched.optimum.rows import Rows

TOLERANCE = 1e-6
SCALED_TOLERANCE = 1e-2
"""The same where rows had to be scaled: then an objective in the hundred thousands hangs on their last digits."""
_FAR_FROM_WHOLE = 1e-4


@dataclass(frozen=True)
class Answer:
    """What HiGHS found: whole values of all variables, if any, and a bound on the objective."""

    values: list[int] | None
    bound: int | None
    optimal: bool
    infeasible: bool = False


def solve(rows: Rows, seconds: float) -> Answer:
    """Solve the rows with HiGHS in this process."""
    from ortools.math_opt.python import mathopt

    model: Any = mathopt.Model.from_model_proto(_proto(rows))
    exact = {"relative_gap_tolerance": 0.0, "absolute_gap_tolerance": 0.0}
    limits = mathopt.SolveParameters(time_limit=timedelta(seconds=seconds), **exact)
    result = mathopt.solve(model, mathopt.SolverType.HIGHS, params=limits)
    optimal = result.termination.reason == mathopt.TerminationReason.OPTIMAL
    variables = list(model.variables())
    values = _whole_values(result.variable_values(variables)) if result.has_primal_feasible_solution() else None
    if values is not None and not all(row.holds(values) for row in rows.rows):
        values = None
    infeasible = result.termination.reason == mathopt.TerminationReason.INFEASIBLE
    return Answer(values, _whole_bound(rows, result.dual_bound()), optimal and values is not None, infeasible)


def _whole_bound(rows: Rows, bound: float) -> int | None:
    """The least whole number not below the bound, with the solver's own rounding forgiven; None is no bound."""
    if abs(bound) >= 2**53:
        return None
    return ceil(bound - (SCALED_TOLERANCE if any(row.scale > 1 for row in rows.rows) else TOLERANCE))


def _proto(rows: Rows) -> Any:
    """The rows as MathOpt's own message: a few long arrays instead of thousands of Python expressions."""
    from ortools.math_opt import model_pb2

    proto: Any = model_pb2.ModelProto()
    variables, limits, matrix = proto.variables, proto.linear_constraints, proto.linear_constraint_matrix
    variables.ids.extend(range(len(rows.bounds)))
    variables.lower_bounds.extend(low for low, _ in rows.bounds)
    variables.upper_bounds.extend(high for _, high in rows.bounds)
    variables.integers.extend([True] * len(rows.bounds))
    limits.ids.extend(range(len(rows.rows)))
    for number, row in enumerate(rows.rows):
        scale = row.scale
        limits.lower_bounds.append(-inf if row.lower is None else row.lower / scale)
        limits.upper_bounds.append(inf if row.upper is None else row.upper / scale)
        terms = sorted(row.terms.items())
        matrix.row_ids.extend([number] * len(terms))
        matrix.column_ids.extend(variable for variable, _ in terms)
        matrix.coefficients.extend(coefficient / scale for _, coefficient in terms)
    objective = sorted(rows.objective.items())
    proto.objective.linear_coefficients.ids.extend(variable for variable, _ in objective)
    proto.objective.linear_coefficients.values.extend(coefficient for _, coefficient in objective)
    proto.objective.offset = rows.offset
    return proto


def _whole_values(found: list[float]) -> list[int] | None:
    values = [round(value) for value in found]
    far = any(abs(value - whole) > _FAR_FROM_WHOLE for value, whole in zip(found, values, strict=True))
    return None if far else values
