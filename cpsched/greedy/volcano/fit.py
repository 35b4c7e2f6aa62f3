"""Why tasks do not fit nodes, in upstream's words; mirrors `pkg/scheduler/api/unschedule_info.go`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from cpsched.filters.status import Code, Status, unschedulable

_ABORTS = frozenset({Code.UNRESOLVABLE, Code.ERROR, Code.WAIT, Code.SKIP})


def aborts(status: Status) -> bool:
    """Whether no further filter is asked."""
    return status.code in _ABORTS


@dataclass(frozen=True, slots=True)
class FitError:
    """Everything that speaks against one node."""

    statuses: tuple[Status, ...]

    @property
    def unresolvable(self) -> bool:
        """No eviction helps."""
        return any(status.code is Code.UNRESOLVABLE for status in self.statuses)

    @property
    def blocks_allocation(self) -> bool:
        """The node is out for allocate and backfill."""
        return any(status.code is Code.UNSCHEDULABLE for status in self.statuses) or self.blocks_preemption

    @property
    def blocks_preemption(self) -> bool:
        """The node is out for preempt and reclaim too."""
        return any(status.code in _ABORTS for status in self.statuses)

    @property
    def reasons(self) -> Iterable[str]:
        """One text per status."""
        return (text for status in self.statuses if (text := ", ".join(status.reasons)))


@dataclass
class FitErrors:
    """Why a task found no node: one text for all, or an error per node."""

    text: str = ""
    by_node: dict[str, FitError] = field(default_factory=dict)
    hyper_node: str = ""
    """The HyperNode whose nodes were tried, if not all nodes were."""

    @classmethod
    def everywhere(cls, reason: str, nodes: Iterable[str]) -> FitErrors:
        """The same error on every node."""
        error = FitError((Status(Code.ERROR, (reason,)),))
        return cls(by_node=dict.fromkeys(nodes, error))

    def unresolvable_nodes(self) -> set[str]:
        """Nodes on which no eviction helps."""
        return {name for name, error in self.by_node.items() if error.unresolvable}

    def message(self) -> str:
        """The text for the pod."""
        start = self.text or f"0/{len(self.by_node)} nodes are unavailable"
        if not self.by_node:
            return start
        counts = Counter(reason for error in self.by_node.values() for reason in error.reasons)
        return f"{self._where()}{start}: {', '.join(sorted(f'{count} {reason}' for reason, count in counts.items()))}."

    def _where(self) -> str:
        return f"In hyperNode {self.hyper_node}: " if self.hyper_node else ""


def insufficient(names: list[str]) -> FitError:
    """Too little of a resource; upstream names the first only."""
    return FitError((Status(Code.UNSCHEDULABLE, (f"Insufficient {names[0]}",)),))


TOO_MANY_PODS = unschedulable("predicates", "node(s) pod number exceeded")
NOT_IN_SHARD = FitError((Status(Code.ERROR, ("node isn't in scheduler node shard",)),))
