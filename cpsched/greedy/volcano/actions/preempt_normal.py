"""Evict in victim order on the best node until the task fits; mirrors `normalPreempt` of `actions/preempt`."""

from __future__ import annotations

from collections.abc import Sequence

from cpsched.greedy.volcano.actions.hunt import Hunt
from cpsched.greedy.volcano.amounts import give
from cpsched.greedy.volcano.fast.bulk_finder import BulkFinder, NodeSet
from cpsched.greedy.volcano.finder import Nodes
from cpsched.greedy.volcano.nodes import NodeAccount
from cpsched.greedy.volcano.search import enough, ranked
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.statement import Statement
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.resources import is_empty


def preempt_normally(session: Session, statement: Statement, hunt: Hunt, nodes: Nodes) -> bool:
    """Take the first node in score order that works, even one without any victim."""
    if not nodes:
        return False
    finder = session.bulk_finder
    if finder is not None and isinstance(nodes, NodeSet):
        done = _preempt_somewhere(session, finder, statement, hunt, nodes)
    else:
        done = any(_preempt_on(session, statement, hunt, node) for node in ranked(session, hunt.task, nodes))
    if not done:
        session.trace.note(hunt.task.key, "preempt", f"no node among {len(nodes)} can be cleared for it")
    return done


def _preempt_somewhere(session: Session, finder: BulkFinder, statement: Statement, hunt: Hunt, nodes: NodeSet) -> bool:
    """The fast path: nodes that cannot be cleared are left out, and of doomed attempts only the traces are left."""
    task = hunt.task
    prospect = finder.preempting(task, within_job=hunt.within_job)
    unsettled = finder.unsettled(prospect)
    doomed: NodeAccount | None = None
    lacks_cards = finder.lacks_cards(task, prospect)
    for node in finder.ranked(task, nodes, prospect.worth):
        if prospect.doomed[node.index] and not session.trace.wanted:
            doomed = node
            if node.index in unsettled:
                finder.leave_traces(finder.victims(prospect, node))
            continue
        if doomed is not None:
            _note_refusal(session, finder, task, finder.victims(prospect, doomed))
            doomed = None
        if lacks_cards(node):
            if node.index in unsettled:
                finder.leave_traces(finder.victims(prospect, node))
            continue
        if _preempt_on(session, statement, hunt, node):
            return True
    if doomed is not None:
        # Of refusals by one rule the last one's numbers stay.
        _note_refusal(session, finder, task, finder.victims(prospect, doomed))
    return False


def _note_refusal(session: Session, finder: BulkFinder, task: TaskState, gone: Sequence[TaskState]) -> None:
    if finder.limits is not None and (refusal := finder.limits.refusal(session.queue_of(task), task, gone)):
        session.trace.note(task.key, "preempt", refusal)


def _preempt_on(session: Session, statement: Statement, hunt: Hunt, node: NodeAccount) -> bool:
    task = hunt.task
    candidates = session.victim_candidates("preemptable", filter(hunt.may_go, node.tasks.values()))
    victims = session.victims("preemptable", task, candidates)
    if not enough(task, node, victims):
        return False
    if victims and _is_doomed(session, task, victims):
        return False
    attempt, evicted = Statement(session), dict[str, float]()
    waiting = session.victims_queue(victims, task)
    fits = _fits(session, task, node)
    while waiting and not fits:
        victim = waiting.pop()
        attempt.evict(victim, "preempt", task.job)
        session.trace.tell(f"  {victim.key} on {node.name} goes for {task.key}")
        give(evicted, victim.request)
        fits = _fits(session, task, node)
    if fits and attempt.pipeline(task, node, after_eviction=not is_empty(evicted)):
        session.trace.tell(f"  {task.key} reserves room on {node.name}")
        statement.merge(attempt)
        return True
    attempt.discard()
    return False


def _is_doomed(session: Session, task: TaskState, victims: Sequence[TaskState]) -> bool:
    """Whether the queue could not take the task even if all victims went; if so, the traces of trying are left."""
    finder = session.bulk_finder
    if finder is None or session.trace.wanted or finder.limits is None:
        return False
    refusal = finder.limits.refusal(session.queue_of(task), task, victims)
    if refusal is not None:
        finder.leave_traces(victims)
        session.trace.note(task.key, "preempt", refusal)
    return refusal is not None


def _fits(session: Session, task: TaskState, node: NodeAccount) -> bool:
    """The queue may take it, the node has room, and every filter passes."""
    if refusal := session.not_allocatable(session.queue_of(task), task):
        session.trace.note(task.key, "preempt", refusal)
        return False
    return node.fits_future(task.request) and session.predicate(task, node) is None
