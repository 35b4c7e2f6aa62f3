"""Python's garbage collector, held back where it would walk millions of objects that all stay."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

ALLOCATIONS = 100_000
"""How many objects a run makes before garbage is looked for."""

MANY_OBJECTS = ALLOCATIONS
"""So many new ones are not looked through when the collector is back, as they would be at once; fewer are in time, or
cycles among them would pile up."""


@contextmanager
def few_collections() -> Iterator[None]:
    """Look for garbage seldom: a run makes little of it, and each search walks all objects of a large instance."""
    before = gc.get_threshold()
    gc.set_threshold(max(ALLOCATIONS, before[0]) if before[0] else 0, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def without_collector() -> Iterator[None]:
    """No search for garbage, neither now nor afterwards in what was made, if that is much."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            if gc.get_count()[0] > MANY_OBJECTS and not gc.get_freeze_count():
                # Both together, and nothing between them, move everything to the oldest generation.
                gc.freeze()
                gc.unfreeze()
            gc.enable()
