"""Which tasks can go at once because none that is still to come can be refused for them: one order is enough.

Take any legal order of those who wait, and move such a task to its front, where it passes: a later task sees
one more task, which neither fills its domain, nor is unwanted there, nor takes its place as the first of its kind. More
company and a fuller emptiest domain help every other task. So if any order is legal, one that begins with this task is.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

from cpsched.filters import inter_pod_affinity, pod_topology_spread
from cpsched.filters.feasible import PreFiltered
from cpsched.instance import Task
from cpsched.selectors import AffinityTerm, Labels


@dataclass(frozen=True)
class LabelledPlace:
    """A task, what its filters read of it (alike for all of a template), and the labels of the node it goes to."""

    task: Task
    template: int
    prefiltered: PreFiltered
    node_labels: Labels


Keys = tuple[frozenset[str], frozenset[str]]
"""Topology keys: by those of the first, a task counts against the other in a domain; by the second it is company."""


class Harmless:
    """Asks of a kind of tasks whether it can go at once; kinds are numbered as in the search."""

    def __init__(self, places: Sequence[LabelledPlace], taking: Container[str]):
        self._takes = [any(name in taking for name in place.prefiltered.states) for place in places]
        self._crowds: list[set[int]] = [set() for _ in places]
        """Against whom the kind counts: in the domain of a spread constraint, or by an anti-affinity."""
        self._precedes: list[set[int]] = [set() for _ in places]
        """Who may not be first any more once the kind is there, which is no company for it."""
        examples = {place.template: place for place in places}
        keys = {(one, two): _keys(examples[one], examples[two]) for one in examples for two in examples}
        for (number, first), (other, later) in permutations(enumerate(places), 2):
            against, company = keys[first.template, later.template]
            if any(_together(key, first, later) for key in against):
                self._crowds[number].add(other)
            if not all(_together(key, first, later) for key in company):
                self._precedes[number].add(other)

    def __call__(self, number: int, waiting: Mapping[int, PreFiltered]) -> bool:
        """Whether the kind minds none of the tasks to come, by number with what their filters read now."""
        if self._takes[number] or not self._crowds[number].isdisjoint(waiting):
            return False
        return not any(other in waiting and _may_be_first(waiting[other]) for other in self._precedes[number])


def _keys(first: LabelledPlace, later: LabelledPlace) -> Keys:
    """By which topology keys the later one sees the first."""
    namespace, labels = first.task.namespace, first.task.labels
    against = set()
    spread: pod_topology_spread.TopologySpreadState | None = later.prefiltered.states.get(pod_topology_spread.NAME)
    if spread is not None and namespace == later.task.namespace:
        against |= {one.topology_key for one in spread.constraints if one.selector.matches(labels)}
    affinity, anti = _terms(later)
    against |= {term.topology_key for term in anti if term.matches(namespace, labels, {})}
    is_company = inter_pod_affinity.matches_all(affinity, namespace, labels)
    return frozenset(against), frozenset(term.topology_key for term in affinity if is_company)


def _terms(place: LabelledPlace) -> tuple[tuple[AffinityTerm, ...], tuple[AffinityTerm, ...]]:
    state: inter_pod_affinity.InterPodAffinityState | None = place.prefiltered.states.get(inter_pod_affinity.NAME)
    return ((), ()) if state is None else (state.affinity_terms, state.anti_terms)


def _together(key: str, first: LabelledPlace, later: LabelledPlace) -> bool:
    return key in first.node_labels and first.node_labels[key] == later.node_labels.get(key)


def _may_be_first(prefiltered: PreFiltered) -> bool:
    state: inter_pod_affinity.InterPodAffinityState | None = prefiltered.states.get(inter_pod_affinity.NAME)
    return state is not None and state.may_be_first
