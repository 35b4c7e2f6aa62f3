"""Does the pod even out the node's resources; mirrors `plugins/noderesources/balanced_allocation.go`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from cpsched import resources
from cpsched.greedy.kube.scores.contract import HIGHEST, ScoreRequest, Scores

HALF = HIGHEST // 2
Floats = npt.NDArray[np.float64]


def score(request: ScoreRequest) -> Scores | None:
    """75 where nothing changes, up to 100 where the balance improves; skipped if the pod asks for none of them."""
    names = [resource.name for resource in request.framework.profile.args.balanced_allocation.resources]
    asked = {name: request.task.kube_requests.get(name, 0) for name in names}
    if not any(asked.values()):
        return None
    counted = [name for name in names if asked[name] or not resources.is_scalar(name)]
    before = _balance(request, dict.fromkeys(counted, 0))
    after = _balance(request, {name: asked[name] for name in counted})
    return HALF + (HALF + after - before) // 2


def _balance(request: ScoreRequest, extra: dict[str, int]) -> Scores:
    """100 minus the standard deviation of the fractions in use, over the resources that the node has."""
    pairs = [_fraction(request, name, more) for name, more in extra.items()]
    if len(pairs) == 2 and all(has.all() for _, has in pairs):
        deviation = np.abs((pairs[0][0] - pairs[1][0]) / 2)
    else:
        deviation = np.array([_deviation([f[i] for f, has in pairs if has[i]]) for i in range(len(request.places))])
    return np.asarray((1 - deviation) * HIGHEST, dtype=np.int64)


def _fraction(request: ScoreRequest, name: str, more: int) -> tuple[Floats, npt.NDArray[np.bool_]]:
    room = request.snapshot.cluster.room
    allocatable: npt.NDArray[Any] = request.pick(room.allocatable(name))
    used = allocatable - request.pick(room.free(name))
    has = np.asarray(allocatable != 0, dtype=np.bool_)
    requested = (used * 0 if request.bare else used) + more
    fraction = np.asarray(requested, dtype=np.float64) / np.asarray(np.where(has, allocatable, 1), dtype=np.float64)
    return np.minimum(fraction, 1.0), has


def _deviation(fractions: list[Any]) -> float:
    values = [float(fraction) for fraction in fractions]
    if len(values) == 2:
        return abs((values[0] - values[1]) / 2)
    if len(values) < 2:
        return 0.0
    mean = _sum(values) / len(values)
    return math.sqrt(_sum([(value - mean) * (value - mean) for value in values]) / len(values))


def _sum(values: list[float]) -> float:
    """One after another, as Go adds; Python's own sum compensates."""
    total = 0.0
    for value in values:
        total += value
    return total
