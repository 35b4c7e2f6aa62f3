"""How a bound that was computed in floats is confirmed in integers."""

from __future__ import annotations

from typing import Any, cast

from ortools.sat.python import cp_model

from cpsched.optimum.solvers.linear_model import LinearModel
from cpsched.optimum.solvers.lp import LpRelaxation


def exact_bound(rows: LinearModel, *, with_lp: bool) -> int:
    """A bound on the objective in whole numbers; `with_lp` asks the linear program for multipliers as well."""
    least = rows.least
    if not with_lp:
        return least
    lp = LpRelaxation()
    lp.extend(rows.bounds, rows.rows)
    bound = lp.bound(rows.objective, rows.offset)
    return least if bound is None else max(least, bound)


def below(cp: cp_model.CpModel, bound: int) -> cp_model.CpModel:
    """The question whether the objective can be below the bound."""
    model: Any = cp.clone()
    objective: Any = cp.proto.objective
    terms = zip(objective.vars, objective.coeffs, strict=True)
    value = sum(coefficient * model.get_int_var_from_proto_index(variable) for variable, coefficient in terms)
    model.clear_objective()
    model.clear_hints()
    model.add(value + round(objective.offset) <= bound - 1)
    return cast(cp_model.CpModel, model)
