"""A packing ends when its allowance is spent, wherever it is, with the best placement so far."""

from __future__ import annotations

import numpy as np
import pytest

from cpsched.optimum.packing.allowance import Allowance, OutOfTimeError
from cpsched.optimum.packing.problem import NodeClass, Problem, RequestRow, is_feasible
from cpsched.optimum.packing.search import Packing
from tests.unit.optimum.packing.allowances import unlimited, worked


def tight(nodes: int = 8, items: int = 8, slack: int = 0) -> Problem:
    """Different items that would have to fill every node to the last unit, or the last but some."""
    draw = np.random.default_rng(5)
    sizes = draw.integers(100, 1000, size=(nodes * items, 2))
    capacity = tuple(int(x) for x in slack - (-sizes.sum(axis=0) // nodes))
    rows = tuple(RequestRow((int(a), int(b)), 0, 1) for a, b in sizes)
    return Problem(rows, (NodeClass(capacity, nodes, (1,) * len(rows)),))


def test_it_ends_at_its_limit() -> None:
    allowance = worked(0.01)
    allowance.spend(0.004)
    with pytest.raises(OutOfTimeError):
        allowance.spend(0.007)
    unlimited().spend(1e9)
    with pytest.raises(OutOfTimeError):
        Allowance(float("inf"), interrupted=lambda: True).spend()


@pytest.mark.parametrize("work", [0.0, 0.001, 0.01, 0.1, 0.4])
def test_a_search_ends_within_its_work(work: float) -> None:
    """No step counts much more than what is left; what was found stays, and the bound holds."""
    problem, allowance = tight(), worked(work)
    search = Packing(problem, allowance)
    result = search.run()
    assert allowance.left > -0.1
    assert is_feasible(problem, result.placement)
    assert result.bounds[0] >= search.values[0]


def test_more_work_is_never_worse() -> None:
    values = []
    for work in (0.001, 0.01, 0.05, 0.2):
        search = Packing(tight(), worked(work))
        search.run()
        values.append(search.values)
    assert values == sorted(values)
