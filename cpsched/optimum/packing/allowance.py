"""Allowance: what a packing may still spend; every loop that can take long asks it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

ELEMENT = 2e-9
"""Seconds of work for one element of an array in one operation, where work is counted instead of time."""


class OutOfTimeError(Exception):
    """The allowance is spent; what was found so far counts."""


def _nothing(_: float) -> None:
    """Time passes by itself."""


@dataclass(frozen=True)
class Allowance:
    """A moment on a clock; the clock is wall time or, where runs are to be the same, the work that was counted."""

    until: float
    clock: Callable[[], float] = time.monotonic
    count: Callable[[float], None] = _nothing
    """Adds work to the clock, if it is one that counts work."""
    interrupted: Callable[[], bool] = bool
    is_wall_time: bool = True

    @property
    def left(self) -> float:
        """Seconds, or work, until the end."""
        return 0.0 if self.interrupted() else self.until - self.clock()

    def spend(self, work: float = 0.0) -> None:
        """Count the work that was done or is about to be done; OutOfTimeError if nothing is left."""
        self.count(work)
        if self.left <= 0:
            raise OutOfTimeError

    def over(self, elements: int, operations: int = 1) -> None:
        """Count operations on arrays."""
        self.spend(ELEMENT * elements * operations)
