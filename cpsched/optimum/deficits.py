"""How far a queue is from its due, in whole numbers that a solver can state exactly."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import ceil, floor, lcm

from ortools.sat.python import cp_model

from cpsched.objectives import MILLIONTHS
from cpsched.optimum.constraints.queues import change, change_bounds
from cpsched.optimum.variables import Variables

PROBES = 20_000
"""How many values of a queue's gain the integer form of its deficit is tried on; beyond that, evenly spread ones."""

ROUGH = 2**21
"""The scale at which a deficit that no small whole numbers state exactly is stated roughly, and mended by hand."""


def deficits_of(v: Variables) -> list[cp_model.IntVar]:
    """Per queue with a job an upper bound of its deficit that is tight once minimised; made once per Program."""
    if v.deficits is None:
        v.deficits = [
            _deficit(v, name)
            for name, share in v.snapshot.shares.items()
            if share.is_leaf and any(job.queue == name for job in v.snapshot.jobs.values())
        ]
    return v.deficits


def _deficit(v: Variables, queue: str) -> cp_model.IntVar:
    share = v.snapshot.shares[queue]
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
        base, slope = MILLIONTHS * (base - slope * least), MILLIONTHS * slope
        a, b, c = _scaled(base, slope, enough - least) or _rounded_down(base, slope)
        v.cp.add(deficit * c + above_least * b >= a)
        for k in _short(base, slope, enough - least, (a, b, c)):
            at_most = v.flag(f"{queue} gains at most {k} in {resource}")
            v.cp.add(above_least >= k + 1).only_enforce_if(~at_most)
            v.cp.add(deficit >= ceil(base - slope * k)).only_enforce_if(at_most)
    return deficit


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


def _rounded_down(base: Fraction, slope: Fraction) -> tuple[int, int, int]:
    """As _scaled, but never above the value and sometimes one below it."""
    return floor(base * ROUGH), ceil(slope * ROUGH), ROUGH


def _short(base: Fraction, slope: Fraction, steps: int, scaled: tuple[int, int, int]) -> list[int]:
    """The gains at which the whole numbers stay below the value; none where they were found to be exact."""
    a, b, c = scaled
    return [k for k in range(steps + 1) if -((b * k - a) // c) < ceil(base - slope * k)] if c == ROUGH else []
