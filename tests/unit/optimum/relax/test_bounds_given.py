"""Bounds of every level given what a decision has before it, and levels that a decision attains without a search."""

from __future__ import annotations

import random
from collections import Counter
from itertools import islice

import pytest

from cpsched.optimum.budget import Budget
from cpsched.optimum.model.session_model import SessionModel
from cpsched.optimum.params import SolveParams
from cpsched.optimum.relax.bounding import LexicographicBounds
from cpsched.optimum.solvers.portfolio import Portfolio
from cpsched.rules import Decision, violations
from cpsched.snapshot import Snapshot
from tests.oracle.brute_force import decisions
from tests.oracle.sessions import contest

SEEDS = range(12)


def legal(snapshot: Snapshot, seed: int, most: int = 60) -> list[Decision]:
    """Some decisions that break no rule, drawn from the first 20,000."""
    found = [decision for decision in islice(decisions(snapshot), 20_000) if not violations(decision)]
    random.Random(seed).shuffle(found)
    return found[:most]


def bounding_of(snapshot: Snapshot) -> LexicographicBounds:
    budget = Budget(SolveParams(workers=1, deterministic=True))
    return LexicographicBounds(SessionModel(snapshot), Portfolio(budget), [])


def test_no_decision_beats_a_bound_that_is_given_another_one() -> None:
    """Decisions that are no worse on the stages before are never better than the bound of a stage."""
    provers: Counter[str] = Counter()
    for seed in SEEDS:
        snapshot = contest(seed).snapshot()
        known = legal(snapshot, seed)
        for given in known[:6]:
            rest = known
            for pending, bound in bounding_of(snapshot).bounds_given(given):
                stage = pending.stage
                assert [one for one in rest if stage.value(one) < bound.value] == [], (seed, pending.name)
                rest = [one for one in rest if stage.value(one) <= stage.value(given)]
                provers[bound.prover.name] += 1
    assert provers["lp"] > 50


@pytest.mark.parametrize("seed", SEEDS)
def test_levels_that_a_decision_attains_are_the_first_ones_and_no_other_beats_them(seed: int) -> None:
    snapshot = contest(seed).snapshot()
    known = legal(snapshot, seed)
    for given in known[:6]:
        bounding = bounding_of(snapshot)
        bounding.take_attained(given)
        rest = known
        for bounds, stages in zip(bounding.levels, bounding.stages, strict=True):
            for bound, stage in zip(bounds, stages, strict=True):
                assert stage.value(given) == bound.value
                assert [one for one in rest if stage.value(one) < bound.value] == []
                rest = [one for one in rest if stage.value(one) == bound.value]
