"""What a heuristic decides within the rules is a point of the Program, and the optimum is never worse."""

from __future__ import annotations

from typing import Any

import pytest
from ortools.sat.python import cp_model

from cpsched import engines
from cpsched.checker import decision_of
from cpsched.importers.load import load
from cpsched.objectives import comparable, level_plan, value_of, vector
from cpsched.optimum.model.decode import encode
from cpsched.optimum.model.session_model import SessionModel
from cpsched.optimum.params import SolveParams
from cpsched.optimum.provers import PROVERS
from cpsched.optimum.search.lexicographic import LexicographicSearch
from cpsched.optimum.solve import decide
from cpsched.options import Options
from cpsched.policy import load_model, policy_for
from cpsched.rules import Decision, violations
from cpsched.snapshot import Snapshot
from tests.benchmark.sessions import contended
from tests.judge import decide as decision_in
from tests.judge import snapshot_of
from tests.oracle.midsize import midsize
from tests.oracle.samples import rows
from tests.oracle.sessions import contest

PARTS = ("binds", "allocated", "pipelined", "evicted")


def is_a_point(decision: Decision) -> bool:
    """Whether the Program has a solution with exactly this decision's counts."""
    program = SessionModel(decision.snapshot)
    cp: Any = program.cp
    for variable, count in encode(program.variables, decision).items():
        cp.add_hint(variable, count)
    solver = cp_model.CpSolver()
    parameters: Any = solver.parameters
    parameters.fix_variables_to_their_hinted_value = True
    parameters.num_workers = 1
    return solver.solve(cp) in (cp_model.OPTIMAL, cp_model.FEASIBLE)


def heuristic(snapshot: Snapshot) -> Decision:
    """The mirror's decision."""
    engine = "kube" if snapshot.policy.is_kube else "volcano"
    return decision_of(
        snapshot.instance, snapshot.policy, engines.run(engine, snapshot.instance, snapshot.policy, Options())
    )


@pytest.mark.parametrize("part", range(2))
def test_recorded_decisions_of_volcano_are_points_of_the_program(part: int) -> None:
    """Every sixteenth session of the real scheduler, with all decisions that were recorded of it."""
    points = 0
    for row in rows("volcano-recorded.jsonl.gz")[part::16]:
        snapshot = Snapshot(load(row["objects"], lenient=True), policy_for(load_model("volcano"), row["conf"]))
        for outcome in row["outcomes"]:
            decision = decision_in(snapshot, {name: outcome[name] for name in PARTS if name in outcome})
            if not violations(decision):
                assert is_a_point(decision), row["id"]
                points += bool(decision.placed)
    assert points > 50


def test_decisions_of_the_kube_mirror_are_points_of_the_program() -> None:
    """Every twelfth recorded session."""
    points = 0
    for row in rows("kube-recorded.jsonl.gz")[::12]:
        snapshot = Snapshot(load(row["objects"], lenient=True), policy_for(load_model("kube"), row["conf"]))
        decision = heuristic(snapshot)
        if not violations(decision):
            assert is_a_point(decision), row["id"]
            points += bool(decision.placed)
    assert points > 20


@pytest.mark.parametrize("start", range(0, 200, 100))
def test_decisions_on_random_sessions_are_points_and_never_better(start: int) -> None:
    """The mirror is within the rules or has findings; if within, it is a hint that loses nothing."""
    better = 0
    for seed in range(start, start + 100):
        snapshot = contest(seed).snapshot()
        decision = heuristic(snapshot)
        if violations(decision):
            continue
        assert is_a_point(decision), seed
        plan = level_plan(snapshot)
        solution = decide(snapshot.instance, snapshot.policy, SolveParams(workers=1, deterministic=True))
        best = decision_of(snapshot.instance, snapshot.policy, solution)
        ours, theirs = comparable(plan, vector(best)), comparable(plan, vector(decision))
        assert ours <= theirs, seed
        better += ours < theirs
    assert better


@pytest.mark.parametrize("seed", range(12))
def test_however_short_the_time_the_optimum_is_not_worse(seed: int) -> None:
    """Cut off at once, the answer is the heuristic's decision or better, and says what it has not proved."""
    snapshot = snapshot_of(midsize(seed))
    solution = engines.run("optimal", snapshot.instance, snapshot.policy, Options(time_limit=0.001, deterministic=True))
    decision = heuristic(snapshot)
    plan = level_plan(snapshot)
    best = decision_of(snapshot.instance, snapshot.policy, solution)
    assert not violations(best)
    if not violations(decision):
        assert comparable(plan, vector(best)) <= comparable(plan, vector(decision))


def test_after_an_open_level_nothing_is_called_proved() -> None:
    """A level closed after an open one says that it is closed given that one."""
    snapshot = snapshot_of(contended(nodes=8, gangs=8, shapes=8, queues=2, seed=1))
    search = LexicographicSearch(snapshot, SolveParams(workers=1, deterministic=True))
    search.budget.interrupt()
    search.run()
    first_open = next(number for number, level in enumerate(search.levels) if not level.proved)
    later = search.levels[first_open + 1 :]
    assert all(level.value == level.bound for level in search.levels[:first_open])
    assert not any(level.proved for level in later)
    closed = [level for level in later if level.value == level.bound and level.prover]
    assert closed
    assert all(level.given_open_levels for level in closed)
    assert not any(level.given_open_levels for level in search.levels if level not in closed)
    assert {level.prover for level in search.levels} <= {None, *PROVERS.values()}
    for level in search.levels:
        assert level.value == value_of(search.best, level.name, level.priority)
