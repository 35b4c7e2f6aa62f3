"""Room left or used on the node, by strategy; mirrors `plugins/noderesources` (least_allocated.go and its siblings)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from cpsched import resources
from cpsched.greedy.kube.scores.contract import HIGHEST, ScoreRequest, Scores
from cpsched.greedy.kube.scores.curve import Curve, rounded
from cpsched.greedy.kube.usage import incoming_nonzero
from cpsched.policy.kube_args import ScoringStrategy

Amounts = npt.NDArray[Any]


def score(request: ScoreRequest) -> Scores:
    """A weighted mean over the strategy's resources, never skipped."""
    strategy = request.framework.profile.args.fit.scoring_strategy
    one = _score_of(strategy)
    drop_zero = strategy.type == "RequestedToCapacityRatio"
    total = np.zeros(len(request.places), dtype=np.int64)
    weights = np.zeros(len(request.places), dtype=np.int64)
    for resource in strategy.resources:
        found = _amounts(request, resource.name)
        if found is None:
            continue
        requested, allocatable = found
        counts = np.asarray(allocatable != 0, dtype=np.bool_)
        scored = np.asarray(one(requested, np.where(counts, allocatable, 1)), dtype=np.int64)
        if drop_zero:
            counts &= scored > 0
        total += np.where(counts, scored * resource.weight, 0)
        weights += np.where(counts, resource.weight, 0)
    divisor = np.maximum(weights, 1)
    return rounded(total / divisor) if drop_zero else total // divisor


def _amounts(request: ScoreRequest, name: str) -> tuple[Amounts, Amounts] | None:
    """Requested with the task, and allocatable; None for a scalar the task does not ask for."""
    task, room, usage = request.task, request.snapshot.cluster.room, request.snapshot.usage
    allocatable = request.pick(room.allocatable(name))
    if name in ("cpu", "memory"):
        used = request.pick(usage.cpu if name == "cpu" else usage.memory)
        asked = incoming_nonzero(task)[name]
    else:
        asked = task.kube_requests.get(name, 0)
        if asked == 0 and resources.is_scalar(name):
            return None
        used = allocatable - request.pick(room.free(name))
    return (used * 0 if request.bare else used) + asked, allocatable


def _score_of(strategy: ScoringStrategy) -> Callable[[Amounts, Amounts], Amounts]:
    if strategy.type == "LeastAllocated":
        return lambda used, have: np.where(used > have, 0, (have - used) * HIGHEST // have)
    if strategy.type == "MostAllocated":
        return lambda used, have: np.minimum(used, have) * HIGHEST // have
    assert strategy.requested_to_capacity_ratio is not None
    curve = Curve(strategy.requested_to_capacity_ratio.shape)
    return lambda used, have: curve(np.where(used > have, HIGHEST, used * HIGHEST // have))
