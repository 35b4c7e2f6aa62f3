"""HiGHS on a linear model.

highspy and ortools cannot be imported into one process, so only the worker process imports it.
"""

from __future__ import annotations

from typing import Any

from cpsched.optimum.solvers.linear_model import LinearModel
from cpsched.optimum.solvers.mip import MipAnswer, whole_bound, whole_values

PACKAGE = "highspy"
_NO_AGGREGATOR = 1 << 12
"""Since 1.12 this step of HiGHS's presolve can lose the optimum where an integer has a large coefficient."""


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
    values = whole_values(rows, solver.getSolution().col_value) if found else None
    return MipAnswer(
        values,
        whole_bound(rows, info.mip_dual_bound),
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
