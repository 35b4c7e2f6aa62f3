"""The last few nodes, by CP-SAT: which items fit on nodes whose free capacity is given."""

from __future__ import annotations

from collections.abc import Sequence

from ortools.sat.python import cp_model

from cpsched.optimum.packing.allowance import Allowance
from cpsched.optimum.packing.problem import Counts, Problem
from cpsched.optimum.packing.small_models import solve

WORK = 0.08
"""Deterministic seconds; three or four nodes are packed in a tenth of it or rarely at all."""


def pack_tail(
    problem: Problem, nodes: Sequence[int], need: Sequence[int], free: Counts, allowance: Allowance, work: float = WORK
) -> list[list[int]] | None:
    """Counts per node of `nodes` that place all of `need` in `free` (nodes × resources); None: not found."""
    model, rows = cp_model.CpModel(), problem.rows
    wanted = [index for index, count in enumerate(need) if count]
    amounts: dict[tuple[int, int], cp_model.IntVar] = {}
    for place, node in enumerate(nodes):
        one = problem.classes[problem.nodes[node]]
        for index in wanted:
            fits = min(
                [need[index], one.most[index]]
                + [int(free[place][d]) // size for d, size in enumerate(rows[index].size) if size]
            )
            if fits > 0:
                amounts[place, index] = model.new_int_var(0, int(fits), "")
        for d in range(len(one.capacity)):
            terms = [rows[i].size[d] * amounts[place, i] for i in wanted if (place, i) in amounts and rows[i].size[d]]
            if terms:
                model.add(sum(terms) <= int(free[place][d]))
    for index in wanted:
        terms = [amounts[place, index] for place in range(len(nodes)) if (place, index) in amounts]
        if not terms:
            return None
        model.add(sum(terms) == int(need[index]))
    found_by, status = solve(model, work, allowance)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    found = [[0] * len(rows) for _ in nodes]
    for (place, index), amount in amounts.items():
        found[place][index] = found_by.value(amount)
    return found
