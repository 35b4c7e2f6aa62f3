"""kube-scheduler's mirror: one pod at a time, filters, scores, preemption."""

from __future__ import annotations

from cpsched.greedy.kube.engine import decide, outcomes, replay
from cpsched.greedy.kube.options import Options
from cpsched.greedy.kube.report import Attempt, PreemptionCandidate, Run

__all__ = ["Attempt", "Options", "PreemptionCandidate", "Run", "decide", "outcomes", "replay"]
