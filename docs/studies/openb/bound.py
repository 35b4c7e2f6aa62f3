"""A bound on the GPUs that any placement can hold, computed in whole numbers from prices.

Nodes of one size are pooled: their devices, cores and memory are each one sum. Devices are not: what lies on one device
is one of the patterns of parts that fit it. So the bound knows the waste on devices, and not the waste between nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from workload import DEVICE, Node, Pod

UNIT = 10**9
"""Prices are whole numbers of thousandths of a GPU divided by this."""


@dataclass(frozen=True)
class Prices:
    """Of a core's thousandth, a MiB, and room for a part of each size on a device, for one size of node."""

    cpu: int
    memory: int
    parts: Mapping[int, int]


def patterns(sizes: list[int], room: int = DEVICE) -> Iterator[dict[int, int]]:
    """Every way to fill a device with parts so that not even the smallest fits any more."""
    smallest = min(sizes)

    def fill(place: int, left: int, chosen: dict[int, int]) -> Iterator[dict[int, int]]:
        if place < 0:
            if left < smallest:
                yield chosen
            return
        size = sizes[place]
        for count in range(left // size, -1, -1):
            yield from fill(place - 1, left - count * size, {**chosen, size: count} if count else chosen)

    return fill(len(sizes) - 1, room, {})


def dearest(parts: Mapping[int, int]) -> int:
    """What the dearest filling of one device costs, by dynamic programming over its thousandths."""
    best = [0] * (DEVICE + 1)
    for room in range(1, DEVICE + 1):
        best[room] = max(
            [best[room - 1], *(best[room - size] + price for size, price in parts.items() if size <= room)]
        )
    return best[DEVICE]


def bound(demand: Mapping[Pod, int], nodes: Mapping[Node, int], prices: Mapping[Node, Prices]) -> int:
    """At most so many thousandths of a GPU can be held, whatever the prices are; good prices make it small.

    Weak duality: every device, core and MiB is sold at its price, and every pod pays for its room or gives up; what
    pods have left over, and the worth of all nodes, together are at least what any placement holds.
    """
    device = {node: dearest(price.parts) for node, price in prices.items()}
    worth = sum(
        count * (node.gpus * device[node] + node.cpu * prices[node].cpu + node.memory * prices[node].memory)
        for node, count in nodes.items()
    )
    for pod, count in demand.items():
        left = 0
        for node, price in prices.items():
            if node.takes(pod):
                room = price.parts[pod.milli] if pod.is_part else pod.gpus * device[node]
                left = max(left, pod.gain * UNIT - pod.cpu * price.cpu - pod.memory * price.memory - room)
        worth += left * count
    return worth // UNIT
