"""Closing: of all patterns only some can occur in a placement that reaches the values; if none combine, a proof."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model

from cpsched.optimum.packing.allowance import Allowance
from cpsched.optimum.packing.config_lp import Listing
from cpsched.optimum.packing.problem import Counts
from cpsched.optimum.packing.small_models import solve
from cpsched.optimum.packing.tight import tight_patterns
from cpsched.optimum.packing.totals import Totals

MOST_COLUMNS = 20_000
MOST_NODES = 16
"""With more nodes the program over columns does not end in the time there is."""


def least_use(totals: Totals, values: Sequence[int], allowance: Allowance) -> list[int] | None:
    """Per resource the least that items reaching these values take, over all totals that keep the cuts."""
    rows = totals.problem.rows
    least, counted = [], totals.problem.counts_for(len(values)).tolist()
    for resource in range(totals.problem.sizes.shape[1]):
        sizes = [row.size[resource] if counts else 0 for row, counts in zip(rows, counted, strict=True)]
        bound = totals.least(sizes, values, allowance)
        if bound is None:
            return None
        least.append(bound)
    return least


def close_listed(
    totals: Totals, listing: Listing, values: Sequence[int], work: float, allowance: Allowance
) -> tuple[Counts | None, bool]:
    """The same with maximal patterns: those that no cut excludes have to cover what is placed.

    A node whose pattern earns less than the most that a node of its class can earn loses the difference, and all nodes
    together may lose a cut's right side less the least that totals of these values earn. A maximal pattern above the
    content of a node loses no more than the content does.
    """
    problem = totals.problem
    kept = [np.ones(len(patterns), dtype=bool) for patterns in listing.patterns]
    for cut in totals.cuts:
        least = totals.least(cut.prices, values, allowance)
        if least is None:
            return None, True
        prices = np.array(cut.prices, dtype=np.int64)
        for kind, some in enumerate(kept):
            allowance.over(len(some), 20)
            earned = listing.earned(kind, prices)
            some &= int(earned.max(initial=0)) - earned <= cut.most - least
    listed = [patterns[some] for patterns, some in zip(listing.patterns, kept, strict=True)]
    if sum(map(len, listed)) > MOST_COLUMNS:
        return None, False
    if any(not len(patterns) for patterns in listed):
        return None, True
    demand = np.where(problem.counts_for(len(values)), problem.demand, 0).tolist()
    return _program(totals, listed, values, demand, work, allowance, covered=True)


def close(totals: Totals, values: Sequence[int], work: float, allowance: Allowance) -> tuple[Counts | None, bool]:
    """(a placement that reaches the values, True), (None, True) if none does, (None, False) if it stays open.

    Items of the tiers of `values` alone are looked at. A placement that reaches the values uses at least `least_use`,
    so the waste of all nodes together, and of each, is at most the capacity less that: its nodes are tight patterns.
    """
    problem = totals.problem
    if len(problem.nodes) > MOST_NODES:
        return None, False
    least = least_use(totals, values, allowance)
    if least is None:
        return None, True
    waste = [int(c) - u for c, u in zip(problem.capacities.sum(axis=0), least, strict=True)]
    if min(waste) < 0:
        return None, True
    demand = np.where(problem.counts_for(len(values)), problem.demand, 0).tolist()
    listed: list[Counts] = []
    for one in problem.classes:
        window = [min(w, c) for w, c in zip(waste, one.capacity, strict=True)]
        tight = tight_patterns(problem, one, demand, window, 4 * MOST_COLUMNS, allowance)
        if tight is None or not tight.complete or sum(map(len, listed)) + len(tight.patterns) > MOST_COLUMNS:
            return None, False
        listed.append(tight.patterns)
    return _program(totals, listed, values, demand, work, allowance)


def _program(
    totals: Totals,
    listed: Sequence[NDArray[Any]],
    values: Sequence[int],
    demand: list[int],
    work: float,
    allowance: Allowance,
    *,
    covered: bool = False,
) -> tuple[Counts | None, bool]:
    """Choose a pattern for each node; what they hold is what is placed, or with `covered` at least that."""
    problem = totals.problem
    allowance.over(sum(patterns.size for patterns in listed), 100)
    model = cp_model.CpModel()
    used = []
    for patterns, one in zip(listed, problem.classes, strict=True):
        variables = [model.new_int_var(0, one.count, "") for _ in range(len(patterns))]
        model.add(sum(variables) == one.count)
        used.append(variables)
    placed = []
    for row, wanted in enumerate(demand):
        terms = [
            int(patterns[number, row]) * variables[number]
            for patterns, variables in zip(listed, used, strict=True)
            for number in np.flatnonzero(patterns[:, row])
        ]
        total = model.new_int_var(0, int(wanted), "")
        model.add(sum(terms) >= total if covered else sum(terms) == total)
        placed.append(total)
    for first, second in problem.pairs:
        model.add(placed[first] + placed[second] <= problem.rows[first].demand)
    for goal, value in enumerate(values):
        model.add(cp_model.LinearExpr.weighted_sum(placed, problem.worth[goal].tolist()) >= value)
    if covered:
        for cut in totals.cuts:
            model.add(sum(price * total for price, total in zip(cut.prices, placed, strict=True)) <= cut.most)
    found_by, status = solve(model, work, allowance)
    if status == cp_model.INFEASIBLE:
        return None, True
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None, False
    left = np.array([found_by.value(total) for total in placed], dtype=np.int64)
    placement = np.zeros((len(problem.nodes), len(problem.rows)), dtype=np.int64)
    node = 0
    for patterns, variables, one in zip(listed, used, problem.classes, strict=True):
        start = node
        for number, variable in enumerate(variables):
            for _ in range(found_by.value(variable)):
                placement[node] = np.minimum(patterns[number], left)
                left -= placement[node]
                node += 1
        node = start + one.count
    return placement, True
