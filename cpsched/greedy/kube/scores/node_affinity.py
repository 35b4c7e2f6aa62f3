"""The weights of preferred node terms that match; mirrors `plugins/nodeaffinity`."""

from __future__ import annotations

import numpy as np

from cpsched.greedy.kube.scores.contract import ScoreRequest, Scores, normalized
from cpsched.objects.affinity import NodeSelector, PreferredTerm
from cpsched.selectors import NodeTerms, node_selector

NAME = "NodeAffinity"
Weighted = tuple[tuple[NodeTerms, int], ...]


def score(request: ScoreRequest) -> Scores | None:
    """100 for the best node; skipped if neither pod nor profile prefers anything."""
    added = request.framework.args.added_affinity
    stated = request.task.pod.spec.affinity.node_affinity.preferred
    if added is not None:
        stated = (*stated, *added.preferred)
    if not stated:
        return None
    terms = tuple(_parsed(one) for one in stated)
    cluster = request.snapshot.cluster
    sums = cluster.memo.get((NAME, "preferred", terms))
    if sums is None:
        nodes = cluster.node_list
        weights = (sum(weight for term, weight in terms if term.matches(n.labels, n.name)) for n in nodes)
        sums = cluster.memo[NAME, "preferred", terms] = np.fromiter(weights, dtype=np.int64, count=len(nodes))
    return normalized(request.pick(sums))


def _parsed(term: PreferredTerm) -> tuple[NodeTerms, int]:
    selector = NodeSelector.model_construct(node_selector_terms=(term.preference,))
    return node_selector(selector), term.weight
