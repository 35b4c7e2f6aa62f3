"""Draws: the same as ever, on every Python."""

from __future__ import annotations

from random import Random

import pytest

from cpsched.lab.draw import Draw


def test_the_numbers_are_pinned() -> None:
    """Written down once: a Python that draws otherwise would make other instances of the same recipes."""
    draw = Draw(2026)
    assert [draw.below(1000) for _ in range(8)] == [121, 327, 514, 974, 524, 662, 880, 975]
    assert [draw.between(-3, 3) for _ in range(8)] == [-3, -2, 1, 1, 1, 0, 3, 1]
    assert [draw.chance(30) for _ in range(8)] == [False, False, False, False, False, True, False, True]
    assert draw.sample(range(1000), 4) == [836, 100, 460, 11]
    items = list(range(6))
    draw.shuffle(items)
    assert items == [4, 1, 0, 2, 3, 5]


@pytest.mark.parametrize(("many", "few"), [(1, 1), (20, 5), (21, 5), (22, 5), (85, 12), (86, 12), (5000, 60), (30, 30)])
def test_samples_are_pythons_own_of_today(many: int, few: int) -> None:
    for seed in range(5):
        ours, theirs = Draw(seed), Random(seed)
        assert ours.sample(range(many), few) == theirs.sample(range(many), few)
        mixed, other = list(range(many)), list(range(many))
        ours.shuffle(mixed)
        theirs.shuffle(other)
        assert mixed == other
        assert ours.choice(range(many)) == theirs.choice(range(many))
        assert ours.chance(60) == (theirs.random() < 0.6)


def test_every_number_comes() -> None:
    draw = Draw(1)
    assert {draw.below(5) for _ in range(200)} == set(range(5))
    assert {draw.between(3, 4) for _ in range(50)} == {3, 4}
    assert not any(draw.chance(0) for _ in range(50))
    assert all(draw.chance(100) for _ in range(50))
