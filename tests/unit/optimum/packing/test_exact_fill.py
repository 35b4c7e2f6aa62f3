"""Exact fill: what it puts on a node fills it; the guess of how many packings there are follows their number."""

from __future__ import annotations

import itertools

import numpy as np

from cpsched.optimum.packing.exact_fill import ExactFill, log_packings
from cpsched.optimum.packing.perfect_fill import perfect_fill
from cpsched.optimum.packing.problem import NodeClass, Problem, RequestRow, is_feasible
from tests.unit.optimum.packing.allowances import unlimited
from tests.unit.optimum.packing.test_allowance import tight


def test_a_node_is_filled_to_the_last_unit() -> None:
    problem = tight(nodes=16)
    filling = ExactFill(problem, problem.demand, np.random.default_rng(1), unlimited())
    for node in range(4):
        filled = filling.fill(node, np.zeros(2, dtype=np.int64))
        assert filled is not None
        assert (filled <= filling.need).all()
        assert (filled @ problem.sizes == problem.capacities[node]).all()
        filling.need = filling.need - filled


def test_one_unit_is_left_only_where_there_is_slack() -> None:
    """Four items of an even size and a capacity that is odd."""
    problem = Problem((RequestRow((2,), 0, 8),), (NodeClass((9,), 2, (4,)),))
    filling = ExactFill(problem, problem.demand, np.random.default_rng(1), unlimited())
    assert filling.fill(0, np.array([0])) is None
    filled = filling.fill(0, np.array([1]))
    assert filled is not None
    assert filled.tolist() == [4]


def test_what_a_node_may_hold_is_kept() -> None:
    problem = Problem((RequestRow((1,), 0, 9), RequestRow((2,), 0, 9)), (NodeClass((8,), 1, (3, 9)),))
    for seed in range(20):
        filled = ExactFill(problem, problem.demand, np.random.default_rng(seed), unlimited()).fill(0, np.array([0]))
        assert filled is None or filled[0] <= 3


def test_perfect_fill_places_everything() -> None:
    problem = tight(nodes=6, slack=30)
    found = next(
        f for seed in range(9) if (f := perfect_fill(problem, problem.demand.tolist(), seed, unlimited())) is not None
    )
    assert is_feasible(problem, found)
    assert found.sum() == problem.demand.sum()


def test_the_guess_follows_the_number_of_packings() -> None:
    """Counted on two nodes: with more that may be left there are more packings, and the guess is near."""
    draw = np.random.default_rng(3)
    sizes = draw.integers(10, 30, size=12)
    problem = Problem(
        tuple(RequestRow((int(s),), 0, 1) for s in sizes), (NodeClass((int(sizes.sum()),), 2, (1,) * 12),)
    )
    for left in (1, 9, 25):
        capacity = -(-int(sizes.sum()) // 2) + left
        slack = 2 * capacity - int(sizes.sum())
        halves = [sum(some) for k in range(13) for some in itertools.combinations(sizes.tolist(), k)]
        ways = sum(int(sizes.sum()) - capacity <= one <= capacity for one in halves) / 2
        guess = log_packings(problem, problem.demand, 2, np.array([slack]))
        assert abs(guess - np.log(ways)) < 1
