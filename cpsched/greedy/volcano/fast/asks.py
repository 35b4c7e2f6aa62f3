"""What a kind of tasks asks for, laid out for the table of nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from cpsched.greedy.volcano.fast.arrays import BALANCED, EXACT, GPU, Layout
from cpsched.greedy.volcano.fast.plugin_bulk import BinpackBulk, OrderBulk
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.resources import THRESHOLD

NOTHING = -EXACT
"""Stands for an amount that is not asked for, since it fits anywhere."""


class Asks:
    """Rows and amounts: as lists for single nodes, as upright vectors for many nodes at once."""

    def __init__(self, sample: TaskState, layout: Layout, order: OrderBulk | None, pack: BinpackBulk | None):
        request = {name: int(amount) for name, amount in sample.request.items()}
        self.idle = [(layout.idle[name], amount) for name, amount in request.items()]
        self.future = [(layout.future[name], amount) for name, amount in request.items()]
        self.amounts = _upright(request.get(name, NOTHING) for name in layout.idle)
        self.nonzero_pair = order.picture.nonzero(sample.task) if order is not None else (0, 0)
        self.nonzero = _upright(self.nonzero_pair)
        asked = [sample.task.kube_requests.get(name, 0) for name in BALANCED]
        self.asks_for_anything = any(asked)
        self.balanced_list = asked if asked[BALANCED.index(GPU)] else asked[:2]
        self.balanced = _upright(self.balanced_list)
        weights = pack.weights if pack is not None else {}
        weighed = [(n, int(a)) for n, a in sample.ordered_request if a >= THRESHOLD and n in weights]
        self.packed_total = sum(weights[name] for name, _ in weighed)
        self.packed = [(layout.used[n], layout.capacity[n], a, weights[n]) for n, a in weighed if weights[n]]
        """Rows of used and capacity, amount, weight."""
        amounts = {name: amount for name, amount in weighed if weights[name]}
        self.packed_amounts = _upright(amounts.get(name, NOTHING) for name in layout.used)
        self.packed_weights = _upright(weights[name] if name in amounts else 0 for name in layout.used)


def _upright(values: Any) -> Any:
    return np.array(list(values), dtype=np.int64).reshape(-1, 1)
