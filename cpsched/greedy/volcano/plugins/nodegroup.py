"""nodegroup: queues keep to groups of nodes, and to limits there; mirrors `plugins/nodegroup/nodegroup.go`."""

from __future__ import annotations

import json
from collections.abc import Mapping

from cpsched.filters.status import error, unresolvable
from cpsched.greedy.volcano.amounts import Amounts, give, take
from cpsched.greedy.volcano.fit import FitError
from cpsched.greedy.volcano.hooks import Hooks
from cpsched.greedy.volcano.nodes import NodeAccount
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.status import ALLOCATED
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.instance import Queue
from cpsched.objects.groups import QueueAffinity
from cpsched.policy import PluginConf
from cpsched.quantity import nano
from cpsched.resources import THRESHOLD, from_quantities

NAME = "nodegroup"
LABEL = "volcano.sh/nodegroup-name"
LIMITS = "volcano.sh/nodegroup-resource-limits"

Limits = Mapping[str, tuple[tuple[str, ...], Amounts]]
"""group → the names that are limited, and the limits in the scheduler's units."""


def nodegroup(session: Session, conf: PluginConf) -> Hooks:
    """Let tasks onto the groups of their queue's rules, up to its limits there."""
    plugin = QueueGroups(session, conf)
    return Hooks(
        predicate=plugin.check,
        node_order=plugin.score,
        on_allocate=plugin.allocated,
        on_deallocate=plugin.deallocated,
    )


class QueueGroups:
    """The rules of every queue, and what queues hold in groups."""

    def __init__(self, session: Session, conf: PluginConf):
        self._session = session
        self._strict = conf.arguments.boolean("strict")
        self._ordered = conf.arguments.boolean("enablePreferredOrder")
        inherit = conf.on("enableHierarchy")
        self._rules = {name: _Rules(_affinity(queue, session, inherit)) for name, queue in session.queues.items()}
        self._limits = {name: _limits(queue) for name, queue in session.queues.items()}
        self._held: dict[tuple[str, str], Amounts] = {}
        for job in session.jobs.values():
            for status in ALLOCATED:
                for task in job.by_status[status].values():
                    self.allocated(task)

    def check(self, task: TaskState, node: NodeAccount) -> FitError | None:
        """The objection, None if the task may go there; no eviction helps against any."""
        if task.job not in self._session.jobs:
            return FitError((error(NAME, f"job {task.job} is not in the session"),))
        reason = self._objection(task, node)
        return None if reason is None else FitError((unresolvable(NAME, reason),))

    def _objection(self, task: TaskState, node: NodeAccount) -> str | None:
        queue = self._session.jobs[task.job].queue
        rules, limits, group = self._rules[queue], self._limits[queue], node.node.labels.get(LABEL)
        if limits is None:
            return "node group resource limit annotation invalid"
        if group is None:
            return None if not self._strict and rules.is_empty else "node group label not found"
        if rules.is_empty:
            return "node group affinity not specified"
        if not rules.admits(group):
            return "node does not satisfy the node group affinity"
        names, limit = limits.get(group, ((), {}))
        held = self._held.get((queue, group), {})
        if any(held.get(n, 0) + task.request.get(n, 0) - limit.get(n, 0) >= THRESHOLD for n in names):
            return "node group resource limit exceeded"
        return None

    def score(self, task: TaskState, node: NodeAccount) -> float:
        """How well the group suits the queue."""
        group, job = node.node.labels.get(LABEL), self._session.jobs.get(task.job)
        if group is None or job is None or self._rules[job.queue].is_empty:
            return 0.0
        return self._rules[job.queue].score(group, ordered=self._ordered)

    def allocated(self, task: TaskState) -> None:
        """A task of a queue comes to a group."""
        self._book(task, give)

    def deallocated(self, task: TaskState) -> None:
        """It goes, be it only tentatively."""
        self._book(task, take)

    def _book(self, task: TaskState, how: object) -> None:
        node, job = self._session.nodes.get(task.node), self._session.jobs.get(task.job)
        group = None if node is None else node.node.labels.get(LABEL)
        if group is not None and job is not None:
            (give if how is give else take)(self._held.setdefault((job.queue, group), {}), task.request)


class _Rules:
    """A queue's rules about groups."""

    def __init__(self, affinity: QueueAffinity | None):
        affinity = affinity or QueueAffinity()
        self._required, self._preferred = affinity.node_group_affinity.required, affinity.node_group_affinity.preferred
        anti = affinity.node_group_anti_affinity
        self._forbidden, self._avoided = anti.required, anti.preferred
        self.is_empty = not (self._required or self._preferred or self._forbidden or self._avoided)

    def admits(self, group: str) -> bool:
        """Whether its tasks may go there: a group that is only to be avoided is admitted, even a forbidden one."""
        if group in self._avoided:
            return True
        return group in (*self._required, *self._preferred) and group not in self._forbidden

    def score(self, group: str, *, ordered: bool) -> float:
        """100 for a required group, up to 50 for a preferred one, -1 for one to avoid."""
        if group in self._avoided:
            return -1.0
        total = 100.0 if group in self._required else 0.0
        if group in self._preferred:
            count = len(set(self._preferred))
            last = len(self._preferred) - 1 - self._preferred[::-1].index(group)
            total += 50.0 * (count - last) / count if ordered else 50.0
        return total


def _affinity(queue: Queue, session: Session, inherit: bool) -> QueueAffinity | None:
    """The queue's own, or that of the nearest queue above it that has one."""
    seen: set[str] = set()
    current: Queue | None = queue
    while current is not None and current.name not in seen:
        if current.queue.spec.affinity is not None or not inherit:
            return current.queue.spec.affinity
        seen.add(current.name)
        current = None if current.name == "root" else session.queues.get(current.parent or "root")
    return None


def _limits(queue: Queue) -> Limits | None:
    """The queue's limits; None if the annotation cannot be read."""
    text = queue.queue.metadata.annotations.get(LIMITS)
    if not text:
        return {}
    try:
        stated = json.loads(text)
        groups = () if stated is None else stated.items()
        return {group: _limit({} if amounts is None else amounts) for group, amounts in groups}
    except (ValueError, AttributeError, RecursionError):
        return None


def _limit(amounts: Mapping[str, object]) -> tuple[tuple[str, ...], Amounts]:
    quantities: dict[str, str | float] = {}
    for name, amount in amounts.items():
        if isinstance(amount, bool) or not isinstance(amount, str | int | float):
            raise ValueError("not a quantity")
        nano(amount)
        quantities[name] = amount
    # What the scheduler's resources have no place for is compared as nothing with nothing.
    vector = from_quantities(quantities)
    return tuple(name for name in quantities if name in vector), dict(vector)
