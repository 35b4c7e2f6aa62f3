"""The packing search beside a plain model: what it proves is the optimum, and what it bounds is a bound."""

from __future__ import annotations

import numpy as np
import pytest
from ortools.sat.python import cp_model

from cpsched.optimum.packing.problem import NodeClass, Problem, RequestRow, is_feasible
from cpsched.optimum.packing.search import Packing
from tests.unit.optimum.packing.allowances import unlimited, worked


def drawn(draw: np.random.Generator) -> Problem:
    resources, tiers = int(draw.integers(1, 4)), int(draw.integers(1, 4))
    least = 0 if draw.random() < 0.3 else 1
    rows = []
    for number in range(int(draw.integers(tiers, 8))):
        size = tuple(int(x) for x in draw.integers(least, 9, size=resources))
        rows.append(RequestRow(size, min(number, tiers - 1), int(draw.integers(1, 4))))
    classes = []
    for _ in range(int(draw.integers(1, 4))):
        capacity = tuple(int(x) for x in draw.integers(5, 22, size=resources))
        fits = [min([r.demand, *(c // s for c, s in zip(capacity, r.size, strict=True) if s)]) for r in rows]
        most = tuple(0 if draw.random() < 0.1 else fit for fit in fits)
        classes.append(NodeClass(capacity, int(draw.integers(1, 4)), most))
    return Problem(tuple(rows), tuple(classes))


def plain_values(problem: Problem) -> list[int]:
    """A variable per node and row, tier after tier."""
    model, rows = cp_model.CpModel(), range(len(problem.rows))
    nodes = [problem.classes[kind] for kind in problem.nodes]
    x = {(n, i): model.new_int_var(0, one.most[i], "") for n, one in enumerate(nodes) for i in rows}
    for n, one in enumerate(nodes):
        for d, capacity in enumerate(one.capacity):
            model.add(sum(problem.rows[i].size[d] * x[n, i] for i in rows) <= capacity)
    for i in rows:
        model.add(sum(x[n, i] for n in range(len(nodes))) <= problem.rows[i].demand)
    values = []
    for tier in range(problem.tiers):
        total = sum(x[n, i] for n in range(len(nodes)) for i in rows if problem.rows[i].tier == tier)
        model.maximize(total)
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        assert solver.solve(model) == cp_model.OPTIMAL
        values.append(int(solver.objective_value))
        model.add(total == values[-1])
    return values


@pytest.mark.parametrize("seed", range(40))
def test_what_is_proved_is_the_optimum(seed: int) -> None:
    problem = drawn(np.random.default_rng(seed))
    search = Packing(problem, worked(0.5))
    result = search.run()
    assert is_feasible(problem, result.placement)
    assert problem.values(result.placement) == search.values
    wanted = plain_values(problem)
    assert list(search.values[: result.closed]) == wanted[: result.closed]
    if result.closed < problem.tiers:
        assert result.bounds[result.closed] >= wanted[result.closed]


def test_nothing_fits_and_nothing_is_there() -> None:
    none = Problem((RequestRow((5,), 0, 2),), (NodeClass((4,), 3, (0,)),))
    assert Packing(none, unlimited()).run().closed == 1
    assert Packing(Problem((RequestRow((5,), 0, 2),), ()), unlimited()).run().bounds == [0]


@pytest.mark.parametrize(
    "placement", [[[1, 0], [1, 1]], [[3, 0], [0, 0]], [[0, 2], [0, 0]], [[-1, 0], [1, 0]]], ids=str
)
def test_what_the_checker_refuses(placement: list[list[int]]) -> None:
    """Too many of a row, too much on a node, more than a node may hold, less than nothing."""
    problem = Problem((RequestRow((2,), 0, 1), RequestRow((1,), 0, 2)), (NodeClass((4,), 2, (1, 1)),))
    assert not is_feasible(problem, np.array(placement))
    assert is_feasible(problem, np.array([[1, 1], [0, 1]]))


def with_goals(seed: int) -> Problem:
    """Worths per row, and some rows in two ways of which one takes nothing of the last resource."""
    draw = np.random.default_rng(seed)
    problem = drawn(draw)
    rows, classes, pairs = list(problem.rows), list(problem.classes), []
    for index in range(len(problem.rows)):
        if draw.random() < 0.4:
            pairs.append((index, len(rows)))
            rows.append(RequestRow((*rows[index].size[:-1], 0), rows[index].tier, rows[index].demand))
            classes = [NodeClass(one.capacity, one.count, (*one.most, one.most[index])) for one in classes]
    goals = tuple(tuple(int(x) for x in draw.integers(0, 4, size=len(rows))) for _ in range(int(draw.integers(1, 4))))
    return Problem(tuple(rows), tuple(classes), goals, tuple(pairs))


def plain_goals(problem: Problem) -> list[int]:
    model, rows = cp_model.CpModel(), range(len(problem.rows))
    nodes = [problem.classes[kind] for kind in problem.nodes]
    x = {(n, i): model.new_int_var(0, one.most[i], "") for n, one in enumerate(nodes) for i in rows}
    for n, one in enumerate(nodes):
        for d, capacity in enumerate(one.capacity):
            model.add(sum(problem.rows[i].size[d] * x[n, i] for i in rows) <= capacity)
    placed = [sum(x[n, i] for n in range(len(nodes))) for i in rows]
    ways = dict(problem.pairs)
    seconds = set(ways.values())
    for i in rows:
        if i not in seconds:
            model.add(placed[i] + (placed[ways[i]] if i in ways else 0) <= problem.rows[i].demand)
    values = []
    for goal in problem.goals:
        total = sum(worth * count for worth, count in zip(goal, placed, strict=True))
        model.maximize(total)
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        assert solver.solve(model) == cp_model.OPTIMAL
        values.append(int(solver.objective_value))
        model.add(total == values[-1])
    return values


@pytest.mark.parametrize("seed", range(40))
def test_goals_and_items_in_two_ways(seed: int) -> None:
    problem = with_goals(seed)
    wanted = plain_goals(problem)
    search = Packing(problem, worked(0.5))
    result = search.run()
    assert is_feasible(problem, result.placement)
    assert list(search.values[: result.closed]) == wanted[: result.closed]
    assert result.closed == problem.tiers or result.bounds[result.closed] >= wanted[result.closed]
    assert all(problem.most_of(goal) >= value for goal, value in enumerate(wanted))


@pytest.mark.parametrize("seed", range(40))
def test_known_values_are_reached_or_disproved(seed: int) -> None:
    problem = with_goals(seed)
    wanted = plain_goals(problem)
    found = Packing(problem, worked(0.5), known=wanted).run()
    assert not found.is_infeasible
    assert found.closed in (0, problem.tiers)
    wanted[-1] += 1
    found = Packing(problem, worked(0.5), known=wanted).run()
    assert found.closed == 0
