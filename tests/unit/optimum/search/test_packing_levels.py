"""Levels by packing: victims that stay or go, admission and starts, beside CP-SAT and beside exhaustive search."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

import cpsched
from cpsched import engines, timestamps
from cpsched.lab.generate import generate
from cpsched.options import Options
from cpsched.solution import Solution, SolutionStatus
from tests.oracle.brute_force import optimum
from tests.oracle.sessions import contest, overcommitted

Raw = dict[str, Any]
SEEDS = range(24)


def solved(source: Raw, limit: float, **options: Any) -> Solution:
    return cpsched.solve(cpsched.load(source), model="kube", deterministic=True, time_limit=limit, **options)


def crowded(seed: int) -> Raw:
    """Up to 16 pods of which some run; in most sessions what waits is more important, so that victims are needed."""
    r = random.Random(seed)
    sizes = {"nodes": r.randint(1, 4), "pods_per_node": r.randint(2, 4), "node_sizes": r.choice([1, 1, 2, 3])}
    asked = {"usage": r.choice([80, 100, 105, 130, 160]), "running": r.choice([20, 33, 50, 70])}
    raw = generate("priority-matters", {**sizes, **asked, "priorities": r.randint(1, 4)}, seed=seed)
    for number in range(1, 6):
        raw["priorityClasses"][f"p{number}"] = number if r.random() < 0.9 else -number
    for job in raw["jobs"]:
        if "running" not in job["tasks"][0] and seed % 4:
            job["priorityClassName"] = f"p{r.choice([3, 4, 5])}"
    return raw


@pytest.mark.parametrize("seed", SEEDS)
def test_levels_are_as_cp_sat_proves_them(seed: int) -> None:
    packed, plain = solved(crowded(seed), 3), solved(crowded(seed), 8, prover="cp-sat")
    assert packed.status is SolutionStatus.OPTIMAL
    assert packed.findings == ()
    assert [one.value for one, other in zip(packed.levels, plain.levels, strict=True) if other.proved] == [
        other.value for other in plain.levels if other.proved
    ]


def test_packing_closes_levels_of_victims() -> None:
    """In these sessions most levels on which a task goes are closed without a model."""
    closed: Counter[str] = Counter()
    for seed in SEEDS:
        solution = solved(crowded(seed), 3)
        if solution.evictions:
            closed.update(f"{level.name} {level.prover}" for level in solution.levels if level.value)
    for name in ("jobs_admitted", "victim_max_priority", "victim_priority_sum", "victim_start_time", "tasks_bound"):
        assert closed[f"{name} packing"] > 2 * (closed[f"{name} cp-sat"] + closed[f"{name} lp"])


@pytest.mark.parametrize("seed", range(40, 52))
@pytest.mark.parametrize("make", [contest, overcommitted], ids=["contest", "overcommitted"])
def test_levels_are_as_exhaustive_search_finds_them(make: Any, seed: int) -> None:
    one = make(seed)
    rules = {key: value for key, value in one.rules.items() if key in ("eviction.scope", "protect.pdb")}
    session = replace(one, model="kube", conf=None, rules=rules).snapshot()
    best = optimum(session)
    solution = engines.run("optimal", session.instance, session.policy, Options(deterministic=True, time_limit=5))
    assert solution.status is SolutionStatus.OPTIMAL
    assert [level.label for level in solution.levels] == list(best.labels)
    assert [as_number(level.value) for level in solution.levels] == list(best.values)


def as_number(value: int | str | None) -> int | None:
    """Times as nanoseconds."""
    return timestamps.parse(value) if isinstance(value, str) else value
