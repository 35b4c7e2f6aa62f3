"""Dropping violations: what is left of any decision breaks no rule, and what was fine is mostly left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain

import pytest

from cpsched.optimum.params import SolveParams
from cpsched.optimum.search.bounding_passes import BoundingPasses
from cpsched.optimum.search.lexicographic import LexicographicSearch
from cpsched.optimum.search.primal.drop_violations import REMOVALS, drop_violations
from cpsched.rules import RULES, Decision, violations
from cpsched.snapshot import Snapshot
from cpsched.solution import Eviction
from tests.contested import crowds, decisions, sessions
from tests.judge import cluster, conf, decide, job, pending, running, snapshot_of
from tests.oracle.plugin_sessions import KINDS, session
from tests.oracle.topology_sessions import KINDS as NEAR_KINDS
from tests.oracle.topology_sessions import topology_session


def in_time() -> bool:
    return False


def left(decision: Decision) -> Decision:
    found = drop_violations(decision, in_time)
    assert found is not None
    return found


def plugins() -> Iterator[Snapshot]:
    """Sessions with the rules of Volcano's other plugins."""
    return (session(kind, seed) for kind in KINDS for seed in range(12))


def racks() -> Iterator[Snapshot]:
    """Sessions with HyperNodes, sub-groups and gang actions."""
    return (topology_session(kind, seed) for kind in NEAR_KINDS for seed in range(40 if kind == "sub-groups" else 12))


def test_whatever_is_decided_something_legal_is_left() -> None:
    found: Counter[str] = Counter()
    for snapshot in chain(sessions(), crowds(), plugins(), racks()):
        for decision in decisions(snapshot, 3):
            found.update({item.rule for item in violations(decision)})
            legal = left(decision)
            assert not violations(legal)
            assert legal.binds.items() <= decision.binds.items()
            assert legal.reserves.items() <= decision.reserves.items()
            assert set(legal.evictions) <= set(decision.evictions)
            assert legal.entered <= decision.entered
    rare = {"protect.cooldown", "protect.pdb", "protect.conformance", "deserved", "actions"}
    assert {rule for rule in RULES if found[rule] >= 5} >= RULES.keys() - rare


def test_every_rule_has_its_suspects() -> None:
    assert REMOVALS.keys() == RULES.keys()


def test_a_legal_decision_stays_as_it_is() -> None:
    snapshot = snapshot_of(cluster(job("a", pending()), nodes=1))
    decision = decide(snapshot, {"binds": {"a/task-0": "n1"}})
    assert left(decision) is decision


def test_the_least_important_makes_room() -> None:
    jobs = [job(name, pending(), priority=priority) for name, priority in (("a", 50), ("b", 100), ("c", 10))]
    snapshot = snapshot_of(cluster(*jobs, nodes=2))
    decision = decide(snapshot, {"binds": {f"{name}/task-0": "n1" for name in "abc"}})
    assert set(left(decision).binds) == {"a/task-0", "b/task-0"}


def test_no_more_go_than_must() -> None:
    jobs = [job(f"j{n}", pending()) for n in range(300)]
    snapshot = snapshot_of(cluster(*jobs, nodes={"n1": 10}))
    assert len(left(decide(snapshot, {"binds": {f"j{n}/task-0": "n1" for n in range(300)}})).binds) == 10


def too_much(jobs: int, capability: dict[str, object]) -> Decision:
    """A queue that gets more than it may hold, on a node with room for all."""
    node = {"name": "n1", "allocatable": {"cpu": 300, "memory": "300Gi", "pods": 300}}
    queues = [{"name": "small", "capability": capability}]
    ask = pending(requests={"memory": "1Gi"})
    snapshot = snapshot_of(
        cluster(*(job(f"j{n}", ask, queue="small") for n in range(jobs)), nodes=[node], queues=queues)
    )
    decision = decide(snapshot, {"binds": {f"j{n}/task-0": "n1" for n in range(jobs)}})
    assert {item.rule for item in violations(decision)} == {"queue"}
    return decision


def test_of_a_queue_twice_as_many_go_every_time() -> None:
    """One, then two, then four: far fewer rounds than jobs."""
    assert len(left(too_much(200, {"cpu": 20})).binds) <= 20


def test_what_is_found_twice_counts_once() -> None:
    assert len(left(too_much(2, {"cpu": 1, "memory": "1Gi"})).binds) == 1


