"""How far a queue is from its due, in whole numbers that a solver can state exactly."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import ceil, floor, lcm
from typing import NamedTuple

from ortools.sat.python import cp_model

from cpsched.objectives import MILLIONTHS
from cpsched.optimum.model.constraints.queue import change, change_bounds
from cpsched.optimum.model.variables import Variables

FEW_GAINS = 20_000
"""Up to so many values of a queue's gain, small whole numbers that state its deficit are looked for."""

LARGEST_SCALE = 2**40
"""A deficit of a million parts times this still fits the solver's numbers."""

COARSE_SCALE = 2**21
"""The scale for a deficit of few values that no small numbers state exactly; exceptions are stated one by one."""


Scaled = tuple[int, int, int]
"""(a, b, c) for ⌈(a − b·k) / c⌉."""


class LinearDeficit(NamedTuple):
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
    gains: tuple[tuple[cp_model.IntVar, LinearDeficit], ...]


def deficits_of(v: Variables) -> list[Deficit]:
    """Of every queue with a job; made once per model."""
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
        fall = LinearDeficit(MILLIONTHS * (base - slope * least), MILLIONTHS * slope, enough - least)
        gains.append((above_least, fall))
        (a, b, c), short = _stated(fall)
        v.cp.add(deficit * c + above_least * b >= a)
        for k in short:
            at_most = v.flag(f"{queue} gains at most {k} in {resource}")
            v.cp.add(above_least >= k + 1).only_enforce_if(~at_most)
            v.cp.add(deficit >= fall.after(k)).only_enforce_if(at_most)
    return Deficit(deficit, tuple(gains))


@lru_cache(maxsize=256)
def _stated(fall: LinearDeficit) -> tuple[Scaled, tuple[int, ...]]:
    """Whole numbers for the deficit, never above it, and the gains after which they stay below it."""
    whole = _whole(fall)
    if fall.steps <= FEW_GAINS:
        if (small := _scaled(*fall)) is not None:
            return small, ()
        rough = _rounded_down(fall, COARSE_SCALE)
    elif whole[2] <= LARGEST_SCALE:
        return whole, ()
    else:
        rough = _rounded_down(fall, LARGEST_SCALE)
    return rough, tuple(_exceptions(fall, rough))


def _whole(fall: LinearDeficit) -> Scaled:
    """As they are; large where the share is no whole number."""
    common = lcm(fall.base.denominator, fall.slope.denominator)
    return int(fall.base * common), int(fall.slope * common), common


def _scaled(base: Fraction, slope: Fraction, steps: int) -> Scaled | None:
    """Integers (a, b, c) with ⌈base − slope·k⌉ = ⌈(a − b·k) / c⌉ for every k from 0 to `steps`, as small as they come.

    A value just above a whole number must not be rounded down to it, one just below or at it not up beyond it; which
    of the two is near depends on the share, so every rounding is tried.
    """
    whole, fall, common = _whole(LinearDeficit(base, slope, steps))
    wanted = [-((fall * k - whole) // common) for k in range(steps + 1)]
    for bits in range(0, 41, 4):
        scale = 2**bits
        for a, b in product((floor(base * scale), ceil(base * scale)), (ceil(slope * scale), floor(slope * scale))):
            if all(value == -((b * k - a) // scale) for k, value in enumerate(wanted)):
                return a, b, scale
    return None


def _rounded_down(fall: LinearDeficit, scale: int) -> Scaled:
    """As _scaled, but never above the value and sometimes one below it."""
    return floor(fall.base * scale), ceil(fall.slope * scale), scale


def _exceptions(fall: LinearDeficit, rough: Scaled) -> Iterator[int]:
    """The gains after which the rough numbers stay below the value."""
    (a, b, c), (whole, slope, common) = rough, _whole(fall)
    for k in range(fall.steps + 1) if fall.steps <= MILLIONTHS else _last_above(fall):
        if -((b * k - a) // c) < -((slope * k - whole) // common):
            yield k


def _last_above(fall: LinearDeficit) -> Iterator[int]:
    """Per whole number the last gain after which the deficit is above it: where it falls slowly, only these can err."""
    whole, slope, common = _whole(fall)
    for number in range(fall.after(fall.steps) - 1, fall.after(0)):
        if (k := -((number * common - whole) // slope) - 1) in range(fall.steps + 1):
            yield k
