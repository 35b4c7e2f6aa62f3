"""Try victims out on copies of nodes, take the least bad; mirrors `topologyAwarePreempt` of `actions/preempt`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cpsched.greedy.volcano.actions.hunt import Hunt
from cpsched.greedy.volcano.finder import Nodes
from cpsched.greedy.volcano.hooks import Simulation
from cpsched.greedy.volcano.nodes import NodeAccount
from cpsched.greedy.volcano.search import enough
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.statement import Statement
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.policy import PluginConf

_LIFT = 2**31


@dataclass(frozen=True)
class TopologyCandidate:
    """A node and whom it would cost, the most important first."""

    node: NodeAccount
    victims: tuple[TaskState, ...]


def preempt_by_dry_run(session: Session, statement: Statement, hunt: Hunt, nodes: Nodes) -> bool:
    """Collect candidates from a random node on, choose one, evict and reserve; never without an eviction."""
    if not nodes:
        return False
    task = hunt.task
    offset, wanted = session.choices.pick(len(nodes)), _candidates_wanted(session, len(nodes))
    found: list[TopologyCandidate] = []
    for step in range(len(nodes)):
        node = nodes[(offset + step) % len(nodes)]
        victims = _DryRun(session, task, node).victims(hunt)
        if victims:
            found.append(TopologyCandidate(node, tuple(victims)))
        if len(found) >= wanted:
            break
    if not found:
        session.trace.note(task.key, "preempt", f"no node among {len(nodes)} can be cleared for it")
        return False
    chosen = _chosen(session, found)
    attempt = Statement(session)
    for victim in chosen.victims:
        attempt.evict(victim, "preempt", task.job)
        session.trace.tell(f"  {victim.key} on {chosen.node.name} goes for {task.key}")
    if not attempt.pipeline(task, chosen.node, after_eviction=True):
        attempt.discard()
        return False
    session.trace.tell(f"  {task.key} reserves room on {chosen.node.name}")
    statement.merge(attempt)
    return True


def _candidates_wanted(session: Session, count: int) -> int:
    """How many candidates are enough (`calculateNumCandidates`)."""
    arguments = session.conf.configurations["preempt"]
    wanted = int(count * arguments.integer("minCandidateNodesPercentage") / 100)
    wanted = max(wanted, arguments.integer("minCandidateNodesAbsolute"))
    return min(wanted, arguments.integer("maxCandidateNodesAbsolute"), count)


class _DryRun:
    """One node on which victims are taken off and put back."""

    def __init__(self, session: Session, task: TaskState, node: NodeAccount):
        self._session, self._task = session, task
        self._node = node.clone()
        self._pictures: list[tuple[PluginConf, Simulation]] = session.simulations(task, node)

    def victims(self, hunt: Hunt) -> list[TaskState]:
        """The victims the task would need here; none means that the node is none (`SelectVictimsOnNode`)."""
        session, task, node = self._session, self._task, self._node
        candidates = session.victim_candidates("preemptable", filter(hunt.may_go, node.tasks.values()))
        named = session.victims("preemptable", task, candidates)
        if not enough(task, node, named):
            return []
        waiting, gone = session.victims_queue(named, task), list[TaskState]()
        while waiting:
            victim = waiting.pop()
            gone.append(victim)
            if not self._remove(victim):
                return []
            if self._fits():
                break
        if not gone or not self._predicate():
            return []
        return self._reprieve(gone)

    def _reprieve(self, gone: list[TaskState]) -> list[TaskState]:
        """Put back victims that need not go, the most important first."""
        final = []
        for victim in reversed(gone):
            if not self._add(victim):
                return []
            if not self._fits():
                if not self._remove(victim):
                    return []
                final.append(victim)
        return final

    def _remove(self, victim: TaskState) -> bool:
        if not all(picture.remove(victim) for picture in self._moving()):
            return False
        self._node.remove(victim)
        return True

    def _add(self, victim: TaskState) -> bool:
        if not all(picture.add(victim) for picture in self._moving()):
            return False
        return self._node.add(victim) is None

    def _fits(self) -> bool:
        if not all(picture.allocatable() for conf, picture in self._pictures if conf.on("enabledAllocatable")):
            return False
        return self._node.fits_future(self._task.request) and self._predicate()

    def _predicate(self) -> bool:
        return all(picture.predicate() for conf, picture in self._pictures if conf.on("enablePredicate"))

    def _moving(self) -> list[Simulation]:
        return [
            picture for conf, picture in self._pictures if conf.on("enablePreemptable") or conf.on("enabledAllocatable")
        ]


def _chosen(session: Session, found: Sequence[TopologyCandidate]) -> TopologyCandidate:
    """The least bad by four levels, then upstream's map order (`pickOneNodeForPreemption`)."""
    left = list(found)
    for level in (_first_priority, _priority_sum, _count, _start):
        if len(left) == 1:
            break
        scores = [level(session, candidate) for candidate in left]
        left = [candidate for candidate, score in zip(left, scores, strict=True) if score == max(scores)]
    return left[session.choices.pick(len(left))]


def _first_priority(session: Session, candidate: TopologyCandidate) -> int:
    return -candidate.victims[0].task.pod_priority


def _priority_sum(session: Session, candidate: TopologyCandidate) -> int:
    return -sum(victim.task.pod_priority + _LIFT for victim in candidate.victims)


def _count(session: Session, candidate: TopologyCandidate) -> int:
    return -len(candidate.victims)


def _start(session: Session, candidate: TopologyCandidate) -> int:
    """The earliest start among the victims of the highest priority; the later the better."""
    top = max(victim.task.pod_priority for victim in candidate.victims)
    return min(_started(session, victim) for victim in candidate.victims if victim.task.pod_priority == top)


def _started(session: Session, victim: TaskState) -> int:
    start = victim.task.pod.status.start_time
    return session.now if start is None else start
