"""A kind of task: everything about all nodes that tasks with the same request and constraints share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cpsched.filters.contract import PreFilterResult
from cpsched.filters.status import Status
from cpsched.greedy.volcano.amounts import fits
from cpsched.greedy.volcano.fast.arrays import GPU, Ints, Mask, NodeArrays
from cpsched.greedy.volcano.fast.bulk import BinpackBulk, FilterBulk, OrderBulk
from cpsched.greedy.volcano.fast.scores import balanced, binpack, least, most
from cpsched.greedy.volcano.fullness import fullness
from cpsched.greedy.volcano.tasks import TaskState

FEW = 12
LOCAL_SCORES = ("leastrequested.weight", "mostrequested.weight", "balancedresource.weight")

At = Any
"""All nodes, or the numbers of some."""


class Kind:
    """Which nodes such a task fits and how good they are; node-local, so only touched nodes are worked out again."""

    def __init__(
        self,
        sample: TaskState,
        prepared: dict[str, PreFilterResult],
        filters: FilterBulk | None,
        order: OrderBulk | None,
        pack: BinpackBulk | None,
        arrays: NodeArrays,
    ):
        self.prepared = prepared
        self._sample, self._arrays, self._order, self._pack = sample, arrays, order, pack
        weights = order.weights if order is not None else {}
        self._local = [(order.scores[k], weights[k]) for k in LOCAL_SCORES if order is not None and weights[k]]
        self._counts_pods = filters is not None
        self._request = {name: int(amount) for name, amount in sample.request.items()}
        self.static_status, self.static_ok = _static(sample, prepared, filters, arrays.count)
        count = arrays.count
        self.open: Mask = np.zeros(count, dtype=np.bool_)
        """Filters pass."""
        self.fits: Mask = np.zeros(count, dtype=np.bool_)
        """Filters pass and there is room, now or later."""
        self.fits_now: Mask = np.zeros(count, dtype=np.bool_)
        self.own = np.zeros(count, dtype=np.float64)
        self.batch: Ints = np.zeros(count, dtype=np.int64)
        self.total = np.zeros(count, dtype=np.float64)
        self._seen = -1

    def refresh(self) -> None:
        """Bring everything up to date."""
        arrays = self._arrays
        arrays.sync()
        if self._seen < 0:
            self._work_out(slice(None))
        elif self._seen < len(arrays.log):
            touched = set(arrays.log[self._seen :])
            if len(touched) <= FEW:
                for index in touched:
                    self._work_out_one(index)
            else:
                self._work_out(np.array(list(touched), dtype=np.int64))
        self._seen = len(arrays.log)

    def room(self, name: str) -> Mask:
        """Nodes with enough of one resource."""
        enough: Mask = self._arrays.future[name] >= self._request[name]
        return enough

    def _work_out(self, at: At) -> None:
        arrays = self._arrays
        passes = self.static_ok[at]
        if self._counts_pods:
            passes = passes & (arrays.pods[at] < arrays.max_pods[at])
        self.open[at] = passes
        later: Any = passes
        now: Any = np.True_
        for name, amount in self._request.items():
            later = later & (arrays.future[name][at] >= amount)
            now = now & (arrays.idle[name][at] >= amount)
        self.fits[at] = later
        self.fits_now[at] = now
        self._rate(at)

    def _work_out_one(self, index: int) -> None:
        """The same for one node, with the plain scores: for a few nodes arrays cost more than they save."""
        arrays, node = self._arrays, self._arrays.nodes[index]
        passes = bool(self.static_ok[index])
        if self._counts_pods:
            passes = passes and arrays.pods[index] < arrays.max_pods[index]
        self.open[index] = passes
        self.fits_now[index] = now = fits(self._sample.request, node.idle)
        later = fits(self._sample.request, node.future_idle) if node.releasing or node.pipelined else now
        self.fits[index] = passes and later
        own = (
            0.0 if self._pack is None else fullness(self._sample, node, self._pack.weights) * (100 * self._pack.weight)
        )
        batch = 0
        if self._order is not None:
            batch = self._order.constant
            for rate, weight in self._local:
                scores = rate(self._order.picture, self._sample.task, (index,))
                batch += scores[0] * weight if scores is not None else 0
        self.own[index], self.batch[index], self.total[index] = own, batch, own + batch

    def _rate(self, at: At) -> None:
        arrays, task = self._arrays, self._sample.task
        own = 0.0 if self._pack is None else binpack(arrays, self._request, self._pack, at)
        batch: Any = 0
        if self._order is not None:
            batch = self._order.constant
            weights, nonzero = self._order.weights, self._order.picture.nonzero(task)
            if weights["leastrequested.weight"]:
                batch = batch + least(arrays, nonzero, at) * weights["leastrequested.weight"]
            if weights["mostrequested.weight"]:
                batch = batch + most(arrays, nonzero, at) * weights["mostrequested.weight"]
            asked = {name: task.kube_requests.get(name, 0) for name in ("cpu", "memory", GPU)}
            if weights["balancedresource.weight"] and any(asked.values()):
                batch = batch + balanced(arrays, asked, at) * weights["balancedresource.weight"]
        self.own[at] = own
        self.batch[at] = batch
        self.total[at] = self.own[at] + self.batch[at]


def _static(
    sample: TaskState, prepared: dict[str, PreFilterResult], filters: FilterBulk | None, count: int
) -> tuple[list[tuple[Status, Mask]], Mask]:
    """Nodes that a filter refuses whoever is on them, by the first that does, and the rest."""
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
