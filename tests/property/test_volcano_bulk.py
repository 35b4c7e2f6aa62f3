"""What the fast path of the Volcano mirror tells of all nodes at once, against the plain question node by node."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from cpsched.greedy.volcano.actions.hunt import Hunt
from cpsched.greedy.volcano.actions.reclaim import may_go
from cpsched.greedy.volcano.fast.bulk_finder import BulkFinder
from cpsched.greedy.volcano.search import PlainFinder, enough, for_allocation, for_backfill, scores
from cpsched.greedy.volcano.session import Session
from cpsched.greedy.volcano.statement import Statement
from cpsched.greedy.volcano.status import PREEMPTABLE, Status
from cpsched.greedy.volcano.tasks import TaskState
from tests.property.test_volcano_fast_path import cluster
from tests.unit.greedy_volcano.cluster import conf, opened


def board_of(seed: int, nodes: int) -> tuple[Session, BulkFinder] | None:
    """A session whose plugins the fast path knows, in tiers of any order."""
    draw = random.Random(seed)
    plugins: list[str] = ["priority", "gang", "conformance", "proportion", "predicates", "nodeorder", "binpack"]
    draw.shuffle(plugins)
    cut = draw.choice([len(plugins), 2, 4])
    session = opened(cluster(seed, nodes), conf("allocate", *(t for t in (plugins[:cut], plugins[cut:]) if t)))
    session.bulk_finder = BulkFinder.over(session)
    return None if session.bulk_finder is None else (session, session.bulk_finder)


def move(draw: random.Random, session: Session, finder: BulkFinder) -> None:
    """Evict, place or reserve at random; keep some of it, undo the rest."""
    statement = Statement(session)
    for _ in range(draw.choice([1, 3])):
        placed = [task for task in session.tasks.values() if task.status in PREEMPTABLE and task.job in session.jobs]
        if placed and draw.random() < 0.2:
            finder.leave_traces(placed)
            continue
        waiting = _waiting(session)
        if placed and draw.random() < 0.6:
            statement.evict(draw.choice(placed), "preempt", draw.choice(placed).job)
        elif waiting:
            task, node = draw.choice(waiting), draw.choice(session.node_list)
            session.pre_predicate(task)
            if draw.random() < 0.5:
                statement.pipeline(task, node, after_eviction=False)
            else:
                statement.allocate(task, node)
    statement.commit() if draw.random() < 0.5 else statement.discard()


def _waiting(session: Session) -> list[TaskState]:
    return [task for job in session.jobs.values() for task in job.by_status[Status.PENDING].values()]


def check_preempting(session: Session, finder: BulkFinder, task: TaskState, *, within_job: bool) -> None:
    hunt, queue = Hunt(session, task, within_job=within_job), session.queue_of(task)
    prospect = finder.preempting(task, within_job=within_job)
    for node in session.node_list:
        victims = session.victims("preemptable", task, list(filter(hunt.may_go, node.tasks.values())))
        assert finder.victims(prospect, node) == victims
        worth = enough(task, node, victims)
        assert prospect.worth[node.index] == worth
        assert finder.limits is not None
        refused = finder.limits.refusal(queue, task, victims) is not None
        assert prospect.doomed[node.index] == (worth and bool(victims) and refused)


def check_reclaiming(session: Session, finder: BulkFinder, task: TaskState) -> None:
    nodes = finder.nodes(set())
    found = {node.name for node in finder.reclaiming(task, nodes)}
    for node in session.node_list:
        candidates = [other for other in node.tasks.values() if may_go(session, task, other)]
        victims = session.victims("reclaimable", task, candidates)
        assert (node.name in found) == (bool(candidates) and enough(task, node, victims))


def check_fit_and_scores(session: Session, finder: BulkFinder, task: TaskState) -> None:
    session.pre_predicate(task)
    for test in (for_allocation(session), for_backfill(session)):
        start, either = session.start_index, []
        for one in (finder, PlainFinder(session)):
            either.append(one.feasible(task, session.node_list, test, detailed=False)[0])
            session.start_index = start
        found, plain = finder.subset(either[0]), either[1]
        assert [node.name for node in found] == [node.name for node in plain]
        assert not plain or finder.scores(task, found).tolist() == scores(session, task, plain)
    # A caller beyond allocate also gets the scores of nodes that the task does not fit.
    assert finder.scores(task, finder.nodes(set())).tolist() == scores(session, task, session.node_list)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 24))
def test_all_nodes_at_once_as_node_by_node(seed: int, nodes: int) -> None:
    made = board_of(seed, nodes)
    if made is None:
        return
    (session, finder), draw = made, random.Random(seed)
    known = [task for task in _waiting(session) if finder.knows(task)]
    sample = draw.sample(known, min(3, len(known)))
    for _ in range(4):
        for task in (task for task in sample if task.status is Status.PENDING):
            for within_job in (False, True):
                check_preempting(session, finder, task, within_job=within_job)
            check_reclaiming(session, finder, task)
            check_fit_and_scores(session, finder, task)
        for _ in range(draw.choice([1, 20])):
            move(draw, session, finder)
