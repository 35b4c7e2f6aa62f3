"""Starts of large sessions: decisions that take no model, before the first one is built."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from cpsched.collector import without_collector
from cpsched.optimum.params import (
    INSERTION_SHARE,
    INSERTIONS,
    LARGE_SESSION,
    REMOVAL_SECONDS,
    WARM_START_SECONDS_PER_TASK,
)
from cpsched.optimum.search.primal.insertion import Insertion
from cpsched.optimum.search.state import SearchState
from cpsched.rules import Decision
from cpsched.snapshot import SessionJob

Order = Callable[[SessionJob, float], tuple[float, ...]]


class Starts:
    """Offers the decision made elsewhere, what can be added to it, and insertions from nothing."""

    def __init__(self, state: SearchState):
        self._state = state

    @property
    def are_wanted(self) -> bool:
        """Whether models are so large that a decision is wanted before one is built."""
        capacity = self._state.session.capacity
        return len(capacity.bind_limit) + len(capacity.reserve_limit) > LARGE_SESSION

    def run(self) -> None:
        """The incumbent is the best of them; each passed the checker."""
        state, budget = self._state, self._state.budget
        budget.log("starts")
        until, before = budget.share(INSERTION_SHARE), state.best
        orders = _orders(budget.params.seed)
        self._insert(before, next(orders))
        # The heuristic cannot be stopped, so it is asked only if it fits into the time by its size.
        if len(state.snapshot.instance.tasks) * WARM_START_SECONDS_PER_TASK < budget.left:
            mine, state.incumbent.decision = state.best, before
            state.incumbent.take_warm_start(budget.left)
            theirs = state.best
            self._insert(theirs, next(orders))
            state.incumbent.offer(mine)
        for _ in range(INSERTIONS):
            if budget.is_over(until):
                break
            self._insert(before, next(orders))

    def _insert(self, base: Decision, order: Order) -> None:
        """Insert jobs until the time limit, or a moment longer where there is nothing else to return."""
        state, budget = self._state, self._state.budget
        until = max(budget.end, budget.clock() + REMOVAL_SECONDS)
        with without_collector():
            place = Insertion(base, state.session.classes, state.session.capacity, lambda: budget.is_over(until))
            found = place.run(order)
            state.incumbent.offer_without_violations(found, budget.left)


def _orders(seed: int) -> Iterator[Order]:
    """Jobs of a priority: the small ones first, the large ones first, then small ones first with noise."""
    yield lambda job, size: (size,)
    yield lambda job, size: (size,)
    yield lambda job, size: (-size,)
    noise = random.Random(seed)
    while True:
        yield lambda job, size: (size * noise.uniform(0.7, 1.4),)
