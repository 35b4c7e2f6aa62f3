"""Fewer PreferNoSchedule taints that the pod does not tolerate; mirrors `plugins/tainttoleration`."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from cpsched.greedy.kube.scores.contract import ScoreRequest, Scores, normalized
from cpsched.objects.affinity import Toleration
from cpsched.objects.node import Taint
from cpsched.selectors import tolerates

NAME = "TaintToleration"


def score(request: ScoreRequest) -> Scores:
    """100 for the node with the fewest, never skipped."""
    cluster, features = request.snapshot.cluster, request.framework.args.features
    key = (NAME, "PreferNoSchedule", cluster.facts(request.task).tolerations, features.taint_comparison)
    counts = cluster.memo.get(key)
    if counts is None:
        tolerations = [t for t in request.task.pod.spec.tolerations if t.effect in ("", "PreferNoSchedule")]
        taints = (node.node.node.spec.taints for node in cluster.node_list)
        counted = [_count(one, tolerations, comparison=features.taint_comparison) if one else 0 for one in taints]
        counts = cluster.memo[key] = np.array(counted, dtype=np.int64)
    return normalized(request.pick(counts), reverse=True)


def _count(taints: Iterable[Taint], tolerations: list[Toleration], *, comparison: bool) -> int:
    return sum(
        taint.effect == "PreferNoSchedule" and not any(tolerates(t, taint, comparison=comparison) for t in tolerations)
        for taint in taints
    )
