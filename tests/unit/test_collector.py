"""Cycles of small sessions are found; what is large is left alone; the collector is as it was afterwards."""

from __future__ import annotations

import gc
import weakref

import pytest

from cpsched.collector import MANY_OBJECTS, without_collector


class Loop:
    """Refers to itself, so that only the collector can end it."""

    def __init__(self) -> None:
        self.me = self


@pytest.mark.parametrize(("count", "found"), [(10, True), (MANY_OBJECTS + 10_000, False)])
def test_only_much_is_moved_out_of_sight(count: int, found: bool) -> None:
    gc.collect()
    with without_collector():
        many = [[] for _ in range(count)]
        last = weakref.ref(Loop())
        assert not gc.isenabled()
    assert gc.isenabled()
    gc.collect(1)
    assert (last() is None) is found
    assert len(many) == count
    gc.collect()
    assert last() is None


def test_a_collector_that_is_off_stays_off() -> None:
    gc.disable()
    try:
        with without_collector():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
