"""A kind of task: everything about all nodes that tasks with the same request and constraints share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cpsched.filters.contract import PreFilterResult
from cpsched.filters.status import Status
from cpsched.greedy.volcano.fast import scores, single
from cpsched.greedy.volcano.fast.arrays import Ints, Mask, NodeArrays
from cpsched.greedy.volcano.fast.asks import Asks
from cpsched.greedy.volcano.fast.card_arrays import KindCards
from cpsched.greedy.volcano.fast.plugin_bulk import BinpackBulk, FilterBulk, OrderBulk
from cpsched.greedy.volcano.tasks import TaskState

FEW = 14
"""So many nodes are quicker one by one than in arrays."""

MANY = 2**31
"""More tasks than any node takes; all nodes together count less than 64 bits hold."""

RESOURCE_SCORES: dict[str, tuple[Callable[..., Any], Callable[..., int]]] = {
    "leastrequested.weight": (scores.least, single.least),
    "mostrequested.weight": (scores.most, single.most),
    "balancedresource.weight": (scores.balanced, single.balanced),
}
"""nodeorder's scores that depend on the node alone: for many nodes, and for one."""


class TaskKind:
    """Which nodes such a task fits and how good they are; node-local, so only touched nodes are worked out again."""

    def __init__(
        self,
        sample: TaskState,
        prepared: dict[str, PreFilterResult],
        filters: FilterBulk | None,
        order: OrderBulk | None,
        pack: BinpackBulk | None,
        arrays: NodeArrays,
        *,
        apart: bool,
        cards: KindCards | None = None,
    ):
        self.prepared, self.cards = prepared, cards
        self._arrays, self._layout = arrays, arrays.layout
        self._asks = asks = Asks(sample, arrays.layout, order, pack)
        self._own_weight = 0 if pack is None else 100 * pack.weight
        self._constant = 0 if order is None else order.constant
        self._rates = [
            (many, one, order.weights[key])
            for key, (many, one) in RESOURCE_SCORES.items()
            if order is not None and order.weights[key]
            if key != "balancedresource.weight" or asks.asks_for_anything
        ]
        self._counts_pods = filters is not None
        self.static_status, self.static_ok = _static(sample, prepared, filters, arrays.count)
        count = arrays.count
        self.open: Mask = np.zeros(count, dtype=np.bool_)
        """Filters pass."""
        self.fits: Mask = np.zeros(count, dtype=np.bool_)
        """Filters pass and there is room, now or later."""
        self.fits_now: Mask = np.zeros(count, dtype=np.bool_)
        self.total = np.zeros(count, dtype=np.float64)
        """binpack's score plus nodeorder's."""
        self.apart = (np.zeros(count, dtype=np.float64), np.zeros(count, dtype=np.int64)) if apart else None
        """The same two apart, where other scores are to be added to the second."""
        self._unrated: set[int] = set()
        """Touched nodes that it does not fit: their scores are out of date until they are asked for."""
        self._seen = -1
        self._fitting: tuple[Ints, bool] | None = None

    def refresh(self) -> None:
        """Bring everything up to date."""
        arrays = self._arrays
        arrays.sync()
        if self._seen < 0:
            self._work_out(None)
        elif self._seen < len(arrays.log):
            touched = set(arrays.log[self._seen :])
            if len(touched) <= FEW:
                for index in touched:
                    self._work_out_one(index)
            else:
                self._work_out(np.array(list(touched), dtype=np.int64))
        self._seen = len(arrays.log)

    def fitting(self) -> tuple[Ints, bool]:
        """The nodes it fits, now or later, and whether now on all of them; kept until some node comes or goes."""
        if self._fitting is None:
            places = self.fits.nonzero()[0]
            self._fitting = places, bool(self.fits_now[places].all())
        return self._fitting

    @property
    def roomy(self) -> Mask:
        """Nodes with enough of everything, now or later, whatever filters say."""
        part = self._arrays.part(None)
        enough: Mask = np.logical_and.reduce(part[self._layout.all_future] >= self._asks.amounts, axis=0)
        return enough

    def room(self, name: str) -> Mask:
        """Nodes with enough of one resource."""
        row = self._layout.future[name]
        enough: Mask = self._arrays.future(name) >= dict(self._asks.future)[row]
        return enough

    def counts(self) -> tuple[Ints, Ints]:
        """How many such tasks each node takes now, and now or later."""
        layout, part = self._layout, self._arrays.part(None)
        pods: Ints = np.where(self.static_ok, MANY, 0)
        if self._counts_pods:
            pods = np.minimum(pods, part[layout.max_pods] - part[layout.pods])
        now, later = (_times(pods, part, asked) for asked in (self._asks.idle, self._asks.future))
        return np.minimum(now, later), later

    def rate_all(self) -> None:
        """Bring the scores of nodes that it does not fit up to date too."""
        if self._unrated:
            self._rate(np.array(list(self._unrated), dtype=np.int64))
            self._unrated.clear()

    def _work_out(self, some: Ints | None) -> None:
        layout, asks, part = self._layout, self._asks, self._arrays.part(some)
        at: Any = slice(None) if some is None else some
        passes = self.static_ok[at]
        if self._counts_pods:
            passes = passes & (part[layout.pods] < part[layout.max_pods])
        passes = self._finding_cards(passes, some)
        later = passes & np.logical_and.reduce(part[layout.all_future] >= asks.amounts, axis=0)
        self.open[at], self.fits[at] = passes, later
        self.fits_now[at] = np.logical_and.reduce(part[layout.all_idle] >= asks.amounts, axis=0)
        self._fitting = None
        if some is None:
            self._rate_many(at, part)
        else:
            self._unrated.update(some.tolist())
            self._rate(some[later])

    def _work_out_one(self, index: int) -> None:
        """The same for one node."""
        layout, asks = self._layout, self._asks
        column = self._arrays.column(index)
        passes = bool(self.static_ok[index])
        if self._counts_pods:
            passes = passes and column[layout.pods] < column[layout.max_pods]
        if passes and self.cards is not None:
            passes = self.cards.finds(index)
        self.open[index] = passes
        now, later = single.fits(column, asks.idle), passes and single.fits(column, asks.future)
        if later != self.fits[index] or now != self.fits_now[index]:
            self.fits[index], self.fits_now[index] = later, now
            self._fitting = None
        if later:
            self._rate_one(index, column)
        else:
            self._unrated.add(index)

    def _finding_cards(self, passes: Mask, some: Ints | None) -> Mask:
        """Those of the nodes that pass on which it finds its cards too."""
        if self.cards is None:
            return passes
        if some is None:
            return passes & self.cards.mask(passes)
        among: Mask = np.zeros(self._arrays.count, dtype=np.bool_)
        among[some] = passes
        return passes & self.cards.mask(among)[some]

    def _rate(self, at: Ints) -> None:
        if len(at) <= FEW:
            for index in at.tolist():
                self._rate_one(index, self._arrays.column(index))
        else:
            self._rate_many(at, self._arrays.part(at))
            self._unrated.difference_update(at.tolist())

    def _rate_many(self, at: Any, part: Ints) -> None:
        own = scores.binpack(part, self._layout, self._asks) * self._own_weight
        batch: Any = self._constant
        for rate, _, weight in self._rates:
            batch = batch + rate(part, self._layout, self._asks) * weight
        self._set(at, own, batch)

    def _rate_one(self, index: int, column: list[int]) -> None:
        own = single.binpack(column, self._asks) * self._own_weight
        batch = self._constant
        for _, rate, weight in self._rates:
            batch += rate(column, self._layout, self._asks) * weight
        self._set(index, own, batch)
        self._unrated.discard(index)

    def _set(self, at: Any, own: Any, batch: Any) -> None:
        self.total[at] = own + batch
        if self.apart is not None:
            self.apart[0][at], self.apart[1][at] = own, batch


