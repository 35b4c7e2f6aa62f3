"""Claims of a solver that reckons in floats, and how they are confirmed."""

from __future__ import annotations

from typing import Any, cast

from ortools.sat.python import cp_model

from cpsched.optimum.solvers.linear_model import Rows
from cpsched.optimum.solvers.lp import Relaxation


def exact_bound(rows: Rows, *, relaxed: bool) -> int:
    """A bound on the objective in whole numbers; `relaxed` asks the linear program for multipliers as well."""
    least = rows.least
    if not relaxed:
        return least
    relaxation = Relaxation()
    relaxation.extend(rows.bounds, rows.rows)
    bound = relaxation.bound(rows.objective, rows.offset)
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
