"""Every enumeration beside plain enumeration: a pattern that is missed would make a false proof."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest

from cpsched.optimum.packing.exact_cover import exact_cover
from cpsched.optimum.packing.patterns import maximal_patterns
from cpsched.optimum.packing.problem import NodeClass, Problem, RequestRow
from cpsched.optimum.packing.subset_sums import largest_sum
from cpsched.optimum.packing.tight import tight_patterns
from tests.unit.optimum.packing.allowances import unlimited

Pattern = tuple[int, ...]


def problems(seed: int, count: int) -> Iterator[tuple[Problem, np.random.Generator]]:
    draw = np.random.default_rng(seed)
    for _ in range(count):
        resources, number = int(draw.integers(1, 4)), int(draw.integers(1, 6))
        capacity = tuple(int(x) for x in draw.integers(0, 17, size=resources))
        sizes = [tuple(int(x) for x in draw.integers(0, 7, size=resources)) for _ in range(number)]
        rows = tuple(RequestRow(size, 0, int(draw.integers(0, 4))) for size in sizes)
        most = tuple(
            min([row.demand, int(draw.integers(0, 4)), *(c // s for c, s in zip(capacity, row.size, strict=True) if s)])
            for row in rows
        )
        yield Problem(rows, (NodeClass(capacity, 2, most),)), draw


def left(problem: Problem, pattern: Pattern) -> Pattern:
    one = problem.classes[0]
    return tuple(
        have - sum(count * row.size[d] for count, row in zip(pattern, problem.rows, strict=True))
        for d, have in enumerate(one.capacity)
    )


def plain(problem: Problem) -> set[Pattern]:
    choices = itertools.product(*[range(most + 1) for most in problem.classes[0].most])
    return {pattern for pattern in choices if min(left(problem, pattern)) >= 0}


@pytest.mark.parametrize("seed", range(4))
def test_tight_patterns(seed: int) -> None:
    for problem, draw in problems(seed, 100):
        waste = tuple(int(x) for x in draw.integers(0, 6, size=len(problem.classes[0].capacity)))
        demand = [row.demand for row in problem.rows]
        found = tight_patterns(problem, problem.classes[0], demand, waste, 10**6, unlimited())
        assert found is not None
        assert found.complete
        wanted = {p for p in plain(problem) if all(a <= b for a, b in zip(left(problem, p), waste, strict=True))}
        assert sorted(map(tuple, found.patterns.tolist())) == sorted(wanted)


def test_a_sample_of_tight_patterns_says_so() -> None:
    problem = Problem(tuple(RequestRow((1, 1), 0, 1) for _ in range(8)), (NodeClass((8, 8), 1, (1,) * 8),))
    found = tight_patterns(problem, problem.classes[0], [1] * 8, (8, 8), 5, unlimited())
    assert found is not None
    assert (len(found.patterns), found.complete) == (5, False)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("most", [10**6, 3])
def test_maximal_patterns(seed: int, most: int) -> None:
    """Also where partial patterns that cannot become maximal are dropped on the way."""
    for problem, _ in problems(seed, 100):
        found = maximal_patterns(problem, problem.classes[0], unlimited(), most)
        if found is None:
            assert most == 3
            continue
        all_of_them, one = plain(problem), problem.classes[0]
        wanted = {
            pattern
            for pattern in all_of_them
            if not any(
                pattern[i] < min(one.most[i], row.demand)
                and tuple(count + (j == i) for j, count in enumerate(pattern)) in all_of_them
                for i, row in enumerate(problem.rows)
            )
        }
        assert sorted(map(tuple, found.tolist())) == sorted(wanted)


@pytest.mark.parametrize("seed", range(4))
def test_largest_sums(seed: int) -> None:
    for problem, _ in problems(seed, 100):
        one = problem.classes[0]
        for d, capacity in enumerate(one.capacity):
            sizes = [(row.size[d], most) for row, most in zip(problem.rows, one.most, strict=True) if row.size[d]]
            sums = {
                sum(size * count for (size, _), count in zip(sizes, counts, strict=True))
                for counts in itertools.product(*[range(most + 1) for _, most in sizes])
            }
            assert largest_sum(sizes, capacity) == max(s for s in sums if s <= capacity)


@pytest.mark.parametrize("seed", range(4))
def test_exact_cover(seed: int) -> None:
    for problem, draw in problems(seed, 100):
        patterns = np.array(sorted(plain(problem)), dtype=np.int64).reshape(-1, len(problem.rows))[:60]
        nodes = int(draw.integers(1, 4))
        need = [min(row.demand, int(draw.integers(0, 4))) for row in problem.rows]
        found, is_exhaustive = exact_cover(patterns, need, nodes, 10**6, unlimited())
        assert is_exhaustive
        choices = itertools.combinations_with_replacement(range(len(patterns)), nodes)
        assert (found is not None) == any((patterns[list(c)].sum(axis=0) == need).all() for c in choices)
        if found is not None:
            assert len(found) == nodes
            assert (patterns[found].sum(axis=0) == need).all()


def test_a_budget_that_runs_out_is_no_proof() -> None:
    patterns = np.eye(6, dtype=np.int64)
    assert exact_cover(patterns, [2, 2, 2, 2, 2, 1], 12, 5, unlimited()) == (None, False)
