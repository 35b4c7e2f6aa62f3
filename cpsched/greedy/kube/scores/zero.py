"""Scores that are 0 wherever this mirror applies."""

from __future__ import annotations

import numpy as np

from cpsched.greedy.kube.scores.contract import Request, Scores


def dynamic_resources(request: Request) -> Scores:
    """Only a claim with alternatives (`firstAvailable`) would tell nodes apart; mirrors `plugins/dynamicresources`."""
    return np.zeros(len(request.places), dtype=np.int64)


def volume_binding(request: Request) -> Scores | None:
    """Skipped up to 1.36; since then capacities count, which is not mirrored; mirrors `plugins/volumebinding`."""
    return None if request.framework.version == "1.36" else np.zeros(len(request.places), dtype=np.int64)
