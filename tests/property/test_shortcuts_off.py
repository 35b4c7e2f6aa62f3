"""Whatever is decided, the checker says the same with its shortcuts over identical tasks and without them."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import cpsched
from cpsched.explanation.lifting import Lifted
from cpsched.explanation.requirements import Requirement
from cpsched.rules import Decision, violations
from cpsched.snapshot import Snapshot
from cpsched.snapshot.identical import Identical
from cpsched.solution import Eviction
from tests.contested import crowded, crowds, decisions, sessions
from tests.judge import checked_both_ways, cluster, decide, job, pending, running, snapshot_of
from tests.oracle.neighbours import FAMILIES, neighbourly
from tests.oracle.sessions import contest
from tests.strategies import kubernetes_objects
from tests.tiny_sessions import Tiny, decisions_of, tiny_sessions


def strangers(snapshot: Snapshot, count: int) -> Iterator[Decision]:
    """Any decisions, also with jobs that did not enter and with victims that do not run."""
    r = random.Random(len(snapshot.jobs))
    for one in decisions(snapshot, count):
        some = frozenset(key for key in one.entered if r.random() < 0.5)
        more = [Eviction(task=key) for key in one.placed if r.random() < 0.3]
        served = [Eviction(task=item.task, for_job=r.choice(list(snapshot.jobs))) for item in one.evictions]
        yield one
        yield replace(one, entered=some)
        yield replace(one, evictions=(*one.evictions, *more))
        yield replace(one, evictions=tuple(served))


def test_crowds_of_identical_tasks():
    """Every rule whose questions are shared is broken somewhere, so the same is more than nothing."""
    broken: set[str] = set()
    for snapshot in (*crowds(), *sessions()):
        found = list(strangers(snapshot, 3))
        assert checked_both_ways(found) == len(found)
        broken |= {violation.rule for decision in found for violation in violations(decision)}
    assert broken >= {"assignment", "capacity", "filters", "gang", "queue", "eviction", "charge"}


@pytest.mark.parametrize("seeds", [range(30), range(30, 60)])
def test_victims_of_contended_nodes(seeds: range):
    """On one node or on any."""
    assert checked_both_ways(map(crowded, seeds)) == 30


@pytest.mark.parametrize("scope", ["node", "cluster"])
def test_either_scope(scope: str):
    """A victim on another node counts, or it does not."""
    for seed in range(60):
        snapshot = contest(seed, scope=scope).snapshot()
        assert checked_both_ways(decisions(snapshot, 3)) == 3


@pytest.mark.parametrize("family", FAMILIES)
def test_tasks_that_look_at_each_other(family: str):
    """Spread, affinity, volumes, devices."""
    for seed in range(12):
        assert checked_both_ways(decisions(neighbourly(seed, family).snapshot(), 3)) == 3


@settings(max_examples=150)
@given(tiny_sessions(), st.data())
def test_tiny_sessions(session: Tiny, data: st.DataObject):
    """Under every model and configuration."""
    snapshot = session.snapshot()
    assert checked_both_ways([decide(snapshot, data.draw(decisions_of(snapshot)))]) == 1


@settings(max_examples=60)
@given(kubernetes_objects())
def test_any_pods(objects):
    """Pods that share what they state, and pods that state what is their own."""
    for model in ("volcano", "kube"):
        snapshot = snapshot_of(objects, model=model)
        assume(snapshot.instance.nodes)
        assert checked_both_ways(decisions(snapshot, 2)) == 2


def test_explanations():
    """A job that an explanation sets apart, or frees of the rule `eviction`."""
    count = 0
    for base in crowds():
        for lifted in ((), (Requirement("eviction", ""),)):
            quick, slow = (Lifted(base, next(iter(base.jobs)), lifted) for _ in range(2))
            slow.identical = Identical(shortcuts=False)
            for one in decisions(quick, 2):
                assert violations(one) == violations(replace(one, snapshot=slow))
                count += 1
    assert count == 40


class TestSwitch:
    """On, a question is asked once per class; off, as often as it is put."""

    @pytest.mark.parametrize(("shortcuts", "asked"), [(True, [1, 2]), (False, [1, 2, 3, 4])])
    def test_once(self, shortcuts: bool, asked: list[int]):
        found: list[int] = []
        question = Identical(shortcuts=shortcuts).once(lambda n: found.append(n) or n % 2, lambda n: n % 2)
        assert [question(n) for n in (1, 2, 3, 4)] == [1, 0, 1, 0]
        assert found == asked

    @pytest.mark.parametrize(("shortcuts", "left"), [(True, [1, 2]), (False, [1, 2, 3, 4])])
    def test_one_of_each(self, shortcuts: bool, left: list[int]):
        assert Identical(shortcuts=shortcuts).one_of_each([1, 2, 3, 4], lambda n: n % 2) == left

    def test_a_class_may_be_stated_by_id(self):
        """What was asked about stays where it is, so that nothing else gets its answer."""
        length = Identical().once(len, id)
        assert [length([0] * n) for n in range(100)] == list(range(100))

    def test_a_session_asks_one_way(self):
        """Two identical victims, one answer; without shortcuts each has its own."""
        source = cluster(job("old", running(1, 2), priority=10, minMember=0), job("new", pending(2), priority=100))
        for shortcuts, count in ((True, 1), (False, 2)):
            opened = snapshot_of(source)
            snapshot = Snapshot(opened.instance, opened.policy, shortcuts=shortcuts)
            decision = decide(snapshot, {"reserves": {"new/task-0": "n1"}, "evicted": ["old/task-0", "old/task-1"]})
            assert len({id(pairs) for pairs in decision.rights.static.values()}) == count


def test_rules_tell_nothing_by_id():
    """What tasks share is given by the modules `identical` alone, so that the switch reaches all of it."""
    package = Path(cpsched.__file__).parent
    rules = [path for path in (package / "check").glob("*.py") if path.name != "identical.py"]
    for path in (*rules, package / "objectives.py", package / "snapshot" / "rights.py"):
        names = {node.id for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Name)}
        assert "id" not in names, path.name
