"""Deserved shares by weighted water filling in exact numbers, as the checker, the levels and the optimum use them.

What upstream's loop (see `proportion`) comes ever closer to in float64 until less than a tenth of a unit is left, here
is reached: every resource is poured to the end, and nothing depends on the unit that amounts are counted in.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf

from cpsched.resources import Vector
from cpsched.shares.demand import Exact, QueueDemand, QueueShare, real_capability, total_of

MOST_ROUNDS = 64
"""So many rounds are looked at one by one where pods are short; after these, all resources are poured to the end."""

Shares = dict[str, dict[str, Fraction]]
"""Per queue and resource."""


def exact_proportion(total: Vector, queues: Sequence[QueueDemand]) -> dict[str, QueueShare[Exact]]:
    """The shares of the queues that have jobs; the guarantees of all queues are set aside."""
    total_guarantee = total_of(queue.guarantee for queue in queues)
    active = [queue for queue in queues if queue.has_jobs]
    limits = {queue.name: real_capability(queue, total, total_guarantee) for queue in active}
    deserved = _Pouring(total, active, limits).deserved()
    return {
        queue.name: QueueShare(
            deserved={name: _plain(amount) for name, amount in deserved[queue.name].items()},
            real_capability=limits[queue.name],
            guarantee=queue.guarantee or {},
            allocated=queue.allocated,
            request=queue.request,
            inqueue=queue.inqueue,
            elastic=queue.elastic,
        )
        for queue in active
    }


class _Pouring:
    """Rounds in which what remains of every resource is poured by weight into the queues that are not served yet.

    After the first round, in which guarantees are given without being poured, every queue that can still take some of
    a resource takes in proportion to its weight, however many rounds it is: so the end can be computed at once.
    """

    def __init__(self, total: Vector, queues: Sequence[QueueDemand], limits: dict[str, dict[str, float]]):
        self._queues = {queue.name: queue for queue in queues}
        guaranteed = {name for queue in queues for name in queue.guarantee or {}}
        self._resources = sorted({"cpu", "memory", *total, *guaranteed})
        self._left = {name: Fraction(total.get(name, 0)) for name in self._resources}
        self._most = {queue.name: self._ceiling(queue, limits[queue.name]) for queue in queues}
        self._held: Shares = {name: {} for name in self._queues}
        self._unserved = list(self._queues)

    def deserved(self) -> Shares:
        """What every queue deserves; nothing at all where no queue has any weight."""
        rounds = 0
        while self._weight() and rounds < MOST_ROUNDS:
            self._pour()
            rounds += 1
            if not any(left for name, left in self._left.items() if name != "pods"):
                return self._held  # Upstream does not go on for the sake of pods alone.
            if not self._takers("pods"):
                break
        if rounds:
            for resource in self._resources:
                self._pour_to_the_end(resource)
        return self._held

    def _ceiling(self, queue: QueueDemand, limit: Vector) -> dict[str, Fraction]:
        """The most it can come to deserve: what it may have and asks for, or else what it is guaranteed."""
        most = {}
        for name in self._resources:
            # A limit names cpu and memory always; any other resource that it does not name it does not limit.
            allowed = limit.get(name, 0 if name in ("cpu", "memory") else inf)
            wanted = min(allowed, queue.request.get(name, 0))
            most[name] = Fraction(max(0, wanted, (queue.guarantee or {}).get(name, 0)))
        return most

    def _weight(self) -> int:
        return sum(self._queues[name].weight for name in self._unserved)

    def _pour(self) -> None:
        """One round, the same for all: what remains at its beginning is divided among all that are unserved."""
        weight, unserved = self._weight(), []
        gained = dict.fromkeys(self._resources, Fraction(0))
        for name in self._unserved:
            queue, before, most = self._queues[name], self._held[name], self._most[name]
            after = {}
            for resource, left in self._left.items():
                floor = Fraction((queue.guarantee or {}).get(resource, 0))
                portion = left * queue.weight / weight if left else left
                after[resource] = max(min(before.get(resource, Fraction(0)) + portion, most[resource]), floor)
                gained[resource] += after[resource] - before.get(resource, Fraction(0))
            self._held[name] = after
            served = all(amount <= after.get(resource, 0) for resource, amount in queue.request.items())
            if not served and after != before:
                unserved.append(name)
        self._unserved = unserved
        self._left = {name: max(Fraction(0), left - gained[name]) for name, left in self._left.items()}

    def _takers(self, resource: str) -> list[tuple[Fraction, int, str]]:
        """(level at which it is full, weight, name) of the queues that can take more, the first to be full first."""
        if not self._left.get(resource):
            return []
        rooms = ((self._most[name][resource] - self._held[name][resource], name) for name in self._unserved)
        weights = {name: self._queues[name].weight for name in self._unserved}
        return sorted((room / weights[name], weights[name], name) for room, name in rooms if room and weights[name])

    def _pour_to_the_end(self, resource: str) -> None:
        takers = self._takers(resource)
        left, weight = self._left[resource], sum(weight for _, weight, _ in takers)
        for full, own, name in takers:
            level = min(full, left / weight)
            self._held[name][resource] += level * own
            left, weight = left - level * own, weight - own


def _plain(amount: Fraction) -> Exact:
    """A whole number as such: it is compared much faster."""
    return amount.numerator if amount.denominator == 1 else amount
