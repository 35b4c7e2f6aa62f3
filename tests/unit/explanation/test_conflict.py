"""Minimal conflicts of requirements that are plain numbers."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cpsched.explanation.conflict import minimal_conflict


def test_first_items_are_preferred():
    assert minimal_conflict(["a", "b", "c"], lambda kept: "a" in kept or "c" in kept) == ["a"]


def test_no_conflict_at_all():
    assert minimal_conflict([1, 2], lambda kept: False) is None


@pytest.mark.parametrize("items", [[], [1, 2]])
def test_conflict_without_any_item(items: list[int]):
    assert minimal_conflict(items, lambda kept: True) == []


@given(st.lists(st.frozensets(st.integers(0, 7), min_size=1, max_size=3), min_size=1, max_size=4))
def test_found_sets_suffice_and_have_nothing_spare(cores: list[frozenset[int]]):
    def too_much(kept: Sequence[int]) -> bool:
        return any(core <= set(kept) for core in cores)

    found = minimal_conflict(range(8), too_much)
    assert found is not None
    assert too_much(found)
    assert not any(too_much([one for one in found if one != spared]) for spared in found)
