"""Perfect fill: hardly any capacity may be left. Exact fill first, then a dive on tight patterns, then exact cover."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ortools.linear_solver import pywraplp

from cpsched.optimum.packing.allowance import Allowance
from cpsched.optimum.packing.config_lp import solved
from cpsched.optimum.packing.exact_cover import exact_cover
from cpsched.optimum.packing.exact_fill import ExactFill, log_packings
from cpsched.optimum.packing.problem import Counts, NodeClass, Problem
from cpsched.optimum.packing.tight import tight_patterns

RELIST, COVER = 10, 7
"""At RELIST nodes left the tight patterns are listed again, all of them; COVER nodes are covered exactly."""
LOG_PACKINGS = 9.0
"""So many ways to pack the nodes that are left are wanted, as a logarithm, before the dive begins."""
SAMPLE, ALL, BUDGET = 30_000, 50_000, 20_000


def perfect_fill(problem: Problem, totals: Sequence[int], seed: int, allowance: Allowance) -> Counts | None:
    """A placement of all totals, or None if this run does not end in one; the last nodes are of the largest class."""
    draw = np.random.default_rng(seed)
    need = np.asarray(totals, dtype=np.int64)
    slack = problem.capacities.sum(axis=0) - need @ problem.sizes
    if not problem.classes or (slack < 0).any():
        return None
    last = max(range(len(problem.classes)), key=lambda kind: problem.classes[kind].count)
    order = sorted(range(len(problem.nodes)), key=lambda node: problem.nodes[node] == last)
    others = len(order) - problem.classes[last].count
    filling = ExactFill(problem, need, draw, allowance)
    placement = np.zeros((len(problem.nodes), len(problem.rows)), dtype=np.int64)
    done = 0
    while done < others or len(order) - done > COVER:
        filled = filling.fill(order[done], slack)
        if filled is None:
            break
        after = filling.need - filled
        slack_after = slack - (problem.capacities[order[done]] - filled @ problem.sizes)
        if done >= others and log_packings(problem, after, len(order) - done - 1, slack_after) < LOG_PACKINGS:
            break
        placement[order[done]], filling.need, slack = filled, after, slack_after
        done += 1
    if done < others:
        return None
    found = _dive(problem, problem.classes[last], filling.need, len(order) - done, slack, draw, allowance)
    if found is None:
        return None
    placement[order[done:]] = found
    return placement


def _listed(
    problem: Problem,
    one: NodeClass,
    need: Counts,
    slack: Counts,
    nodes: int,
    draw: np.random.Generator,
    allowance: Allowance,
) -> Counts | None:
    share = 3 if nodes <= RELIST else 2
    window = np.minimum(slack, np.maximum(1, share * slack // nodes))
    most = ALL if nodes <= RELIST else SAMPLE
    tight = tight_patterns(problem, one, need.tolist(), window.tolist(), most, allowance, int(draw.integers(1 << 30)))
    return None if tight is None else tight.patterns


def _dive(
    problem: Problem,
    one: NodeClass,
    need: Counts,
    nodes: int,
    slack: Counts,
    draw: np.random.Generator,
    allowance: Allowance,
) -> Counts | None:
    chosen: list[Counts] = []
    capacity = np.array(one.capacity)
    patterns = _listed(problem, one, need, slack, nodes, draw, allowance)
    relisted = nodes <= RELIST
    while patterns is not None and len(patterns):
        if nodes <= COVER or not need.any():
            found, _ = exact_cover(patterns, need.tolist(), nodes, BUDGET, allowance)
            return None if found is None else np.array([*chosen, *(patterns[i] for i in found)], dtype=np.int64)
        use = _cover_lp(patterns, need, nodes, draw, allowance)
        if use is None:
            return None
        number = int(np.argmax(use + 0.3 * draw.random(len(use)) * (use > 1e-6)))
        chosen.append(patterns[number])
        need = need - patterns[number]
        slack = slack - (capacity - patterns[number] @ problem.sizes)
        nodes -= 1
        if nodes <= RELIST and not relisted:
            relisted = True
            patterns = _listed(problem, one, need, slack, nodes, draw, allowance)
        else:
            keep = (patterns <= need).all(axis=1)
            keep &= ((capacity - patterns @ problem.sizes) <= slack).all(axis=1)
            patterns = patterns[keep]
    return None


def _cover_lp(
    patterns: Counts, need: Counts, nodes: int, draw: np.random.Generator, allowance: Allowance
) -> NDArray[np.float64] | None:
    """Use of each pattern in a fractional exact cover, columns generated; None if there is none."""
    solver = pywraplp.Solver.CreateSolver("GLOP")
    objective = solver.Objective()
    objective.SetMinimization()
    rows = np.flatnonzero(need)
    equal = {}
    for row in rows.tolist():
        constraint = solver.Constraint(float(need[row]), float(need[row]))
        for sign in (1.0, -1.0):
            gap = solver.NumVar(0.0, solver.infinity(), "")
            constraint.SetCoefficient(gap, sign)
            objective.SetCoefficient(gap, 1.0)
        equal[row] = constraint
    count = solver.Constraint(float(nodes), float(nodes))
    spare = solver.NumVar(0.0, solver.infinity(), "")
    count.SetCoefficient(spare, 1.0)
    objective.SetCoefficient(spare, 5.0)
    columns: dict[int, Any] = {}

    def add(number: int) -> None:
        variable = solver.NumVar(0.0, solver.infinity(), "")
        count.SetCoefficient(variable, 1.0)
        for row in np.flatnonzero(patterns[number]):
            equal[int(row)].SetCoefficient(variable, float(patterns[number, row]))
        columns[number] = variable

    for number in draw.permutation(len(patterns))[: 4 * nodes]:
        add(int(number))
    for _ in range(60):
        if not solved(solver, allowance):
            return None
        if objective.Value() < 1e-6:
            break
        prices = np.zeros(patterns.shape[1])
        for row, constraint in equal.items():
            prices[row] = constraint.dual_value()
        allowance.over(patterns.size)
        gain = patterns @ prices + count.dual_value()
        fresh = [int(n) for n in np.argsort(-gain, kind="stable")[:40] if gain[n] > 1e-7 and int(n) not in columns]
        if not fresh:
            return None
        for number in fresh:
            add(number)
    if objective.Value() > 1e-6:
        return None
    use = np.zeros(len(patterns))
    for number, variable in columns.items():
        use[number] = variable.solution_value()
    return use
