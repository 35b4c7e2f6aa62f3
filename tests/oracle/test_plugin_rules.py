"""Tiny sessions in which rules of Volcano's other plugins bind: the optimum is the oracle's."""

from __future__ import annotations

from collections import Counter

import pytest

from cpsched.optimum.solve import decide
from cpsched.rules import RULES
from cpsched.solution import SolutionStatus
from tests.contested import decisions
from tests.judge import checked_both_ways
from tests.oracle.alternatives import binding_rules
from tests.oracle.brute_force import optimum
from tests.oracle.plugin_sessions import KINDS, session
from tests.oracle.test_random_optimum import ONE_WORKER, as_shown

SESSIONS = 80
BINDS: dict[str, tuple[str, int]] = {
    "nodegroup": ("nodegroup", 40),
    "cards by memory": ("cards", 5),
    "cards by number": ("cards", 20),
    "virtual cards": ("cards", 40),
    "numa": ("numa", 20),
    "usage": ("usage", 25),
    "quotas": ("enqueue", 30),
    "protect.cooldown": ("protect.cooldown", 1),
}
"""Per kind the rule that it is about, and in how many sessions an alternative is better and breaks that rule alone."""


@pytest.mark.parametrize("kind", KINDS)
def test_optimum_equals_exhaustive_search(kind: str) -> None:
    bound: Counter[str] = Counter()
    for seed in range(SESSIONS):
        snapshot = session(kind, seed)
        best = optimum(snapshot)
        bound.update(binding_rules(best))
        solution = decide(snapshot.instance, snapshot.policy, ONE_WORKER)
        assert solution.status is SolutionStatus.OPTIMAL, seed
        assert [level.value for level in solution.levels] == as_shown(best), seed
    rule, least = BINDS[kind]
    assert rule in RULES
    assert bound[rule] >= least


@pytest.mark.parametrize("kind", KINDS)
def test_decisions_are_checked_the_same_without_shortcuts(kind: str) -> None:
    assert checked_both_ways(one for seed in range(30) for one in decisions(session(kind, seed), 4)) > 60
