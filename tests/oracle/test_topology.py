"""Tiny sessions with HyperNodes, sub-groups and gang evictions: the optimum is the oracle's, and evidence holds."""

from __future__ import annotations

from collections import Counter

import pytest

from cpsched.certificate.case import Case, Session
from cpsched.certificate.certify import bounds_of, tightness
from cpsched.objectives import level_plan, value_of
from cpsched.optimum.solve import decide
from cpsched.policy.levels import Value
from cpsched.rules import Decision, violations
from cpsched.snapshot import Snapshot
from cpsched.solution import SolutionStatus
from tests.contested import decisions as random_decisions
from tests.judge import checked_both_ways
from tests.oracle.alternatives import binding_rules
from tests.oracle.brute_force import Optimum, decisions, optimum
from tests.oracle.test_random_optimum import ONE_WORKER, as_shown
from tests.oracle.topology_sessions import KINDS, topology_session

SESSIONS = 40
MOST = 60_000
"""Decisions that a session may have at most."""
NEAR = ("topology_tier_max", "topology_tier_sum", "hypernodes_used")
BINDS: dict[str, dict[str, int]] = {
    "near": {"topology.job": 5},
    "soft": dict.fromkeys(NEAR, 3),
    "sub-groups": {"topology.subgroup": 2, "gang": 3},
    "gangpreempt": {"topology.job": 3, "protect.gang": 1},
    "gangreclaim": {"topology.job": 3, "eviction": 1},
}
"""Per kind in how many of its sessions a better decision breaks that rule alone, or a legal one is worse there."""


@pytest.mark.parametrize("kind", KINDS)
def test_optimum_equals_exhaustive_search(kind: str) -> None:
    bound: Counter[str] = Counter()
    for seed in range(SESSIONS):
        snapshot = topology_session(kind, seed)
        best = optimum(snapshot, MOST)
        bound.update(binding(snapshot, best))
        solution = decide(snapshot.instance, snapshot.policy, ONE_WORKER)
        assert solution.status is SolutionStatus.OPTIMAL, seed
        assert [level.value for level in solution.levels] == as_shown(best), seed
    assert {rule: bound[rule] for rule, least in BINDS[kind].items() if bound[rule] < least} == {}


def binding(snapshot: Snapshot, best: Optimum) -> set[str]:
    """Rules without which the optimum would be another, and levels about topology that decide between decisions."""
    plan, found = level_plan(snapshot), binding_rules(best)
    reached = [level.rank(value) for level, value in zip(plan, best.values, strict=True)]
    for decision in decisions(snapshot):
        key = [level.rank(value_of(decision, *level)) for level in plan]
        if key < reached:
            broken = {item.rule for item in violations(decision)}
            found |= broken if len(broken) == 1 else set()
        elif key > reached:
            first = next(level.name for level, own, least in zip(plan, key, reached, strict=True) if own != least)
            if first in NEAR and first not in found and not violations(decision):
                found.add(first)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_decisions_are_checked_the_same_without_shortcuts(kind: str) -> None:
    assert (
        checked_both_ways(one for seed in range(30) for one in random_decisions(topology_session(kind, seed), 4)) > 60
    )


@pytest.mark.parametrize("kind", KINDS)
def test_no_decision_beats_the_evidence(kind: str) -> None:
    """Whatever the earlier levels' values, of the levels about topology."""
    closed = 0
    for seed in range(12):
        snapshot = topology_session(kind, seed)
        session, known = Session(snapshot), dict[tuple[object, ...], Value]()
        for decision in decisions(snapshot):
            if not violations(decision):
                closed += sum(beaten_or_met(session, decision, known))
    assert closed > 100


def beaten_or_met(session: Session, decision: Decision, known: dict[tuple[object, ...], Value]) -> list[bool]:
    """Per level about topology whether the decision attains the bound; it never beats it."""
    given: dict[tuple[str, int | None], Value] = {}
    met: list[bool] = []
    for level in level_plan(decision.snapshot):
        value = value_of(decision, *level)
        key = (level, *given.values())
        if level.name in NEAR:
            if key not in known:
                known[key] = bounds_of(Case(session, dict(given)), *level)[0][1]
            assert tightness(level.name, value) >= tightness(level.name, known[key])
            met.append(value == known[key])
        given[level] = value
    return met


def test_the_rest_of_a_gang_empties_its_nodes_whatever_the_scope() -> None:
    """With eviction.scope node one of two victims is where its action places nothing, and that node is empty then."""
    snapshot = topology_session("gangreclaim", 91_100_054)
    assert snapshot.policy.rules.eviction_scope == "node"
    best = optimum(snapshot, MOST)
    solution = decide(snapshot.instance, snapshot.policy, ONE_WORKER)
    assert solution.status is SolutionStatus.OPTIMAL
    assert [level.value for level in solution.levels] == as_shown(best)
