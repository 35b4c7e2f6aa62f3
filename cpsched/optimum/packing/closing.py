"""Closing by tight patterns: near a full cluster only patterns with almost no waste occur; if none combine, a proof."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from ortools.sat.python import cp_model

from cpsched.optimum.packing.problem import Counts, Problem
from cpsched.optimum.packing.small_models import solver
from cpsched.optimum.packing.tight import tight_patterns
from cpsched.optimum.packing.totals import Totals

MOST_COLUMNS = 20_000
MOST_NODES = 16
"""With more nodes the program over columns does not end in the time there is."""


def least_use(totals: Totals, values: Sequence[int]) -> list[int] | None:
    """Per resource the least that items reaching these values take, over all totals that keep the cuts."""
    rows = totals.problem.rows
    least = []
    for resource in range(totals.problem.sizes.shape[1]):
        bound = totals.least([row.size[resource] if row.tier < len(values) else 0 for row in rows], values)
        if bound is None:
            return None
        least.append(bound)
    return least


def close(totals: Totals, values: Sequence[int], effort: float) -> tuple[Counts | None, bool]:
    """(a placement that reaches the values, True), (None, True) if none does, (None, False) if it stays open.

    Items of the tiers of `values` alone are looked at. A placement that reaches the values uses at least `least_use`,
    so the waste of all nodes together, and of each, is at most the capacity less that: its nodes are tight patterns.
    """
    problem = totals.problem
    if len(problem.nodes) > MOST_NODES:
        return None, False
    least = least_use(totals, values)
    if least is None:
        return None, True
    waste = [int(c) - u for c, u in zip(problem.capacities.sum(axis=0), least, strict=True)]
    if min(waste) < 0:
        return None, True
    demand = [row.demand if row.tier < len(values) else 0 for row in problem.rows]
    listed: list[Counts] = []
    for one in problem.classes:
        tight = tight_patterns(
            problem, one, demand, [min(w, c) for w, c in zip(waste, one.capacity, strict=True)], 4 * MOST_COLUMNS
        )
        if tight is None or not tight.complete or sum(map(len, listed)) + len(tight.patterns) > MOST_COLUMNS:
            return None, False
        listed.append(tight.patterns)
    return _program(problem, listed, values, demand, effort)


def _program(
    problem: Problem, listed: list[Counts], values: Sequence[int], demand: list[int], effort: float
) -> tuple[Counts | None, bool]:
    model = cp_model.CpModel()
    used = []
    for patterns, one in zip(listed, problem.classes, strict=True):
        variables = [model.new_int_var(0, one.count, "") for _ in range(len(patterns))]
        model.add(sum(variables) == one.count)
        used.append(variables)
    totals = []
    for row, wanted in enumerate(demand):
        terms = [
            int(patterns[number, row]) * variables[number]
            for patterns, variables in zip(listed, used, strict=True)
            for number in np.flatnonzero(patterns[:, row])
        ]
        total = model.new_int_var(0, int(wanted), "")
        model.add(sum(terms) == total)
        totals.append(total)
    for tier, value in enumerate(values):
        model.add(sum(t for t, row in zip(totals, problem.rows, strict=True) if row.tier == tier) >= value)
    found_by = solver(effort)
    status = found_by.solve(model)
    if status == cp_model.INFEASIBLE:
        return None, True
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None, False
    placement = np.zeros((len(problem.nodes), len(problem.rows)), dtype=np.int64)
    node = 0
    for patterns, variables, one in zip(listed, used, problem.classes, strict=True):
        start = node
        for number, variable in enumerate(variables):
            for _ in range(found_by.value(variable)):
                placement[node] = patterns[number]
                node += 1
        node = start + one.count
    return placement, True
