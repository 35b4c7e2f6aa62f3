"""Tight patterns: what a node can hold when almost nothing of two resources may be left. All of them, or a sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cpsched.optimum.packing.allowance import Allowance
from cpsched.optimum.packing.problem import Counts, NodeClass, Problem

MOST_CELLS = 1 << 26
"""Largest table (free amounts of two resources); one is a bit each, and there is a table per row: 8 MiB × rows."""
MOST_BITS = 1 << 31
"""Bits of all tables together."""
SHIFT = 5e-11
"""Seconds of work for one bit of a table that is shifted, masked and joined."""


@dataclass(frozen=True)
class Tight:
    """Patterns within a window of waste, and whether they are all there are."""

    patterns: Counts
    complete: bool


@dataclass(frozen=True)
class _Frame:
    """The rows in their order with the most copies of each, and the two resources that the tables are over."""

    problem: Problem
    one: NodeClass
    rows: tuple[int, ...]
    limit: dict[int, int]
    waste: tuple[int, ...]
    first: int
    second: int | None

    def of(self, amounts: Sequence[int]) -> tuple[int, int]:
        """The amounts of the two resources."""
        return int(amounts[self.first]), 0 if self.second is None else int(amounts[self.second])

    @property
    def stride(self) -> int:
        """Cells from one amount of the first resource to the next; a shift never carries into the next line."""
        sizes = self.problem.sizes
        return self.of(self.one.capacity)[1] + 1 + max((self.of(sizes[row])[1] for row in self.rows), default=0)

    @property
    def cells(self) -> int:
        """Cells of a table."""
        return (self.of(self.one.capacity)[0] + 1) * self.stride


def tight_patterns(
    problem: Problem,
    one: NodeClass,
    demand: Sequence[int],
    waste: Sequence[int],
    most: int,
    allowance: Allowance,
    seed: int = 1,
) -> Tight | None:
    """Patterns of a class that leave at most `waste` of each resource and hold at most `demand` of each row.

    Bit (a, b) of table i says: from free amounts (a, b) the rows i, i+1, … can bring both into the window. So every
    partial pattern that is kept can be completed, and no pattern of the window is missed (tests compare with plain
    enumeration: a mask that is too narrow would make a false proof). Beyond `most` partial patterns a random sample
    goes on. None: the tables would be too large.
    """
    order = sorted(range(len(waste)), key=lambda d: (waste[d] / max(1, one.capacity[d]), d))
    share = problem.sizes / np.maximum(1, np.array(one.capacity))
    rows = [row for row in range(len(problem.rows)) if min(demand[row], one.most[row]) > 0]
    rows.sort(key=lambda row: (-float(share[row].max()), row))
    limit = {row: min(int(demand[row]), one.most[row]) for row in rows}
    second = order[1] if len(order) > 1 else None
    frame = _Frame(problem, one, tuple(rows), limit, tuple(waste), order[0], second)
    if frame.cells > MOST_CELLS or frame.cells * (len(rows) + 1) > MOST_BITS:
        return None
    return _forward(frame, _tables(frame, allowance), most, allowance, seed)


def _tables(frame: _Frame, allowance: Allowance) -> list[NDArray[np.uint8]]:
    """One table per row and one for the end, as bytes; the lowest bit first."""
    (high, wide), stride = frame.of(frame.one.capacity), frame.stride
    window = [min(waste, most) for waste, most in zip(frame.of(frame.waste), (high, wide), strict=True)]
    mask = _repeated((1 << (wide + 1)) - 1, stride, high + 1)
    bits = _repeated((1 << (window[1] + 1)) - 1, stride, window[0] + 1)
    length = (frame.cells + 7) // 8
    tables = [np.frombuffer(bits.to_bytes(length, "little"), dtype=np.uint8)]
    for row in reversed(frame.rows):
        down, across = frame.of(frame.problem.sizes[row])
        shifted = bits
        for _ in range(frame.limit[row]):
            allowance.spend(SHIFT * frame.cells)
            shifted = (shifted << (down * stride + across)) & mask
            if not shifted:
                break
            bits |= shifted
        tables.append(np.frombuffer(bits.to_bytes(length, "little"), dtype=np.uint8))
    tables.reverse()
    return tables


def _repeated(line: int, stride: int, times: int) -> int:
    """The line `times` times, `stride` bits apart; doubling keeps it to a few shifts."""
    whole, done = line, 1
    while done < times:
        step = min(done, times - done)
        part = whole if step == done else whole & ((1 << (step * stride)) - 1)
        whole |= part << (done * stride)
        done += step
    return whole


def _forward(frame: _Frame, tables: list[NDArray[np.uint8]], most: int, allowance: Allowance, seed: int) -> Tight:
    draw, complete = np.random.default_rng(seed), True
    empty = np.zeros((0, len(frame.problem.rows)), dtype=np.int64)
    counts = np.zeros((1, len(frame.problem.rows)), dtype=np.int16)
    free = np.array([frame.one.capacity], dtype=np.int64)
    for position, row in enumerate(frame.rows):
        size, table = frame.problem.sizes[row], tables[position + 1]
        found: list[tuple[NDArray[np.int16], Counts]] = []
        for copies in range(frame.limit[row] + 1):
            allowance.over(2 * counts.size + 8 * free.size)
            left = free - copies * size
            able = (left >= 0).all(axis=1)
            if not able.any():
                break
            cell = left[:, frame.first] * frame.stride
            if frame.second is not None:
                cell = cell + left[:, frame.second]
            cell = np.where(able, cell, 0)
            able &= ((table[cell >> 3] >> (cell & 7).astype(np.uint8)) & 1).astype(bool)
            if able.any():
                chosen = counts[able].copy()
                chosen[:, row] = copies
                found.append((chosen, left[able]))
        if not found:
            return Tight(empty, complete)
        counts = np.concatenate([chosen for chosen, _ in found])
        free = np.concatenate([left for _, left in found])
        if len(free) > most:
            complete = False
            sample = np.sort(draw.permutation(len(free))[:most])
            counts, free = counts[sample], free[sample]
    keep = (free <= np.array(frame.waste)).all(axis=1)
    return Tight(counts[keep].astype(np.int64), complete)
