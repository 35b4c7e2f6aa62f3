"""nodegroup: queues keep to groups of nodes, and to limits there; mirrors `plugins/nodegroup/nodegroup.go`."""

from __future__ import annotations

from cpsched.filters.status import error, unresolvable
from cpsched.greedy.volcano.amounts import Amounts, give, take
from cpsched.greedy.volcano.fit import FitError
from cpsched.greedy.volcano.hooks import Hooks
from cpsched.greedy.volcano.nodes import NodeAccount
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.status import ALLOCATED
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.policy import PluginConf
from cpsched.resources import THRESHOLD
from cpsched.snapshot.node_rules.queue_groups import LABEL, GroupRules, affinity_of, limits_of

NAME = "nodegroup"


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
        self._rules = {
            name: GroupRules(affinity_of(queue, session.queues, inherit=inherit))
            for name, queue in session.queues.items()
        }
        self._limits = {name: limits_of(queue) for name, queue in session.queues.items()}
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
