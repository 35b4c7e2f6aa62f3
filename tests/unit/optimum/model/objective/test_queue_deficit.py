"""The whole numbers a queue's deficit is written in."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import pytest

from cpsched.optimum.model.objective.queue_deficit import (
    COARSE_SCALE,
    LARGEST_SCALE,
    LinearDeficit,
    _exceptions,
    _rounded_down,
    _scaled,
    _stated,
)


@pytest.mark.parametrize(
    ("base", "slope", "steps"),
    [
        (Fraction(10**6), Fraction(10**6, 3), 3),  # at a whole number
        (Fraction(10**6), Fraction(2199023255552000000, 3558019627483137), 1619),  # 10^-10 above one at 809
        (Fraction(10**6), Fraction(10**6, 1618) + Fraction(1, 10**13), 1618),  # as little below one
        (Fraction(10**6) + Fraction(1, 10**12), Fraction(10**6, 7), 7),
        (Fraction(57_344_000_000, 116_533), Fraction(500_000, 116_533), 114_688),  # nothing is missing at the very end
    ],
)
def test_whole_numbers_round_as_the_share_does(base: Fraction, slope: Fraction, steps: int) -> None:
    scaled = _scaled(base, slope, steps)
    assert scaled is not None
    a, b, c = scaled
    assert [-((b * k - a) // c) for k in range(steps + 1)] == [ceil(base - slope * k) for k in range(steps + 1)]
    assert max(abs(a), abs(b) * steps) < 2**62


def test_what_no_small_numbers_state_has_exceptions_gain_by_gain() -> None:
    base, slope, steps = Fraction(10**6) + Fraction(1, 10**14), Fraction(10**6, 1618), 1618
    fall = LinearDeficit(base, slope, steps)
    a, b, c = _rounded_down(fall, COARSE_SCALE)
    missed = set(_exceptions(fall, (a, b, c)))
    assert missed
    for k in range(steps + 1):
        assert -((b * k - a) // c) + (k in missed) == ceil(base - slope * k)


THIRDS = Fraction(float(4_000_001 / 3))
"""A share that is no whole number, as floats have it: no small number is a multiple of it."""


@pytest.mark.parametrize(
    ("want", "steps", "has_exceptions"),
    [
        (Fraction(10_821_534), 10_821_534, False),
        (THIRDS, 1_333_334, True),
        (THIRDS / 2, 666_667, True),
    ],
)
def test_many_values_are_stated_exactly_too(want: Fraction, steps: int, has_exceptions: bool) -> None:
    fall = LinearDeficit(Fraction(10**6), 10**6 / want, steps)
    (a, b, c), short = _stated(fall)
    assert (c == LARGEST_SCALE) == has_exceptions
    assert a + b * steps < 2**62
    missed = set(short)
    assert len(missed) < 1000
    near = {k + d for k in missed for d in (-1, 0, 1)}
    for k in sorted({*range(0, steps, 997), *range(steps - 500, steps + 1), *near} & set(range(steps + 1))):
        assert -((b * k - a) // c) + (k in missed) == fall.after(k), k
