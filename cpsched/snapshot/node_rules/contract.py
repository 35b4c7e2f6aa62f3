"""What a rule about nodes offers: where a task may never be, and what it reads of a task."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Protocol

from cpsched.instance import Task


class NodeRule(Protocol):
    """A plugin's rule about which nodes hold which tasks, as the snapshot shows it."""

    exempt: frozenset[str]
    """Tasks of which the rule is not asked; only an explanation names any."""

    def refused(self, task: Task) -> Mapping[str, str]:
        """Nodes on which the task may not be whatever else is placed or evicted, with the reason."""

    def mark(self, task: Task) -> Hashable:
        """What the rule reads of a task beyond its queue, labels and requests: equal for tasks it cannot tell apart."""
