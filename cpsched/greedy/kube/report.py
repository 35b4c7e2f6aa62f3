"""What one run of kube-scheduler did, pod by pod: the lower-level result of the mirror."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from cpsched.filters.status import Status

Result = Literal["bound", "unschedulable", "error", "skipped"]
Via = Literal["score", "only", "nominated", "hint", ""]
Nominating = Literal["set", "clear", "keep", ""]


@dataclass(frozen=True)
class PreemptionCandidate:
    """A node that preemption could use: whom it would evict, most important first, and the budgets it breaks.

    `pdb_violations` is kube's own count, which charges every potential victim; `true_violations` charges victims only.
    """

    node: str
    victims: tuple[str, ...]
    pdb_violations: int
    true_violations: int = 0

    def to_dict(self) -> dict[str, Any]:
        """As recorded."""
        return {"node": self.node, "victims": list(self.victims), "pdbViolations": self.pdb_violations}


@dataclass
class Attempt:
    """One try of one pod; fields that do not apply stay empty."""

    pod: str
    result: Result = "unschedulable"
    node: str = ""
    via: Via = ""
    feasible: tuple[str, ...] = ()
    scores: dict[str, dict[str, int]] = field(default_factory=dict)
    best: tuple[str, ...] = ()
    failed: Mapping[str, Status] = field(default_factory=dict)
    pre_filter_message: str = ""
    message: str = ""
    nominating: Nominating = ""
    nominated: str = ""
    victims: tuple[str, ...] = ()
    post_filter_message: str = ""
    cleared_nominations: tuple[str, ...] = ()
    eligible: bool | None = None
    ineligible_reason: str = ""
    candidates: tuple[PreemptionCandidate, ...] = ()
    dry_run_failed: Mapping[str, Status] = field(default_factory=dict)
    chosen: PreemptionCandidate | None = None
    reason: str = ""
    """Of the PodScheduled condition: Unschedulable or SchedulerError."""
    requeue: str = ""
    """Where the pod goes: unschedulable (until an event of its rejectors), backoff, or nowhere."""
    rejectors: tuple[str, ...] = ()
    """Plugins whose events wake the pod up again."""

    @property
    def event(self) -> str:
        """The FailedScheduling event's note, cut as the API demands."""
        return self.message if len(self.message) <= 1024 else self.message[:1020] + " ..."

    def to_dict(self) -> dict[str, Any]:
        """The attempt in the shape of the recorded rows."""
        full = {
            "pod": self.pod,
            "result": self.result,
            "node": self.node,
            "via": self.via,
            "feasible": list(self.feasible),
            "scores": self.scores,
            "best": list(self.best),
            "failed": {node: _status_dict(status) for node, status in self.failed.items()},
            "preFilterMessage": self.pre_filter_message,
            "message": self.message,
            "nominating": self.nominating,
            "nominated": self.nominated,
            "victims": list(self.victims),
            "postFilterMessage": self.post_filter_message,
            "clearedNominations": list(self.cleared_nominations),
            "eligible": self.eligible,
            "ineligibleReason": self.ineligible_reason,
            "candidates": [candidate.to_dict() for candidate in self.candidates],
            "dryRunFailed": {node: _status_dict(status) for node, status in self.dry_run_failed.items()},
        }
        return {key: value for key, value in full.items() if value not in ("", [], {}, None) or key == "feasible"}


@dataclass
class Run:
    """All attempts in queue order, and what is true afterwards."""

    attempts: list[Attempt] = field(default_factory=list)
    binds: dict[str, str] = field(default_factory=dict)
    evictions: list[tuple[str, str, str]] = field(default_factory=list)
    """Victim, node, preemptor."""
    nominations: dict[str, str] = field(default_factory=dict)
    unplaced: list[str] = field(default_factory=list)


def _status_dict(status: Status) -> dict[str, Any]:
    shape: dict[str, Any] = {"code": status.code.value}
    if status.plugin:
        shape["plugin"] = status.plugin
    return {**shape, "reasons": list(status.reasons)}
