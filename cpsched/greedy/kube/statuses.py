"""Why each node does not do; mirrors `framework.NodeToStatus` and `FitError`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from cpsched.filters.status import Code, Status

UNKNOWN = Status(Code.UNRESOLVABLE)
NO_NODES = "no nodes available to schedule pods"


@dataclass
class NodeStatuses:
    """Explicit statuses per node, and the one of all others."""

    explicit: dict[str, Status] = field(default_factory=dict)
    absent: Status = UNKNOWN

    def get(self, node: str) -> Status:
        """The node's status, of a node that does not exist too."""
        return self.explicit.get(node, self.absent)

    def with_code(self, nodes: Iterable[str], code: Code) -> list[str]:
        """Of these nodes those with the code."""
        explicit, absent = self.explicit, self.absent
        return [node for node in nodes if explicit.get(node, absent).code is code]

    def of(self, nodes: Sequence[str]) -> Mapping[str, Status]:
        """The statuses of these nodes, which are all there are."""
        if len(self.explicit) == len(nodes):
            return self.explicit
        return {node: self.get(node) for node in nodes}

    def reasons(self, nodes: int) -> Counter[str]:
        """How many of so many nodes have each reason."""
        by_id = {id(status): status for status in self.explicit.values()}
        counts: Counter[str] = Counter()
        for number, amount in Counter(map(id, self.explicit.values())).items():
            for reason in by_id[number].reasons:
                counts[reason] += amount
        if nodes > len(self.explicit):
            for reason in self.absent.reasons:
                counts[reason] += nodes - len(self.explicit)
        return counts


def fit_message(nodes: int, statuses: NodeStatuses, pre_filter: str = "", post_filter: str = "") -> str:
    """Why no node fits, in upstream's words."""
    message = f"0/{nodes} nodes are available:"
    if pre_filter:
        message += f" {pre_filter}."
    else:
        # Upstream sorts the finished texts byte by byte, so "10 x" comes before "2 x".
        reasons = sorted((f"{count} {reason}" for reason, count in statuses.reasons(nodes).items()), key=str.encode)
        if reasons:
            message += f" {', '.join(reasons)}."
    return f"{message} {post_filter}" if post_filter else message
