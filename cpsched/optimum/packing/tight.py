"""Tight patterns: what a node can hold when almost nothing of two resources may be left. All of them, or a sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cpsched.optimum.packing.problem import Counts, NodeClass, Problem

MOST_CELLS = 1 << 26
"""Largest table (free amounts of two resources); one is a bit each, and there is a table per row: 8 MiB × rows."""
MOST_TABLES = 1 << 31
"""Bits of all tables together."""


@dataclass(frozen=True)
class Tight:
    """Patterns within a window of waste, and whether they are all there are."""

    patterns: Counts
    complete: bool


def tight_patterns(
    problem: Problem,
    one: NodeClass,
    demand: Sequence[int],
    waste: Sequence[int],
    most: int,
    seed: int = 1,
) -> Tight | None:
    """Patterns of a class that leave at most `waste` of each resource and hold at most `demand` of each row.

    Bit (a, b) of table i says: from free amounts (a, b) the rows i, i+1, … can bring both into the window. So every
    partial pattern that is kept can be completed, and no pattern of the window is missed (tests compare with plain
    enumeration: a mask that is too narrow would make a false proof). Beyond `most` partial patterns a random sample
    goes on. None: the tables would be too large.
    """
    first, second = _tightest(one, waste)
    capacity, sizes = one.capacity, problem.sizes
    rows = [r for r in range(len(problem.rows)) if min(demand[r], one.most[r]) > 0]
    rows.sort(key=lambda r: (-max(int(s) * 1000 // max(1, c) for s, c in zip(sizes[r], capacity, strict=True)), r))
    limit = {r: min(int(demand[r]), one.most[r]) for r in rows}
    cap = (capacity[first], capacity[second] if second is not None else 0)
    pair = {r: (int(sizes[r][first]), int(sizes[r][second]) if second is not None else 0) for r in rows}
    stride = cap[1] + 1 + max((b for _, b in pair.values()), default=0)
    cells = (cap[0] + 1) * stride
    if cells > MOST_CELLS or cells * (len(rows) + 1) > MOST_TABLES:
        return None
    window = (min(waste[first], cap[0]), min(waste[second], cap[1]) if second is not None else 0)
    tables = _tables(rows, limit, pair, cap, window, stride)
    return _forward(problem, one, rows, limit, pair, tables, stride, waste, most, seed)


def _tightest(one: NodeClass, waste: Sequence[int]) -> tuple[int, int | None]:
    order = sorted(range(len(waste)), key=lambda d: (waste[d] / max(1, one.capacity[d]), d))
    return order[0], order[1] if len(order) > 1 else None


def _tables(rows, limit, pair, cap, window, stride) -> list[NDArray[np.uint8]]:
    """One table per row and one for the end, as bytes; the lowest bit first."""
    line = (1 << (cap[1] + 1)) - 1
    mask = _repeated(line, stride, cap[0] + 1)
    bits = _repeated((1 << (window[1] + 1)) - 1, stride, window[0] + 1)
    length = ((cap[0] + 1) * stride + 7) // 8
    tables = [np.frombuffer(bits.to_bytes(length, "little"), dtype=np.uint8)]
    for row in reversed(rows):
        shift = pair[row][0] * stride + pair[row][1]
        shifted = bits
        for _ in range(limit[row]):
            shifted = (shifted << shift) & mask
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


def _forward(problem, one, rows, limit, pair, tables, stride, waste, most, seed) -> Tight:
    draw, complete = np.random.default_rng(seed), True
    counts = np.zeros((1, len(problem.rows)), dtype=np.int16)
    free = np.array([one.capacity], dtype=np.int64)
    first, second = _tightest(one, waste)
    for position, row in enumerate(rows):
        size, table = problem.sizes[row], tables[position + 1]
        kept_counts, kept_free = [], []
        for copies in range(limit[row] + 1):
            left = free - copies * size
            able = (left >= 0).all(axis=1)
            if not able.any():
                break
            index = left[:, first] * stride + (left[:, second] if second is not None else 0)
            index = np.where(able, index, 0)
            able &= ((table[index >> 3] >> (index & 7).astype(np.uint8)) & 1).astype(bool)
            if able.any():
                chosen = counts[able].copy()
                chosen[:, row] = copies
                kept_counts.append(chosen)
                kept_free.append(left[able])
        if not kept_free:
            return Tight(np.zeros((0, len(problem.rows)), dtype=np.int64), complete)
        counts, free = np.concatenate(kept_counts), np.concatenate(kept_free)
        if len(free) > most:
            complete = False
            sample = np.sort(draw.permutation(len(free))[:most])
            counts, free = counts[sample], free[sample]
    keep = (free <= np.array(waste)).all(axis=1)
    return Tight(counts[keep].astype(np.int64), complete)
