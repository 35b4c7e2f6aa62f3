"""InterPodAffinity: required affinity and anti-affinity between pods; mirrors `plugins/interpodaffinity`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from cpsched.filters.args import Args
from cpsched.filters.contract import SKIPPED, Filter, Mask, PreFilterResult
from cpsched.filters.facts import Facts
from cpsched.filters.state import ClusterState, FactsOf, NodeState
from cpsched.filters.status import SUCCESS, Status, unresolvable, unschedulable
from cpsched.instance import Task
from cpsched.selectors import AffinityTerm, Labels

NAME = "InterPodAffinity"
NO_COMPANY = unresolvable(NAME, "node(s) didn't match pod affinity rules")
UNWANTED = unschedulable(NAME, "node(s) didn't match pod anti-affinity rules")
NOT_WELCOME = unschedulable(NAME, "node(s) didn't satisfy existing pods anti-affinity rules")

Pairs = dict[str, dict[str, int]]
"""topology key → value → how many matches; a value with 0 has no entry."""


@dataclass
class InterPodAffinityState:
    """Matches per topology pair: pods the task wants near, wants away, and that want it away."""

    facts: FactsOf
    own: Facts
    namespace_labels: Labels
    affinity_terms: tuple[AffinityTerm, ...]
    anti_terms: tuple[AffinityTerm, ...]
    affinity: Pairs = field(default_factory=dict)
    anti: Pairs = field(default_factory=dict)
    existing_anti: Pairs = field(default_factory=dict)

    def clone(self) -> InterPodAffinityState:
        """A copy with counts of its own."""
        return replace(
            self, affinity=_copy(self.affinity), anti=_copy(self.anti), existing_anti=_copy(self.existing_anti)
        )

    @property
    def may_be_first(self) -> bool:
        """The task matches its own terms and no pod in the cluster does: the first of its kind goes anywhere."""
        labels = self.own.labels
        return not any(self.affinity.values()) and matches_all(self.affinity_terms, labels.namespace, labels.labels)


def prefilter(task: Task, cluster: ClusterState, args: Args) -> PreFilterResult:
    """Count the matches over the cluster; skip a task without terms that no pod keeps away."""
    own = cluster.facts(task)
    if own.affinity_error:
        return PreFilterResult(unresolvable(NAME, f"parsing pod: {own.affinity_error}"))
    again = args.features.asks_selectors_again
    state = InterPodAffinityState(
        cluster.facts,
        own,
        cluster.namespaces.get(task.namespace, {}),
        tuple(term.expanded(cluster.namespaces, asks_again=again) for term in own.affinity),
        tuple(term.expanded(cluster.namespaces, asks_again=again) for term in own.anti_affinity),
    )
    _count_existing_anti(state, cluster)
    if not state.existing_anti and not state.affinity_terms and not state.anti_terms:
        return SKIPPED
    _count_own(state, cluster)
    return PreFilterResult(state=state)


def check(state: InterPodAffinityState, task: Task, node: NodeState, cluster: ClusterState) -> Status:
    """Company first, then unwanted neighbours, then neighbours who do not want the task."""
    if not _has_company(state, node.labels):
        return NO_COMPANY
    if any(_count(state.anti, term.topology_key, node.labels) > 0 for term in state.anti_terms):
        return UNWANTED
    if any(_count(state.existing_anti, key, node.labels) > 0 for key in state.existing_anti):
        return NOT_WELCOME
    return SUCCESS


def masks(state: InterPodAffinityState, task: Task, cluster: ClusterState) -> Iterable[tuple[Mask, Status]]:
    """The verdict for all nodes."""
    nowhere = np.zeros(len(cluster.node_list), dtype=np.bool_)
    if state.affinity_terms:
        keyless, alone = nowhere.copy(), nowhere.copy()
        for key in {term.topology_key for term in state.affinity_terms}:
            company = cluster.domains(key).per_node(state.affinity.get(key, {}), missing=0)
            keyless |= cluster.domains(key).codes < 0
            alone |= company <= 0
        yield (keyless if state.may_be_first else keyless | alone), NO_COMPANY
    for keys, pairs, status in (
        ({term.topology_key for term in state.anti_terms}, state.anti, UNWANTED),
        (state.existing_anti, state.existing_anti, NOT_WELCOME),
    ):
        hit = nowhere.copy()
        for key in keys:
            if pairs.get(key):
                hit |= cluster.domains(key).per_node(pairs[key], missing=0) > 0
        yield hit, status


def add_task(state: InterPodAffinityState, task: Task, other: Task, node: NodeState) -> None:
    """Another task comes to the node."""
    _shift(state, state.facts(other), node.labels, 1)


def remove_task(state: InterPodAffinityState, task: Task, other: Task, node: NodeState) -> None:
    """Another task leaves the node."""
    _shift(state, state.facts(other), node.labels, -1)


def matches_all(terms: Iterable[AffinityTerm], namespace: str, labels: Labels) -> bool:
    """Whether one pod matches all of at least one expanded term."""
    terms = tuple(terms)
    return bool(terms) and all(term.matches(namespace, labels, {}) for term in terms)


def _has_company(state: InterPodAffinityState, labels: Labels) -> bool:
    terms = state.affinity_terms
    if any(term.topology_key not in labels for term in terms):
        return False
    return all(_count(state.affinity, t.topology_key, labels) > 0 for t in terms) or state.may_be_first


def _count_existing_anti(state: InterPodAffinityState, cluster: ClusterState) -> None:
    frozen = cluster.anti_affinity_nodes
    for one, key in cluster.anti.against(state.own.labels, state.namespace_labels):
        codes = cluster.domains(key).code_by_node
        values = cluster.domains(key).values
        for index, amount in one.counts.items():
            if codes[index] >= 0 and (frozen is None or index in frozen):
                _add(state.existing_anti, key, values[codes[index]], amount)


def _count_own(state: InterPodAffinityState, cluster: ClusterState) -> None:
    if state.affinity_terms:
        first, *others = state.affinity_terms
        for one in cluster.labels.matching(_namespaces(first), first.selector):
            if one.counts and all(term.matches(one.namespace, one.labels, {}) for term in others):
                for term in state.affinity_terms:
                    _spread_out(state.affinity, cluster, term.topology_key, one.counts)
    for term in state.anti_terms:
        for one in cluster.labels.matching(_namespaces(term), term.selector):
            _spread_out(state.anti, cluster, term.topology_key, one.counts)


def _namespaces(expanded: AffinityTerm) -> frozenset[str] | None:
    return None if expanded.namespace_selector.is_empty else expanded.namespaces


def _spread_out(pairs: Pairs, cluster: ClusterState, key: str, amounts: Mapping[int, int]) -> None:
    codes, values = cluster.domains(key).code_by_node, cluster.domains(key).values
    for index, amount in amounts.items():
        if codes[index] >= 0:
            _add(pairs, key, values[codes[index]], amount)


def _shift(state: InterPodAffinityState, other: Facts, labels: Labels, change: int) -> None:
    own, them = state.own.labels, other.labels
    for term in other.anti_affinity:
        if term.matches(own.namespace, own.labels, state.namespace_labels):
            _update(state.existing_anti, term.topology_key, labels, change)
    if matches_all(state.affinity_terms, them.namespace, them.labels):
        for term in state.affinity_terms:
            _update(state.affinity, term.topology_key, labels, change)
    for term in state.anti_terms:
        if term.matches(them.namespace, them.labels, {}):
            _update(state.anti, term.topology_key, labels, change)


def _update(pairs: Pairs, key: str, labels: Labels, change: int) -> None:
    if key in labels:
        _add(pairs, key, labels[key], change)


def _add(pairs: Pairs, key: str, value: str, change: int) -> None:
    amounts = pairs.setdefault(key, {})
    amounts[value] = amounts.get(value, 0) + change
    if not amounts[value]:
        del amounts[value]


def _count(pairs: Pairs, key: str, labels: Labels) -> int:
    return pairs.get(key, {}).get(labels.get(key, ""), 0) if key in labels else 0


def _copy(pairs: Pairs) -> Pairs:
    return {key: dict(amounts) for key, amounts in pairs.items()}


FILTER = Filter(
    NAME, prefilter, check, masks=masks, add_task=add_task, remove_task=remove_task, clone=lambda state: state.clone()
)
