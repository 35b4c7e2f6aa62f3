"""The oracle itself: against a search without any shortcut, and on cases where a shortcut could go wrong."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest
from hypothesis import given, settings

from cpsched.objectives import comparable, level_plan, vector
from cpsched.rules import Decision, violations
from cpsched.snapshot import Snapshot
from cpsched.solution import Eviction
from tests.judge import cluster, conf, job, pending, running, snapshot_of
from tests.oracle.brute_force import TooLargeError, decisions, optimum
from tests.tiny_sessions import tiny_sessions

Key = tuple[tuple[int, int], ...]


def every_decision(snapshot: Snapshot) -> Iterator[Decision]:
    """Every task nowhere, bound or reserved anywhere; every running task spared or evicted by any action."""
    tasks, nodes = snapshot.instance.tasks, list(snapshot.instance.nodes)
    waiting = [key for key, task in tasks.items() if not task.node]
    sitting = [key for key, task in tasks.items() if task.node]
    places = [None, *product((True, False), nodes)]
    fates = [None, "preempt", "reclaim"]
    for chosen in product(places, repeat=len(waiting)):
        placed = [(key, place) for key, place in zip(waiting, chosen, strict=True) if place is not None]
        binds = {key: node for key, (is_bound, node) in placed if is_bound}
        reserves = {key: node for key, (is_bound, node) in placed if not is_bound}
        owners = [snapshot.job_of(tasks[key]) for key, _ in placed]
        entered = frozenset(owner.key for owner in owners if owner is not None and owner.is_pending)
        for fate in product(fates, repeat=len(sitting)):
            evictions = [Eviction(task=k, action=how) for k, how in zip(sitting, fate, strict=True) if how is not None]
            yield Decision(snapshot, binds, reserves, tuple(evictions), entered)


def best_of_all(snapshot: Snapshot) -> tuple[Key, set[tuple[str, ...]]]:
    """The best key over all feasible decisions, and all victim sets that reach it."""
    plan = level_plan(snapshot)
    found: dict[Key, set[tuple[str, ...]]] = {}
    for decision in every_decision(snapshot):
        if not violations(decision):
            found.setdefault(comparable(plan, vector(decision)), set()).add(tuple(sorted(decision.evicted)))
    best = min(found)
    return best, found[best]


@settings(max_examples=40)
@given(tiny_sessions(most_pending=2, most_running=2))
def test_shortcuts_lose_nothing(session):
    """Pruning, symmetry and order of checking change neither the optimum nor the victim sets that reach it."""
    snapshot = session.snapshot()
    key, victims = best_of_all(snapshot)
    found = optimum(snapshot)
    assert comparable(level_plan(snapshot), found.values) == key
    assert set(found.victim_sets) == victims


def test_the_action_is_part_of_the_decision():
    """A gang is shielded from preempt but not from reclaim; by reclaim its room serves both who wait."""
    source = cluster(
        job("old", running(4), priority=10, minMember=1, queue="left"),
        job("a", pending(1), priority=100, queue="left"),
        job("b", pending(2), priority=100, queue="right"),
        queues=[{"name": "left"}, {"name": "right"}],
    )
    gang = {"name": "gang", "enableReclaimable": False}
    snapshot = snapshot_of(source, conf=conf("allocate, preempt, reclaim", "priority", gang, "proportion"))
    found = optimum(snapshot)
    assert found.values[0] == 2
    assert [eviction.action for eviction in found.decisions[0].evictions] == ["reclaim"]


def test_alike_tasks_are_placed_in_one_order():
    """Three tasks that differ only in name on two nodes: none to all of them, bound or reserved, once each."""
    snapshot = snapshot_of(cluster(job("a", pending(replicas=3), minMember=0), nodes={"n1": 9, "n2": 9}))
    tried = [(tuple(sorted(d.binds.values())), tuple(sorted(d.reserves.values()))) for d in decisions(snapshot)]
    assert len(tried) == len(set(tried)) == 1 + 4 + 10 + 20


def test_tasks_that_differ_are_tried_in_every_way():
    """Labels, requests, roles and priorities tell tasks apart."""
    two = job("a", pending(), pending(role="task", labels={"app": "x"}, name="other"), minMember=0)
    tried = [tuple(sorted(d.binds)) for d in decisions(snapshot_of(cluster(two))) if not d.reserves]
    assert sorted(tried) == [(), ("a/other",), ("a/other", "a/task-0"), ("a/task-0",)]


def test_limit():
    """A search that would take too long says so."""
    snapshot = snapshot_of(cluster(job("a", pending(replicas=3), minMember=0), nodes={"n1": 9, "n2": 9}))
    with pytest.raises(TooLargeError):
        optimum(snapshot, limit=10)
