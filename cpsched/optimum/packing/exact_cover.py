"""Exact cover: nodes that hold exactly the items given, each node a tight pattern. Depth first on the rarest row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cpsched.optimum.packing.allowance import ELEMENT, Allowance
from cpsched.optimum.packing.problem import Counts

NODE_WORK = 3e-5
"""Seconds of work for a node of the search, besides its arrays."""


class BudgetError(Exception):
    """The search ended before it was exhaustive."""


def exact_cover(
    patterns: Counts, need: Sequence[int], nodes: int, budget: int, allowance: Allowance
) -> tuple[list[int] | None, bool]:
    """(pattern per node, True), (None, True) if there is none, (None, False) if the budget of search nodes ran out.

    Patterns are whole nodes: each is used as it is, and all items are used up. The last two nodes are found by looking
    up what one leaves for the other.
    """
    wanted = np.asarray(need, dtype=np.int64)
    rows = np.flatnonzero(wanted)
    if len(rows) == 0:
        return ([], True) if nodes == 0 else _empty(patterns, nodes)
    outside = np.delete(np.arange(patterns.shape[1]), rows)
    usable = np.flatnonzero((patterns <= wanted).all(axis=1) & (patterns[:, outside] == 0).all(axis=1))
    columns = patterns[usable][:, rows].astype(np.int16)
    codes = columns.astype(np.int64) @ _weights(columns.shape[1])
    lookup: dict[int, list[int]] = {}
    for number, code in enumerate(codes.tolist()):
        lookup.setdefault(code, []).append(number)
    sorted_codes = np.sort(codes)
    weights = _weights(columns.shape[1])
    left = [budget]

    def whole(rest: NDArray[np.int16]) -> int | None:
        """The pattern that is exactly the rest."""
        known = lookup.get(int(rest.astype(np.int64) @ weights), ())
        return next((number for number in known if (columns[number] == rest).all()), None)

    def search(able: NDArray[np.int64], rest: NDArray[np.int16], count: int) -> list[int] | None:
        left[0] -= 1
        if left[0] < 0:
            raise BudgetError
        allowance.spend(NODE_WORK + 2 * ELEMENT * able.size * len(rest))
        if count == 1:
            number = whole(rest)
            return None if number is None else [number]
        if not rest.any():
            number = whole(rest)
            return None if number is None else [number] * count
        able = able[(columns[able] <= rest).all(axis=1)]
        if not len(able):
            return None
        held = columns[able]
        bringing = (held > 0).sum(axis=0).astype(float)
        bringing[rest == 0] = np.inf
        row = int(np.argmin(bringing))
        if bringing[row] == 0:
            return None
        branch = able[held[:, row] > 0]
        if count == 2:
            wanted_codes = int(rest.astype(np.int64) @ weights) - codes[branch]
            places = np.minimum(np.searchsorted(sorted_codes, wanted_codes), len(codes) - 1)
            for number in branch[sorted_codes[places] == wanted_codes]:
                other = whole(rest - columns[number])
                if other is not None:
                    return [int(number), other]
            return None
        order = np.argsort(-columns[branch].sum(axis=1), kind="stable")
        for number in branch[order]:
            found = search(able, rest - columns[number], count - 1)
            if found is not None:
                return [*found, int(number)]
            # Every cover that uses this pattern was tried; the ones to come do without it.
            able = able[able != number]
        return None

    try:
        found = search(np.arange(len(columns)), wanted[rows].astype(np.int16), nodes)
    except BudgetError:
        return None, False
    return (None, True) if found is None else ([int(usable[number]) for number in found], True)


def _empty(patterns: Counts, nodes: int) -> tuple[list[int] | None, bool]:
    empty = np.flatnonzero((patterns == 0).all(axis=1))
    return ([int(empty[0])] * nodes, True) if len(empty) else (None, True)


def _weights(length: int) -> NDArray[np.int64]:
    """A weight per row: equal sums only say which patterns to compare row by row."""
    return np.random.default_rng(7).integers(1, 1 << 40, size=length)