def test_a_gang_that_is_hit_keeps_all_its_tasks() -> None:
    """Then there is no room for the one who evicted two of them; another on the other node keeps what it has."""
    old = [
        job("old1", running(node="n1", replicas=2), priority=10, minMember=2),
        job("old2", running(node="n2", replicas=2), priority=10, minMember=0),
    ]
    new = [job(name, pending(cpu=2), priority=100) for name in "ab"]
    snapshot = snapshot_of(cluster(*old, *new, nodes={"n1": 2, "n2": 2}))
    gone = [f"old{n}/task-{i}" for n in (1, 2) for i in range(2)]
    decision = decide(snapshot, {"reserves": {"a/task-0": "n1", "b/task-0": "n2"}, "evicted": gone})
    legal = left(decision)
    assert legal.reserves == {"b/task-0": "n2"}
    assert legal.evicted == {"old2/task-0", "old2/task-1"}


def test_unneeded_victims_stay_the_most_important_first() -> None:
    """Of the two who come only the small one may stay, and one of the victims is enough for it."""
    old = [job(f"old{priority}", running(), priority=priority, minMember=0) for priority in (10, 50)]
    new = [job("a", pending(), priority=1000), job("b", pending(cpu=2), priority=100)]
    snapshot = snapshot_of(cluster(*old, *new, nodes=2))
    decision = decide(
        snapshot,
        {"reserves": {"a/task-0": "n1", "b/task-0": "n1"}, "evicted": ["old10/task-0", "old50/task-0"]},
    )
    legal = left(decision)
    assert legal.reserves == {"a/task-0": "n1"}
    assert legal.evicted == {"old10/task-0"}


@pytest.mark.parametrize(
    ("stated", "rest"),
    [
        ({"binds": {"ghost/task-0": "n1", "a/task-0": "n1"}}, {"a/task-0"}),
        ({"binds": {"a/task-0": "nowhere", "b/task-0": "n1"}}, {"b/task-0"}),
        ({"binds": {"a/task-0": "n1"}, "reserves": {"a/task-0": "n1", "b/task-0": "n1"}}, {"b/task-0"}),
        ({"binds": {"a/task-0": "n1"}, "evicted": ["ghost/task-0"]}, {"a/task-0"}),
    ],
)
def test_what_does_not_exist_goes(stated: dict[str, object], rest: set[str]) -> None:
    snapshot = snapshot_of(cluster(job("a", pending()), job("b", pending()), nodes=2))
    assert set(left(decide(snapshot, stated)).placed) == rest


def test_critical_pods_and_budgets_are_spared() -> None:
    old = [
        job("dns", running(priorityClassName="system-cluster-critical"), priority=10, minMember=0),
        job("web", running(replicas=2, labels={"app": "web"}), priority=10, minMember=0),
    ]
    budget = {"name": "web", "selector": {"matchLabels": {"app": "web"}}, "disruptionsAllowed": 1}
    new = [job(f"new{n}", pending(), priority=100) for n in range(3)]
    shown = conf("allocate, preempt", "priority", "gang", "conformance", "pdb", "predicates", "proportion")
    snapshot = snapshot_of(cluster(*old, *new, nodes=3, budgets=[budget]), conf=shown)
    gone = ["dns/task-0", "web/task-0", "web/task-1"]
    decision = decide(snapshot, {"reserves": {f"new{n}/task-0": "n1" for n in range(3)}, "evicted": gone})
    assert {item.rule for item in violations(decision)} >= {"protect.conformance", "protect.pdb"}
    legal = left(decision)
    assert len(legal.evictions) == len(legal.reserves) == 1


def test_who_is_late_has_nothing() -> None:
    snapshot = snapshot_of(cluster(job("a", pending()), nodes=1))
    assert drop_violations(decide(snapshot, {"binds": {"a/task-0": "n2"}}), lambda: True) is None


def test_a_search_starts_from_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hint places two where there is room for one; the search is over before it begins."""
    snapshot = snapshot_of(cluster(job("a", pending(), priority=100), job("b", pending(), priority=10), nodes=1))
    hint = Decision(snapshot, {"a/task-0": "n1", "b/task-0": "n1"}, {}, (Eviction(task="ghost"),))
    monkeypatch.setattr(BoundingPasses, "run", lambda *_: None)
    search = LexicographicSearch(snapshot, SolveParams(workers=1, time_limit=0), lambda: hint)
    search.run()
    assert search.best.binds == {"a/task-0": "n1"}
