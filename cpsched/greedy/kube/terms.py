"""Placed pods by the affinity terms that scoring reads, so that it need not walk over all pods."""

from __future__ import annotations

from dataclasses import dataclass

from cpsched.instance import Task
from cpsched.objects.affinity import WeightedPodAffinityTerm
from cpsched.selectors import AffinityTerm, SelectorError, affinity_term

Weighted = tuple[tuple[AffinityTerm, int], ...]


@dataclass(frozen=True)
class Wishes:
    """Required affinity, preferred affinity and preferred anti-affinity of a pod."""

    required: tuple[AffinityTerm, ...] = ()
    preferred: Weighted = ()
    preferred_anti: Weighted = ()


NO_WISHES = Wishes()


class TermIndex:
    """How many pods with the same wishes are on each node, by node index; pods without wishes are not kept."""

    def __init__(self) -> None:
        self.counts: dict[Wishes, dict[int, int]] = {}
        self._wishes: dict[int, tuple[Task, Wishes]] = {}

    def of(self, task: Task) -> Wishes:
        """The task's wishes, parsed once."""
        found = self._wishes.get(id(task))
        if found is None:
            found = self._wishes[id(task)] = (task, parse_wishes(task))
        return found[1]

    def shift(self, task: Task, index: int, change: int) -> None:
        """A task comes to a node or leaves it."""
        wishes = self.of(task)
        if wishes == NO_WISHES:
            return
        counts = self.counts.setdefault(wishes, {})
        counts[index] = counts.get(index, 0) + change
        if not counts[index]:
            del counts[index]


def parse_wishes(task: Task) -> Wishes:
    """The terms of a pod; a kind that does not parse counts as absent, as upstream's PodInfo keeps it."""
    affinity, namespace = task.pod.spec.affinity, task.namespace
    try:
        required = tuple(affinity_term(term, namespace) for term in affinity.pod_affinity.required)
    except SelectorError:
        required = ()
    return Wishes(
        required,
        _weighted(affinity.pod_affinity.preferred, namespace),
        _weighted(affinity.pod_anti_affinity.preferred, namespace),
    )


def _weighted(stated: tuple[WeightedPodAffinityTerm, ...], namespace: str) -> Weighted:
    try:
        return tuple((affinity_term(one.pod_affinity_term, namespace), one.weight) for one in stated)
    except SelectorError:
        return ()
