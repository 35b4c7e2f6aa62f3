"""How far a queue is from its due, in whole numbers that a solver can state exactly."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import ceil, floor, lcm
from typing import NamedTuple

from ortools.sat.python import cp_model

from cpsched.objectives import MILLIONTHS
from cpsched.optimum.constraints.queues import change, change_bounds
from cpsched.optimum.variables import Variables

PROBES = 20_000
"""How many values of a queue's gain the integer form of its deficit is tried on; beyond that, evenly spread ones."""

ROUGH = 2**21
"""The scale at which a deficit that no small whole numbers state exactly is stated roughly, and mended by hand."""


class Fall(NamedTuple):
    """A deficit in one resource: ⌈base − slope·k⌉ after a gain of k units, up to the last one that is of use."""

    base: Fraction
    slope: Fraction
    steps: int

    def after(self, gain: int) -> int:
        """The deficit after a gain."""
        return ceil(self.base - self.slope * gain)

    def without(self, loss: int) -> int:
        """The same after a loss, which is a negative gain."""
        return self.after(-loss)


class Deficit(NamedTuple):
    """A variable that is at least the queue's deficit, and as low once minimised; and per resource what it gains."""

    variable: cp_model.IntVar
    gains: tuple[tuple[cp_model.IntVar, Fall], ...]


def deficits_of(v: Variables) -> list[Deficit]:
    """Of every queue with a job; made once per Program."""
    if v.deficits is None:
        v.deficits = [
            _deficit(v, name)
            for name, share in v.snapshot.shares.items()
            if share.is_leaf and any(job.queue == name for job in v.snapshot.jobs.values())
        ]
    return v.deficits


def _deficit(v: Variables, queue: str) -> Deficit:
    share = v.snapshot.shares[queue]
    gains = []
    deficit = v.cp.new_int_var(0, MILLIONTHS, f"deficit of {queue}")
    for resource, request in sorted(share.request.items()):
        want = Fraction(min(share.deserved.get(resource, 0), request))
        if resource == "pods" or want <= 0:
            continue
        least, most = change_bounds(v, queue, resource)
        base = 1 - Fraction(share.allocated.get(resource, 0)) / want
        slope = Fraction(v.classes.unit.get(resource, 1)) / want
        enough = min(most, max(least, ceil(base / slope)))
        above_least = v.cp.new_int_var(0, enough - least, f"useful gain of {queue} in {resource}")
        v.cp.add(above_least + least <= change(v, queue, resource))
        fall = Fall(MILLIONTHS * (base - slope * least), MILLIONTHS * slope, enough - least)
        gains.append((above_least, fall))
        a, b, c = _scaled(*fall) or _rounded_down(fall)
        v.cp.add(deficit * c + above_least * b >= a)
        for k in _short(fall, (a, b, c)):
            at_most = v.flag(f"{queue} gains at most {k} in {resource}")
            v.cp.add(above_least >= k + 1).only_enforce_if(~at_most)
            v.cp.add(deficit >= fall.after(k)).only_enforce_if(at_most)
    return Deficit(deficit, tuple(gains))


@lru_cache(maxsize=256)
def _scaled(base: Fraction, slope: Fraction, steps: int) -> tuple[int, int, int] | None:
    """Integers (a, b, c) with ⌈base − slope·k⌉ = ⌈(a − b·k) / c⌉ for every k from 0 to `steps`, as small as they come.

    A value just above a whole number must not be rounded down to it, one just below or at it not up beyond it; which
    of the two is near depends on the share, so every rounding is tried.
    """
    probes = (*range(0, steps, max(1, steps // PROBES)), steps)
    common = lcm(base.denominator, slope.denominator)
    whole, fall = int(base * common), int(slope * common)
    wanted = [-((fall * k - whole) // common) for k in probes]
    for bits in range(0, 41, 4):
        scale = 2**bits
        for a, b in product((floor(base * scale), ceil(base * scale)), (ceil(slope * scale), floor(slope * scale))):
            if all(value == -((b * k - a) // scale) for k, value in zip(probes, wanted, strict=True)):
                return a, b, scale
    return None


def _rounded_down(fall: Fall) -> tuple[int, int, int]:
    """As _scaled, but never above the value and sometimes one below it."""
    return floor(fall.base * ROUGH), ceil(fall.slope * ROUGH), ROUGH


def _short(fall: Fall, scaled: tuple[int, int, int]) -> list[int]:
    """The gains at which the whole numbers stay below the value; none where they were found to be exact."""
    a, b, c = scaled
    return [k for k in range(fall.steps + 1) if -((b * k - a) // c) < fall.after(k)] if c == ROUGH else []
