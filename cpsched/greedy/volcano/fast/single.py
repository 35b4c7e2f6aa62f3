"""Node-local fit and scores of one node: for a node or two, arrays cost more than they save.

`column` is what `NodeArrays.column` says of the node; each function equals its counterpart in `scores.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from cpsched.greedy.volcano.fast.arrays import Layout
from cpsched.greedy.volcano.fast.asks import Asks
from cpsched.greedy.volcano.plugins.score_resources import balance

Column = Sequence[int]


def fits(column: Column, needs: Sequence[tuple[int, int]]) -> bool:
    """Whether the rows hold the amounts."""
    for row, amount in needs:  # noqa: SIM110 - asked some ten thousand times
        if column[row] < amount:
            return False
    return True


def least(column: Column, layout: Layout, asks: Asks) -> int:
    """The emptier the better."""
    load, capacity = layout.nonzero.start, layout.kube_capacity.start
    total = 0
    for place, asked in enumerate(asks.nonzero_pair):
        free = column[capacity + place] - column[load + place] - asked
        if free > 0:
            total += free * 100 // column[capacity + place]
    return total // 2


def most(column: Column, layout: Layout, asks: Asks) -> int:
    """The fuller the better."""
    load, capacity = layout.nonzero.start, layout.kube_capacity.start
    total = 0
    for place, asked in enumerate(asks.nonzero_pair):
        room = column[capacity + place]
        total += min(column[load + place] + asked, room) * 100 // room
    return total // 2


def balanced(column: Column, layout: Layout, asks: Asks) -> int:
    """75 plus half of what the task improves the balance by."""
    row, capacity_row = layout.requested.start, layout.kube_capacity.start
    before, after = [], []
    for place, asked in enumerate(asks.balanced_list):
        if capacity := column[capacity_row + place]:
            used = column[row + place]
            before.append(min(used / capacity, 1.0))
            after.append(min((used + asked) / capacity, 1.0))
    return 50 + (50 + balance(after) - balance(before)) // 2


def binpack(column: Column, asks: Asks) -> float:
    """The weighted mean fullness, 0 where something does not fit."""
    total = 0.0
    for used_row, capacity_row, amount, weight in asks.packed:
        if capacity := column[capacity_row]:
            used = column[used_row] + amount
            if used > capacity:
                return 0.0
            total += used * weight / capacity
    return total / asks.packed_total if asks.packed_total else total
