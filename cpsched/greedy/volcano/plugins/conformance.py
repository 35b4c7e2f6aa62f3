"""conformance: critical pods are never victims; mirrors `plugins/conformance/conformance.go`."""

from __future__ import annotations

from collections.abc import Sequence

from cpsched.greedy.volcano.hooks import PERMIT, GangEviction, Hooks
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.policy import PluginConf


def conformance(session: Session, conf: PluginConf) -> Hooks:
    """Spare critical classes and kube-system."""
    return Hooks(preemptable=_victims, reclaimable=_victims, evictable=_evictable)


def _victims(preemptor: TaskState, candidates: Sequence[TaskState]) -> tuple[list[TaskState], int]:
    return [candidate for candidate in candidates if not candidate.task.pod.is_critical], PERMIT


def _evictable(eviction: GangEviction, candidates: Sequence[TaskState]) -> tuple[list[TaskState], int]:
    return [candidate for candidate in candidates if not candidate.task.pod.is_critical], PERMIT
