"""Reasons suffice and none is spare: conflicts, competitors, repairs, preemptors against exhaustive search."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import chain, combinations
from typing import Any

import pytest
from hypothesis import given, settings

from cpsched.explanation import obstruction
from cpsched.explanation.candidates import alone, levels_of, optimal_victims
from cpsched.explanation.changes import Change, applied
from cpsched.explanation.competitors import competitors_of
from cpsched.explanation.goal import Clock, Goal, decision_with
from cpsched.explanation.groups import node_groups, partition
from cpsched.explanation.levers import unit_of
from cpsched.explanation.lifting import Lifted
from cpsched.explanation.repairs import repairs
from cpsched.explanation.requirements import Requirement, requirements_of
from cpsched.explanation.trial import Trial
from cpsched.importers.load import load
from cpsched.objectives import comparable, value_of
from cpsched.policy import load_model, policy_for
from cpsched.rules import Decision, violations
from cpsched.snapshot import Snapshot
from cpsched.snapshot.rights import actions_against
from cpsched.solution import Eviction
from tests.judge import cluster, job, pending, running
from tests.judge import snapshot_of as tiny
from tests.oracle.brute_force import TooLargeError, decisions, optimum
from tests.oracle.samples import session
from tests.tiny_sessions import Tiny, tiny_sessions

MOST = 3_000
"""Decisions that are tried for one answer; sessions that need more are left out."""
VOLCANO, KUBE = "volcano-recorded.jsonl.gz", "kube-recorded.jsonl.gz"
Level = tuple[str, int | None]


def snapshot_of(name: str, seed: int) -> Snapshot:
    """A cut-out of a recorded session."""
    objects, conf = session(name, seed)
    return Snapshot(load(objects, lenient=True), policy_for(load_model(name.split("-", maxsplit=1)[0]), conf))


def exists(
    snapshot: Snapshot, *jobs: str, levels: Collection[Level] = (), best: Decision | None = None, most: int = MOST
) -> bool:
    """By trying everything: does a feasible decision serve the jobs and stay as good as `best` on the levels?"""
    for number, decision in enumerate(decisions(snapshot)):
        if number > most:
            raise TooLargeError
        if not set(jobs) <= decision.placed_by_job.keys() or violations(decision):
            continue
        if all(_key(decision, level) <= _key(best, level) for level in levels):
            return True
    return False


def _key(decision: Decision | None, level: Level) -> Any:
    assert decision is not None
    return comparable([level], [value_of(decision, *level)])


def staying(snapshot: Snapshot) -> tuple[Decision, list[str]]:
    """The optimum by exhaustive search, and the jobs that it leaves below their minimum."""
    best = optimum(snapshot, MOST).decisions[0]
    return best, [j.key for j in snapshot.jobs.values() if j.is_below_minimum and j.key not in best.placed_by_job]


def sessions(name: str, seeds: range) -> Iterator[tuple[int, Snapshot, Decision, str]]:
    """Cut-outs small enough for the oracle, with every job that stays."""
    for seed in seeds:
        snapshot = snapshot_of(name, seed)
        try:
            best, left = staying(snapshot)
        except TooLargeError:
            continue
        for one in left:
            yield seed, snapshot, best, one


def conflicts_of(snapshot: Snapshot, key: str) -> tuple[list[Requirement], list[list[Requirement]]]:
    """All requirements of a job, and minimal sets as the explanation finds them."""
    owner = snapshot.jobs[key]
    wanted = requirements_of(snapshot, owner, partition(node_groups(snapshot, owner)))
    found = obstruction.conflicts_of(snapshot, Goal(key), wanted, Clock(600))
    assert found.of_all
    return wanted, found.sets


@pytest.mark.parametrize(("name", "seeds"), [(VOLCANO, range(0, 12)), (KUBE, range(0, 12))])
def test_reasons_suffice_and_none_is_spare(name: str, seeds: range) -> None:
    """With all other requirements lifted no decision places the job; lift any one reason too and some decision does."""
    found = set()
    for seed, snapshot, _, key in sessions(name, seeds):
        try:
            possible = exists(snapshot, key)
            goal = Goal(key)
            assert (decision_with(snapshot, goal, goal.wanted(), 60) is not None) == possible, (seed, key)
            if possible:
                continue
            wanted, conflicts = conflicts_of(snapshot, key)
            assert conflicts, (seed, key)
            for conflict in conflicts:
                others = [one for one in wanted if one not in conflict]
                assert not exists(Lifted(snapshot, key, others), key), (seed, key)
                for reason in conflict:
                    assert exists(Lifted(snapshot, key, [*others, reason]), key), (seed, key, reason.label)
                found |= {reason.key for reason in conflict}
        except TooLargeError:
            continue
    expected = {VOLCANO: {"capacity", "eviction", "queue", "gang", "filters"}, KUBE: {"capacity", "filters"}}
    assert expected[name] <= found


@settings(max_examples=40)
@given(tiny_sessions(most_pending=2, most_running=3))
def test_reasons_under_any_rules(drawn: Tiny) -> None:
    """The same for drawn sessions, configurations and changed rules."""
    snapshot = drawn.snapshot()
    try:
        _, left = staying(snapshot)
        for key in left:
            if exists(snapshot, key):
                continue
            wanted, conflicts = conflicts_of(snapshot, key)
            assert conflicts
            for conflict in conflicts:
                others = [one for one in wanted if one not in conflict]
                assert not exists(Lifted(snapshot, key, others), key)
                assert all(exists(Lifted(snapshot, key, [*others, reason]), key) for reason in conflict)
    except TooLargeError:
        return


@pytest.mark.parametrize(("name", "seeds"), [(VOLCANO, range(60, 80)), (KUBE, range(0, 20))])
def test_competitors_suffice_and_none_is_spare(name: str, seeds: range) -> None:
    """No task that is ahead can be left out, and together they leave no place."""
    for seed, snapshot, best, key in sessions(name, seeds):
        try:
            if not exists(snapshot, key):
                continue
            competitors = competitors_of(snapshot, Goal(key), best, Clock(60))
            assert competitors, (seed, key)
            assert not _beside(snapshot, key, best, competitors), (seed, key)
            for spared in competitors:
                assert _beside(snapshot, key, best, [one for one in competitors if one is not spared]), (seed, key)
        except TooLargeError:
            continue


def _beside(snapshot: Snapshot, key: str, best: Decision, competitors: Collection[Any]) -> bool:
    jobs = [one.job for one in competitors if one.job]
    return exists(snapshot, key, *jobs, levels=[one.level for one in competitors if one.level], best=best)


def test_a_level_can_be_ahead() -> None:
    """The last job fits where the first one sits, which would have to evict an important pod instead."""
    source = cluster(
        job("old", running(1, node="n2"), priority=100),
        job("first", pending(1), priority=1000),
        job("last", pending(1), priority=10),
        nodes={"n1": 1, "n2": 1},
    )
    snapshot = tiny(source, rules={"protect.gang": "off"})
    best, left = staying(snapshot)
    assert left == ["default/last"]
    competitors = competitors_of(snapshot, Goal("default/last"), best, Clock(60))
    assert competitors is not None
    assert {one.job or one.level for one in competitors} == {"default/first", ("victim_max_priority", 1000)}
    assert not _beside(snapshot, "default/last", best, competitors)


@pytest.mark.parametrize(("name", "seeds"), [(VOLCANO, range(100, 112)), (KUBE, range(0, 12))])
def test_repairs_do_and_a_step_less_does_not(name: str, seeds: range) -> None:
    """The changed cluster, written out and read again, has a place for the job and those ahead; a step less has not."""
    kinds = set()
    for seed, snapshot, best, key in sessions(name, seeds):
        goal, policy = Goal(key), snapshot.policy
        ahead = goal.jobs_ahead(best)
        trial = Trial(snapshot.instance, policy, goal, best, Clock(120))
        for changes in repairs(trial):
            try:
                read_again = load(applied(snapshot.instance, changes).to_dict(), lenient=True)
                assert exists(Snapshot(read_again, policy), key, *ahead), (seed, key, changes)
                for weaker in _weaker(snapshot, changes):
                    changed = Snapshot(applied(snapshot.instance, weaker), policy)
                    levels = [level for level in goal.levels_ahead(changed) if level[0].startswith("victim")]
                    assert not exists(changed, key, *ahead, levels=levels, best=best), (seed, key, weaker)
            except TooLargeError:
                continue
            kinds |= {change.kind for change in changes}
    assert {"capacity", "nodes"} <= kinds


def _weaker(snapshot: Snapshot, changes: tuple[Change, ...]) -> Iterator[list[Change]]:
    """The same without one change, or with one of them a step smaller."""
    for one in changes:
        others = [other for other in changes if other is not one]
        step = {"gang": -1, "nodes": 1}.get(one.kind) or unit_of(snapshot, one.resource)
        smaller = Change(one.kind, one.subject, one.amount - step, one.resource, one.part)
        if one.kind == "eviction" or smaller.amount <= 0:
            yield others
        elif one.kind != "gang" or smaller.amount < snapshot.jobs[one.subject].min_available:
            yield [*others, smaller]


@pytest.mark.parametrize(("name", "seeds"), [(VOLCANO, range(0, 25)), (KUBE, range(0, 25))])
def test_single_preemptor_equals_exhaustive_search(name: str, seeds: range) -> None:
    """On every node the best victims of one task are those that trying all sets of victims finds."""
    compared = 0
    for seed in seeds:
        snapshot = snapshot_of(name, seed)
        for owner in snapshot.jobs.values():
            for task in owner.pending[:1]:
                for node in snapshot.instance.nodes:
                    for action in ("preempt", "reclaim"):
                        found = optimal_victims(snapshot, task, node, action, 60)
                        expected = _best_by_trying(snapshot, task, node, action)
                        plan = [(level, None) for level in levels_of(snapshot)]
                        vector = None if found is None else comparable(plan, [value_of(found, *one) for one in plan])
                        assert vector == expected, (seed, task.key, node, action)
                        compared += expected is not None
    assert compared > 20


def _best_by_trying(snapshot: Snapshot, task: Any, node: str, action: Any) -> Any:
    lone = alone(snapshot, task, node)
    there = [v for v in lone.instance.tasks_by_node[node] if action in actions_against(lone, task, v)]
    entered = frozenset({lone.job} if lone.jobs[lone.job].is_pending else ())
    plan = [(level, None) for level in levels_of(snapshot)]
    found = []
    for victims in chain.from_iterable(combinations(there, size) for size in range(len(there) + 1)):
        evictions = tuple(Eviction(task=v.key, node=node, action=action) for v in victims)
        for binds, reserves in (({}, {task.key: node}), ({task.key: node}, {})):
            decision = Decision(lone, binds, reserves, evictions, entered)
            if not violations(decision):
                found.append(comparable(plan, [value_of(decision, *one) for one in plan]))
    return min(found, default=None)
