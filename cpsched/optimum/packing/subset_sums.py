"""How much of one resource items can take on one node: the largest subset sum, exact."""

from __future__ import annotations

from cpsched.optimum.packing.problem import NodeClass, Problem

MOST_BITS = 1 << 20
"""Beyond this capacity the capacity itself is taken: one shift of a mebibit costs 20 µs, and there is one per item."""


def largest_sum(sizes: list[tuple[int, int]], capacity: int) -> int:
    """The largest sum of at most `count` copies of each size that is no more than the capacity.

    Bit s of `sums` says that s can be reached. Copies are added in binary parts (1, 2, 4, … and the rest), so that the
    number of shifts grows with the logarithm of the counts.
    """
    if capacity >= MOST_BITS:
        return min(capacity, sum(size * count for size, count in sizes))
    mask, sums = (1 << (capacity + 1)) - 1, 1
    for size, count in sizes:
        part = 1
        while count > 0:
            part = min(part, count)
            sums |= (sums << (size * part)) & mask if size * part <= capacity else 0
            count -= part
            part *= 2
    return sums.bit_length() - 1


def usable(problem: Problem, one: NodeClass, resource: int) -> int:
    """What items can take of a resource on one node of the class; never more than its capacity."""
    sizes = [
        (row.size[resource], min(most, row.demand)) for row, most in zip(problem.rows, one.most, strict=True) if most
    ]
    return largest_sum([(size, count) for size, count in sizes if size], one.capacity[resource])
