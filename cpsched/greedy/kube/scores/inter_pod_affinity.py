"""Preferred neighbours, both ways; mirrors `plugins/interpodaffinity/scoring.go`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from cpsched.greedy.kube.scores.contract import HIGHEST, ScoreRequest, Scores
from cpsched.greedy.kube.terms import Weighted, Wishes
from cpsched.selectors import AffinityTerm, Labels

Pairs = dict[str, Scores]
"""Topology key → what each of its values is worth."""
Match = tuple[str, int, Mapping[int, int]]
"""A topology key, a weight, and how many pods on which node match."""


def score(request: ScoreRequest) -> Scores | None:
    """100 for the node with the best neighbours, 0 if all are alike; skipped if no term matches any pod."""
    own = request.snapshot.terms.of(request.task)
    prefers = bool(own.preferred or own.preferred_anti)
    if request.framework.profile.args.inter_pod_affinity.ignore_preferred_terms_of_existing_pods and not prefers:
        return None
    worth: Pairs = {}
    for key, weight, counts in (*_own_matches(request, own), *_others_matches(request)):
        _add(worth, request, key, weight, counts)
    if not worth:
        return None
    total = np.zeros(len(request.places), dtype=np.int64)
    for key, values in worth.items():
        codes = request.pick(request.snapshot.cluster.domains(key).codes)
        total += np.where(codes >= 0, values[codes], 0)
    spread = int(total.max() - total.min())
    if spread <= 0:
        return np.zeros_like(total)
    return np.asarray(HIGHEST * ((total - total.min()) / spread), dtype=np.int64)


def _own_matches(request: ScoreRequest, own: Wishes) -> Iterator[Match]:
    """Pods that the task likes or dislikes."""
    cluster = request.snapshot.cluster
    for terms, sign in ((own.preferred, 1), (own.preferred_anti, -1)):
        for term, weight in terms:
            merged = _merged(request, term)
            namespaces = None if merged.namespace_selector.matches({}) else merged.namespaces
            for one in cluster.labels.matching(namespaces, merged.selector):
                yield term.topology_key, sign * weight, one.counts


def _merged(request: ScoreRequest, term: AffinityTerm) -> AffinityTerm:
    """The term over existing namespaces; up to 1.36 its namespace selector is then still asked, about no labels."""
    expanded = term.expanded(request.snapshot.cluster.namespaces)
    if request.framework.version == "head":
        return expanded
    return AffinityTerm(expanded.namespaces, term.namespace_selector, term.selector, term.topology_key)


def _others_matches(request: ScoreRequest) -> Iterator[Match]:
    """Pods that like or dislike the task, or require its company."""
    hard_weight = request.framework.profile.args.inter_pod_affinity.hard_pod_affinity_weight
    cluster, task = request.snapshot.cluster, request.task
    labels = cluster.namespaces.get(task.namespace, {})
    for wishes, counts in request.snapshot.terms.counts.items():
        if counts:
            for key, weight in _about(request, wishes, labels, hard_weight):
                yield key, weight, counts


def _about(request: ScoreRequest, wishes: Wishes, labels: Labels, hard_weight: int) -> list[tuple[str, int]]:
    """Which of another pod's terms mean the task, by topology key and weight."""
    task, memo = request.task, request.snapshot.cluster.memo
    key = ("InterPodAffinity", "about", wishes, request.snapshot.cluster.facts(task).labels.number, hard_weight)
    found: list[tuple[str, int]] | None = memo.get(key)
    if found is None:
        required: Weighted = tuple((term, hard_weight) for term in wishes.required if hard_weight > 0)
        negated: Weighted = tuple((term, -weight) for term, weight in wishes.preferred_anti)
        found = memo[key] = [
            (term.topology_key, weight)
            for term, weight in (*required, *wishes.preferred, *negated)
            if term.matches(task.namespace, task.labels, labels)
        ]
    return found


def _add(worth: Pairs, request: ScoreRequest, key: str, weight: int, counts: Mapping[int, int]) -> None:
    """Add a match to the values of the nodes it is on; one on nodes without the key leaves no trace."""
    domains = request.snapshot.cluster.domains(key)
    for index, amount in counts.items():
        code = domains.code_by_node[index]
        if code >= 0:
            if key not in worth:
                worth[key] = np.zeros(len(domains.values), dtype=np.int64)
            worth[key][code] += weight * amount
