"""The rule `nodegroup`: queues keep to their groups of nodes, and to their limits there."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from cpsched.instance import HOLDS_ROOM, Task
from cpsched.policy import PluginConf
from cpsched.snapshot.node_rules.queue_groups import LABEL, GroupRules, Limits, affinity_of, limits_of

if TYPE_CHECKING:
    from cpsched.snapshot import Snapshot


class GroupRule:
    """The groups of all nodes, and what every queue may do there."""

    def __init__(self, snapshot: Snapshot, plugin: PluginConf, exempt: frozenset[str] = frozenset()):
        queues, self._snapshot, self.exempt = snapshot.instance.queues, snapshot, exempt
        self.group_by_node = {name: node.labels.get(LABEL) for name, node in snapshot.instance.nodes.items()}
        self._strict, inherit = plugin.arguments.boolean("strict"), plugin.on("enableHierarchy")
        self._rules = {name: GroupRules(affinity_of(one, queues, inherit=inherit)) for name, one in queues.items()}
        self._limits: dict[str, Limits | None] = {name: limits_of(queue) for name, queue in queues.items()}
        self._refused: dict[str, dict[str, str]] = {}

    def refused(self, task: Task) -> Mapping[str, str]:
        """Nodes of groups that the rules of its queue do not name."""
        queue = self._snapshot.queue_of(task)
        if queue is None or task.key in self.exempt:
            return {}
        if queue.name not in self._refused:
            reasons = {node: self._objection(queue.name, group) for node, group in self.group_by_node.items()}
            self._refused[queue.name] = {node: reason for node, reason in reasons.items() if reason}
        return self._refused[queue.name]

    def mark(self, task: Task) -> Hashable:
        """Nothing: the queue and the requests are all it reads."""
        return None

    def _objection(self, queue: str, group: str | None) -> str:
        rules = self._rules[queue]
        if self._limits[queue] is None:
            return f"the limits of queue {queue} on node groups cannot be read"
        if group is None:
            open_ = rules.is_empty and not self._strict
            return "" if open_ else "the node is of no group"
        if rules.is_empty:
            return f"queue {queue} names no node group"
        return "" if rules.means(group) else f"queue {queue} keeps off node group {group}"

    @cached_property
    def left(self) -> dict[tuple[str, str], dict[str, int]]:
        """Per queue and group what the queue may still take there of each resource that is limited; less than 0 too."""
        found = {
            (queue, group): {name: limit.get(name, 0) for name in names}
            for queue, limits in self._limits.items()
            for group, (names, limit) in (limits or {}).items()
        }
        for task in self._snapshot.instance.tasks.values() if found else ():
            owner = self._snapshot.queue_of(task) if task.status in HOLDS_ROOM else None
            group = self.group_by_node.get(task.node)
            if owner is not None and group is not None and (owner.name, group) in found:
                room = found[owner.name, group]
                for name in room:
                    room[name] -= task.requests.get(name, 0)
        return found
