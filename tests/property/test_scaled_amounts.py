"""Nothing depends on the unit that amounts are counted in: all of them times a number, the same findings and levels."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cpsched.objectives import vector
from cpsched.optimum.params import SolveParams
from cpsched.optimum.solve import decide
from cpsched.quantity import nano
from cpsched.rules import Decision, violations
from cpsched.snapshot import Snapshot
from cpsched.solution import Eviction, SolutionStatus
from tests.judge import snapshot_of
from tests.oracle.sessions import Contest, contest

DATA = Path(__file__).parent / "data"
VECTORS = ("allocatable", "requests", "deserved", "guarantee", "capability", "minResources")
FACTORS = (3, 7, 1000)
ONE_WORKER = SolveParams(workers=1, deterministic=True)


def scaled(source: Any, factor: int, *, amounts: bool = False) -> Any:
    """The instance with every amount but pods times the factor."""
    if isinstance(source, list):
        return [scaled(item, factor) for item in source]
    if not isinstance(source, dict):
        return source
    if amounts:
        return {name: value if name == "pods" else f"{nano(value) * factor}n" for name, value in source.items()}
    return {name: scaled(value, factor, amounts=name in VECTORS) for name, value in source.items()}


def uneven(seed: int) -> Contest:
    """A contest whose queues have weights that divide nothing evenly."""
    session, r = contest(seed), random.Random(seed)
    for queue in session.source["queues"]:
        queue["weight"] = r.randint(1, 12)
    return session


def drawn(snapshot: Snapshot, seed: int) -> Decision:
    """A decision by chance, mostly a bad one."""
    r, nodes = random.Random(seed), sorted(snapshot.instance.nodes)
    binds, reserves, evictions = {}, {}, []
    for key, task in snapshot.instance.tasks.items():
        if task.node:
            if r.random() < 0.4:
                action = r.choice(["preempt", "reclaim", "reclaim", ""])
                evictions.append(Eviction(task=key, node=task.node, action=action))
        elif r.random() < 0.7:
            r.choice([binds, reserves])[key] = r.choice(nodes)
    entered = frozenset(job.key for job in snapshot.jobs.values() if job.is_pending)
    return Decision(snapshot, binds, reserves, tuple(evictions), entered)


@pytest.mark.parametrize("factor", FACTORS)
def test_findings_and_levels_of_any_decision(factor: int) -> None:
    for seed in range(250):
        session = uneven(seed)
        snapshot, larger = (
            session.snapshot(),
            replace(session, source=scaled(session.source, factor)).snapshot(),
        )
        for draw in range(4):
            decision, same = drawn(snapshot, draw), drawn(larger, draw)
            assert violations(decision) == violations(same), (seed, draw)
            assert vector(decision) == vector(same), (seed, draw)


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("seed", [*range(12), 302, 421])
def test_the_optimum(seed: int, factor: int) -> None:
    session = uneven(seed)
    found = [
        decide(snapshot.instance, snapshot.policy, ONE_WORKER)
        for snapshot in (session.snapshot(), replace(session, source=scaled(session.source, factor)).snapshot())
    ]
    assert [level.value for level in found[0].levels] == [level.value for level in found[1].levels]


@pytest.mark.parametrize("factor", [1, *FACTORS])
@pytest.mark.parametrize("model", ["volcano", "volcano-fair"])
def test_queues_that_hold_exactly_their_share_lack_nothing(model: str, factor: int) -> None:
    source = json.loads((DATA / "exact-share.json").read_text(encoding="utf-8"))
    snapshot = snapshot_of(scaled(source, factor), model=model)
    solution = decide(snapshot.instance, snapshot.policy, ONE_WORKER)
    levels = {level.name: level for level in solution.levels}
    assert solution.status is SolutionStatus.OPTIMAL
    assert levels["queue_deficit_max"].value == levels["queue_deficit_total"].value == 0
