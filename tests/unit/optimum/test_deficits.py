"""The whole numbers a queue's deficit is written in."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import pytest

from cpsched.optimum.deficits import Fall, _rounded_down, _scaled, _short


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


def test_what_no_small_numbers_state_is_mended_gain_by_gain() -> None:
    base, slope, steps = Fraction(10**6) + Fraction(1, 10**14), Fraction(10**6, 1618), 1618
    fall = Fall(base, slope, steps)
    a, b, c = _rounded_down(fall)
    missed = _short(fall, (a, b, c))
    assert missed
    for k in range(steps + 1):
        assert -((b * k - a) // c) + (k in missed) == ceil(base - slope * k)
