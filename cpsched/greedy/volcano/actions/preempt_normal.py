"""Evict in victim order on the best node until the task fits; mirrors `normalPreempt` of `actions/preempt`."""

from __future__ import annotations

from collections.abc import Sequence

from cpsched.greedy.volcano.actions.hunt import Hunt
from cpsched.greedy.volcano.amounts import give
from cpsched.greedy.volcano.fast.board import NodeSet
from cpsched.greedy.volcano.nodes import NodeAccount
from cpsched.greedy.volcano.search import Nodes, enough, ranked
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.statement import Statement
from cpsched.greedy.volcano.status import Status
from cpsched.greedy.volcano.tasks import TaskState
from cpsched.resources import is_empty


def preempt_normally(session: Session, statement: Statement, hunt: Hunt, nodes: Nodes) -> bool:
    """Take the first node in score order that works, even one on which nobody need go."""
    if not nodes:
        return False
    if any(_preempt_on(session, statement, hunt, node) for node in _ranked(session, hunt, nodes)):
        return True
    session.story.note(hunt.task.key, "preempt", f"no node among {len(nodes)} can be cleared for it")
    return False


def _ranked(session: Session, hunt: Hunt, nodes: Nodes) -> Nodes:
    if session.board is not None and isinstance(nodes, NodeSet):
        worth = session.board.preempting(hunt.task, within_job=hunt.within_job)
        return session.board.ranked(hunt.task, nodes, worth)
    return ranked(session, hunt.task, nodes)


def _preempt_on(session: Session, statement: Statement, hunt: Hunt, node: NodeAccount) -> bool:
    task = hunt.task
    candidates = session.victim_candidates("preemptable", filter(hunt.may_go, node.tasks.values()))
    victims = session.victims("preemptable", task, candidates)
    if not enough(task, node, victims):
        return False
    if victims and _is_doomed(session, task, node, victims):
        _leave_traces(session, task, victims)
        return False
    attempt, evicted = Statement(session), dict[str, float]()
    waiting = session.victims_queue(victims, task)
    fits = _fits(session, task, node)
    while waiting and not fits:
        victim = waiting.pop()
        attempt.evict(victim, "preempt", task)
        session.story.tell(f"  {victim.key} on {node.name} goes for {task.key}")
        give(evicted, victim.request)
        fits = _fits(session, task, node)
    if fits and attempt.pipeline(task, node, after_eviction=not is_empty(evicted)):
        session.story.tell(f"  {task.key} reserves room on {node.name}")
        statement.merge(attempt)
        return True
    attempt.discard()
    return False


def _is_doomed(session: Session, task: TaskState, node: NodeAccount, victims: Sequence[TaskState]) -> bool:
    """Whether the queue could not take the task even if all victims went; for queues that proportion alone limits."""
    if session.board is None or session.story.wanted or not session.only_proportion_limits:
        return False
    for conf, picture in session.simulations(task, node):
        if conf.name == "proportion" and conf.on("enabledAllocatable") and conf.on("enablePredicate"):
            return all(picture.remove(victim) for victim in victims) and not picture.allocatable()
    return False


def _leave_traces(session: Session, task: TaskState, victims: Sequence[TaskState]) -> None:
    """What is left when all victims are evicted in vain and restored: all but the filters' picture is as before."""
    for victim in victims:
        session.deallocated(victim)
    if refusal := session.not_allocatable(session.queue_of(task), task):
        session.story.note(task.key, "preempt", refusal)
    for victim in victims:
        if victim.status is Status.BOUND:
            session.jobs[victim.job].set_status(victim, Status.RUNNING)
        session.allocated(victim)


def _fits(session: Session, task: TaskState, node: NodeAccount) -> bool:
    """The queue may take it, the node has room, and every filter passes."""
    if refusal := session.not_allocatable(session.queue_of(task), task):
        session.story.note(task.key, "preempt", refusal)
        return False
    return node.fits_future(task.request) and session.predicate(task, node) is None