def _times(most: Ints, part: Ints, asked: Sequence[tuple[int, int]]) -> Ints:
    """How often what is asked for fits, at most so often."""
    for row, amount in asked:
        most = np.minimum(most, part[row] // amount) if amount > 0 else np.where(part[row] < amount, 0, most)
    return np.maximum(most, 0)


def _static(
    sample: TaskState, prepared: dict[str, PreFilterResult], filters: FilterBulk | None, count: int
) -> tuple[list[tuple[Status, Mask]], Mask]:
    """Nodes that a filter refuses whichever pods are on them, by the first that does, and the rest."""
    passing = np.ones(count, dtype=np.bool_)
    refused: list[tuple[Status, Mask]] = []
    if filters is None:
        return refused, passing
    for one in filters.stable:
        result = prepared[one.name]
        if result.status.is_skip or one.masks is None:
            continue
        for mask, status in one.masks(result.state, sample.task, filters.picture):
            fresh = mask & passing
            if fresh.any():
                refused.append((status, fresh))
                passing = passing & ~fresh
    return refused, passing


def signature(task: TaskState) -> tuple[Any, ...]:
    """What a task's kind depends on; pod labels count only where other pods look at them, which the board sees to."""
    spec = task.task.pod.spec
    affinity = spec.affinity.node_affinity
    wanted = (affinity.required, affinity.preferred) if affinity.required or affinity.preferred else None
    tolerations = tuple((one.key, one.operator, one.value, one.effect) for one in spec.tolerations)
    return (_amounts(task), tuple(spec.node_selector.items()), wanted, tolerations, _stand_ins(spec.containers))


def _amounts(task: TaskState) -> tuple[tuple[str, float], ...]:
    return tuple(task.request.items())


def _stand_ins(containers: Sequence[Any]) -> tuple[tuple[bool, bool], ...]:
    """Which containers ask for no cpu or memory: their number decides what stands in for them."""
    return tuple(("cpu" in one.resources.requests, "memory" in one.resources.requests) for one in containers)
