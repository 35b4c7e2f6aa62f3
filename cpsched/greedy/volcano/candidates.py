"""What preempt or reclaim would do for one task on each node, were it tried there, first and alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cpsched.greedy.outcomes import First
from cpsched.greedy.volcano.actions.hunt import Hunt
from cpsched.greedy.volcano.actions.preempt import not_eligible
from cpsched.greedy.volcano.actions.preempt_normal import preempt_normally
from cpsched.greedy.volcano.actions.preempt_topology import preempt_by_dry_run
from cpsched.greedy.volcano.actions.reclaim import may_go, reclaim_on
from cpsched.greedy.volcano.nodes import NodeAccount
from cpsched.greedy.volcano.plugins import PLUGINS
from cpsched.greedy.volcano.search import enough, for_preemption
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.statement import Statement
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.greedy.volcano.trace import SessionTrace
from cpsched.instance import Instance
from cpsched.policy import Policy
from cpsched.snapshot.rights import Action


@dataclass(frozen=True)
class NodeTrial:
    """A node's victims in the order in which they go, or why there is no way."""

    victims: tuple[str, ...] | None
    reason: str = ""


class Trials:
    """One task, tried on nodes; every trial opens the session again, for an undone eviction leaves its traces."""

    def __init__(self, instance: Instance, policy: Policy, task: str, action: Action):
        self._instance, self._policy, self._task, self._action = instance, policy, task, action

    def refusal(self) -> str | None:
        """Why the task may evict no task anywhere, None if it may."""
        session = self._session()
        task = session.tasks[self._task]
        if self._action == "preempt":
            return not_eligible(session, task) or session.pre_predicate(task)
        if task.task.never_preempts:
            return "its preemptionPolicy is Never"
        refused = session.not_preemptive(session.queue_of(task), task.request)
        return refused.text() if refused else session.pre_predicate(task)

    def on(self, node: str) -> NodeTrial:
        """What happens on one node."""
        session = self._session()
        task, account = session.tasks[self._task], session.nodes[node]
        session.pre_predicate(task)
        error = for_preemption(session).ask(task, account)
        if error is not None:
            return NodeTrial(None, "; ".join(error.reasons))
        if self._try(session, task, [account]):
            return NodeTrial(tuple(session.evictions))
        return NodeTrial(None, self._why_not(node))

    def choice(self) -> str | None:
        """The node that the task is given, None if it finds none."""
        session = self._session()
        task = session.tasks[self._task]
        session.pre_predicate(task)
        ask = for_preemption(session).ask
        nodes = [node for node in session.node_list if ask(task, node) is None]
        return task.node if nodes and self._try(session, task, nodes) else None

    def _try(self, session: Session, task: TaskState, nodes: Sequence[NodeAccount]) -> bool:
        statement = Statement(session)
        if self._action == "reclaim":
            found = any(reclaim_on(session, statement, task, node) for node in nodes)
        else:
            topology_aware = session.conf.configurations["preempt"].boolean("enableTopologyAwarePreemption")
            attempt = preempt_by_dry_run if topology_aware else preempt_normally
            hunts = (Hunt(session, task, within_job=within) for within in (False, True))
            found = any(attempt(session, statement, hunt, nodes) for hunt in hunts)
        if found:
            statement.commit()
        return found

    def _why_not(self, node: str) -> str:
        session = self._session()
        task, account = session.tasks[self._task], session.nodes[node]
        hunt, point = Hunt(session, task, within_job=False), "preemptable"
        willing = [one for one in account.tasks.values() if hunt.may_go(one)]
        if self._action == "reclaim":
            willing, point = [one for one in account.tasks.values() if may_go(session, task, one)], "reclaimable"
        if not willing:
            return f"no task there may be evicted by {self._action}"
        victims = session.victims(point, task, session.victim_candidates(point, willing))
        if not victims:
            return f"the plugins spare all {len(willing)} who could be evicted"
        if not enough(task, account, victims):
            return f"not enough room even if all {len(victims)} victims go"
        return "does not fit even so: its queue or a filter refuses"

    def _session(self) -> Session:
        session = Session(self._instance, self._policy, First(), SessionTrace())
        session.open(PLUGINS)
        return session
