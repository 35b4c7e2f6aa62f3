"""HiGHS on a linear model.

highspy and ortools cannot be imported into one process, so only the worker process imports it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any

from cpsched.optimum.solvers.linear_model import LinearModel

TOLERANCE = 1e-6
"""What a float solver may report above the true bound: feasibility tolerance of HiGHS and of CP-SAT's LP. A bound is
rounded up after it is taken off; without it a bound of 2.0000001 would claim 3. On HiGHS no margin is safe, so its
bounds are confirmed in any case (`portfolio.py`); a larger one only makes them weaker."""
SCALED_TOLERANCE = 1e-2
"""The same where rows were divided by a scale: an objective in the hundred thousands then hangs on the last digits."""
_INTEGRALITY_TOLERANCE = 1e-4
"""A value farther from an integer is no integer solution. HiGHS allows 1e-6; what is in between is rounded, and every
constraint is tested in integers after that, so nothing wrong passes."""
_NO_AGGREGATOR = 1 << 12
"""Since 1.12 this step of HiGHS's presolve can lose the optimum where an integer has a large coefficient."""


@dataclass(frozen=True)
class MipAnswer:
    """What HiGHS found: whole values of all variables, which were checked, if any, and a bound on the objective.

    It reckons in floats: the bound, and that there is no solution, are claims that may be wrong.
    """

    values: list[int] | None
    bound: int | None
    optimal: bool
    infeasible: bool = False
    failed: bool = False
    """It came to an end without an answer."""


FAILED = MipAnswer(None, None, optimal=False, failed=True)


def solve(rows: LinearModel, seconds: float) -> MipAnswer:
    """Solve the rows in this process."""
    import highspy

    package: Any = highspy
    solver = package.Highs()
    for name, value in {
        "output_flag": False,
        "time_limit": seconds,
        "mip_rel_gap": 0.0,
        "mip_abs_gap": 0.0,
        "presolve_rule_off": _NO_AGGREGATOR,
    }.items():
        solver.setOptionValue(name, value)
    solver.passModel(_model(rows))
    if rows.hint:
        solver.setSolution(len(rows.hint), [*rows.hint], [*map(float, rows.hint.values())])
    solver.run()
    info, status = solver.getInfo(), solver.getModelStatus()
    found = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    values = _whole_values(rows, solver.getSolution().col_value) if found else None
    return MipAnswer(
        values,
        _whole_bound(rows, info.mip_dual_bound),
        optimal=status == highspy.HighsModelStatus.kOptimal and values is not None,
        infeasible=status == highspy.HighsModelStatus.kInfeasible,
    )


def _model(rows: LinearModel) -> Any:
    import highspy
    import numpy

    model: Any = highspy.HighsLp()
    model.num_col_, model.num_row_ = len(rows.bounds), len(rows.rows)
    costs = numpy.zeros(len(rows.bounds))
    costs[[*rows.objective]] = [*rows.objective.values()]
    model.col_cost_, model.offset_ = costs, rows.offset
    model.col_lower_ = numpy.array([low for low, _ in rows.bounds], float)
    model.col_upper_ = numpy.array([high for _, high in rows.bounds], float)
    model.integrality_ = [highspy.HighsVarType.kInteger] * len(rows.bounds)
    scales = [row.scale for row in rows.rows]
    infinite = highspy.kHighsInf
    pairs = list(zip(rows.rows, scales, strict=True))
    model.row_lower_ = numpy.array([-infinite if row.lower is None else row.lower / scale for row, scale in pairs])
    model.row_upper_ = numpy.array([infinite if row.upper is None else row.upper / scale for row, scale in pairs])
    matrix = model.a_matrix_
    matrix.format_ = highspy.MatrixFormat.kRowwise
    matrix.start_ = numpy.cumsum([0, *(len(row.terms) for row in rows.rows)])
    matrix.index_ = numpy.array([variable for row in rows.rows for variable in row.terms], numpy.int32)
    matrix.value_ = numpy.array([coefficient / scale for row, scale in pairs for coefficient in row.terms.values()])
    return model


def _whole_bound(rows: LinearModel, bound: float) -> int | None:
    """The least whole number not below the bound, with the solver's own rounding forgiven; None is no bound."""
    if not abs(bound) < 2**53:
        return None
    return ceil(bound - (SCALED_TOLERANCE if any(row.scale > 1 for row in rows.rows) else TOLERANCE))


def _whole_values(rows: LinearModel, values: list[float]) -> list[int] | None:
    """The solution in whole numbers; None if it is none, or does not satisfy bounds and rows exactly."""
    rounded = [round(value) for value in values]
    if any(abs(whole - value) > _INTEGRALITY_TOLERANCE for whole, value in zip(rounded, values, strict=True)):
        return None
    within = all(low <= value <= high for value, (low, high) in zip(rounded, rows.bounds, strict=True))
    return rounded if within and all(row.holds(rounded) for row in rows.rows) else None
