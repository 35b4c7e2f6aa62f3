"""Room on storage for the pod's claims; mirrors `plugins/volumebinding` as far as it goes."""

from __future__ import annotations

import numpy as np

from cpsched.greedy.kube.scores.contract import ScoreRequest, Scores


def score(request: ScoreRequest) -> Scores | None:
    """Skipped up to 1.36; since then capacities count for pods with unbound claims, which is not mirrored."""
    return None if request.framework.version == "1.36" else np.zeros(len(request.places), dtype=np.int64)
