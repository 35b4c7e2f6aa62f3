"""A CP-SAT model as a linear model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ortools.sat.python import cp_model

from cpsched.optimum.solvers.linear_model import INFINITE, Bounds, LinearConstraint, LinearModel


class Linearizer:
    """Linearises a model that grows: what was there before is not looked at again."""

    def __init__(self) -> None:
        self._bounds: list[Bounds] = []
        self._rows: list[LinearConstraint] = []
        self._seen = 0

    def permanent(self, cp: cp_model.CpModel, count: int) -> tuple[list[Bounds], list[LinearConstraint]]:
        """Bounds of the model's variables, and the rows of its first constraints, which are there to stay."""
        self._look_at(cp, count)
        return self._bounds, self._rows

    def linear_model(self, cp: cp_model.CpModel, permanent: int) -> LinearModel:
        """The model's rows; its first `permanent` constraints are there to stay."""
        self._look_at(cp, permanent)
        proto: Any = cp.proto
        passing = [proto.constraints[number] for number in range(permanent, len(proto.constraints))]
        rows = [*self._rows, *(row for constraint in passing for row in _rows(constraint, self._bounds))]
        objective = _merged(zip(proto.objective.vars, proto.objective.coeffs, strict=True))
        start = dict(zip(proto.solution_hint.vars, proto.solution_hint.values, strict=True))
        return LinearModel(list(self._bounds), rows, objective, round(proto.objective.offset), start)

    def _look_at(self, cp: cp_model.CpModel, permanent: int) -> None:
        proto: Any = cp.proto
        bounds, variables, constraints = self._bounds, proto.variables, proto.constraints
        for number in range(len(bounds), len(variables)):
            domain = list(variables[number].domain)
            bounds.append((domain[0], domain[-1]))
        for number in range(self._seen, permanent):
            self._rows += _rows(constraints[number], bounds)
        self._seen = max(self._seen, permanent)


def row_of(bounded: Any) -> LinearConstraint:
    """An expression with limits as a row."""
    lower, upper = (int(limit) - bounded.offset for limit in bounded.bounds.flattened_intervals())
    terms = _merged(zip((variable.index for variable in bounded.vars), bounded.coeffs, strict=True))
    return LinearConstraint(terms, lower if lower > -INFINITE else None, upper if upper < INFINITE else None)


def linear_model(cp: cp_model.CpModel) -> LinearModel:
    """All rows of a model."""
    return Linearizer().linear_model(cp, 0)


def _rows(constraint: Any, bounds: list[Bounds]) -> list[LinearConstraint]:
    """The rows of a constraint; a condition becomes a big-M.

    M is the farthest that the terms can be beyond the limit by the variables' bounds, so the row allows everything
    when the condition does not hold; a larger M would be as right and its LP weaker.
    """
    conditions = list(constraint.enforcement_literal)
    if constraint.has_linear():
        return _linear(constraint.linear, conditions, bounds)
    if constraint.has_bool_or():
        return [_at_least_one([*constraint.bool_or.literals, *(-c - 1 for c in conditions)])]
    if constraint.has_bool_and():
        return [_at_least_one([literal, *(-c - 1 for c in conditions)]) for literal in constraint.bool_and.literals]
    raise ValueError(f"no linear form for {constraint}")


def _linear(linear: Any, conditions: list[int], bounds: list[Bounds]) -> list[LinearConstraint]:
    terms = _merged(zip(linear.vars, linear.coeffs, strict=True))
    if len(linear.domain) != 2:
        raise ValueError("a row with holes has no linear form")
    lower, upper = int(linear.domain[0]), int(linear.domain[1])
    smallest = sum(c * bounds[v][0 if c > 0 else 1] for v, c in terms.items())
    largest = sum(c * bounds[v][1 if c > 0 else 0] for v, c in terms.items())
    if not conditions:
        return [LinearConstraint(terms, lower if lower > -INFINITE else None, upper if upper < INFINITE else None)]
    found = []
    if upper < largest:
        found.append(_conditional(terms, upper, largest - upper, conditions))
    if lower > smallest:
        negated = {v: -c for v, c in terms.items()}
        found.append(_conditional(negated, -lower, lower - smallest, conditions))
    return found


def _conditional(terms: dict[int, int], upper: int, slack: int, conditions: list[int]) -> LinearConstraint:
    """terms ≤ upper, loosened by `slack` for every condition that does not hold."""
    terms = dict(terms)
    for literal in conditions:
        if literal >= 0:
            terms[literal] = terms.get(literal, 0) + slack
            upper += slack
        else:
            terms[-literal - 1] = terms.get(-literal - 1, 0) - slack
    return LinearConstraint(terms, None, upper)


def _at_least_one(literals: Iterable[int]) -> LinearConstraint:
    terms: dict[int, int] = {}
    lower = 1
    for literal in literals:
        if literal >= 0:
            terms[literal] = terms.get(literal, 0) + 1
        else:
            terms[-literal - 1] = terms.get(-literal - 1, 0) - 1
            lower -= 1
    return LinearConstraint(terms, lower, None)


def _merged(pairs: Iterable[tuple[int, int]]) -> dict[int, int]:
    terms: dict[int, int] = {}
    for variable, coefficient in pairs:
        terms[int(variable)] = terms.get(int(variable), 0) + int(coefficient)
    return {variable: coefficient for variable, coefficient in terms.items() if coefficient}
