"""Perfect fill: hardly any capacity may be left. Tight patterns, a dive on their LP, exact cover of the last nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ortools.linear_solver import pywraplp

from cpsched.optimum.packing.exact_cover import exact_cover
from cpsched.optimum.packing.problem import Counts, NodeClass, Problem
from cpsched.optimum.packing.tight import tight_patterns

HALF, RELIST, COVER = 20, 10, 7
"""Beyond HALF nodes the items are split; at RELIST nodes left patterns are listed again; COVER nodes are covered."""
DIVES = 3
"""Dives for each half; one in two or three succeeds."""
SAMPLE, ALL, BUDGET = 30_000, 50_000, 20_000
Need = Counts
Stop = Callable[[], bool]


def perfect_fill(problem: Problem, totals: Sequence[int], seed: int, stop: Stop) -> Counts | None:
    """A placement of all totals on nodes of one class, or None if this run does not end in one."""
    if len(problem.classes) != 1:
        return None
    draw = np.random.default_rng(seed)
    found = _fill(problem, np.asarray(totals, dtype=np.int64), problem.classes[0].count, draw, stop)
    if found is None:
        return None
    placement = np.zeros((len(problem.nodes), len(problem.rows)), dtype=np.int64)
    placement[: len(found)] = found
    return placement


def _fill(problem: Problem, need: Need, nodes: int, draw: np.random.Generator, stop: Stop) -> Counts | None:
    capacity = np.array(problem.classes[0].capacity, dtype=np.int64)
    slack = nodes * capacity - need @ problem.sizes
    if (slack < 0).any():
        return None
    if nodes > HALF:
        half = _half(problem, need, nodes, capacity, slack, draw)
        if half is None:
            return None
        parts = []
        for part, count in ((half, (nodes + 1) // 2), (need - half, nodes // 2)):
            found = next((f for _ in range(DIVES) if (f := _fill(problem, part, count, draw, stop)) is not None), None)
            if found is None:
                return None
            parts.append(found)
        return np.concatenate(parts)
    return _dive(problem, need, nodes, slack, draw, stop)


def _half(
    problem: Problem, need: Need, nodes: int, capacity: Counts, slack: Counts, draw: np.random.Generator
) -> Need | None:
    """Random halves, then the best swap over all pairs until each half has between a quarter and three of the slack."""
    first = (nodes + 1) // 2
    items = np.repeat(np.arange(len(need)), need)
    draw.shuffle(items)
    target = first * capacity - slack * first / nodes
    chosen, others = items[: round(len(items) * first / nodes)], items[round(len(items) * first / nodes) :]
    for _ in range(400):
        rest = first * capacity - problem.sizes[chosen].sum(axis=0)
        if (rest >= slack / 4).all() and (rest <= slack - slack / 4).all():
            return np.bincount(chosen, minlength=len(need))
        gap = target - problem.sizes[chosen].sum(axis=0)
        change = problem.sizes[others][None, :, :] - problem.sizes[chosen][:, None, :]
        error = np.abs((gap - change) / capacity).sum(axis=2) if slack.max() else np.abs(gap - change).sum(axis=2)
        at = np.unravel_index(int(np.argmin(error)), error.shape)
        if error[at] >= np.abs(gap / capacity).sum() - 1e-15:
            two = draw.integers(len(chosen)), draw.integers(len(others))
            at = two
        chosen[at[0]], others[at[1]] = others[at[1]], chosen[at[0]]
    return None


def _listed(problem: Problem, need: Need, slack: Need, nodes: int, draw: np.random.Generator) -> Counts | None:
    share = 3 if nodes <= RELIST else 2
    window = np.minimum(slack, np.maximum(1, share * slack // nodes))
    one: NodeClass = problem.classes[0]
    most = ALL if nodes <= RELIST else SAMPLE
    tight = tight_patterns(problem, one, need.tolist(), window.tolist(), most, int(draw.integers(1 << 30)))
    return None if tight is None else tight.patterns


def _dive(
    problem: Problem, need: Need, nodes: int, slack: Counts, draw: np.random.Generator, stop: Stop
) -> Counts | None:
    chosen: list[Counts] = []
    patterns = _listed(problem, need, slack, nodes, draw)
    relisted = nodes <= RELIST
    while patterns is not None and len(patterns):
        if stop():
            return None
        if nodes <= COVER or not need.any():
            found, _ = exact_cover(patterns, need.tolist(), nodes, BUDGET)
            return None if found is None else np.array([*chosen, *(patterns[i] for i in found)], dtype=np.int64)
        use = _cover_lp(patterns, need, nodes, draw)
        if use is None:
            return None
        number = int(np.argmax(use + 0.3 * draw.random(len(use)) * (use > 1e-6)))
        chosen.append(patterns[number])
        need = need - patterns[number]
        slack = slack - (np.array(problem.classes[0].capacity) - patterns[number] @ problem.sizes)
        nodes -= 1
        if nodes <= RELIST and not relisted:
            relisted = True
            patterns = _listed(problem, need, slack, nodes, draw)
        else:
            keep = (patterns <= need).all(axis=1)
            keep &= ((np.array(problem.classes[0].capacity) - patterns @ problem.sizes) <= slack).all(axis=1)
            patterns = patterns[keep]
    return None


def _cover_lp(patterns: Counts, need: Need, nodes: int, draw: np.random.Generator) -> NDArray[np.float64] | None:
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
        if solver.Solve() != pywraplp.Solver.OPTIMAL:
            return None
        if objective.Value() < 1e-6:
            break
        prices = np.zeros(patterns.shape[1])
        for row, constraint in equal.items():
            prices[row] = constraint.dual_value()
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
