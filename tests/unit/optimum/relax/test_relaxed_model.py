"""Relaxed models: what they aggregate, and that no decision is better than their bounds."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any, ClassVar

import pytest
from ortools.sat.python import cp_model

from cpsched.objectives import level_plan
from cpsched.optimum.budget import Budget
from cpsched.optimum.model.constraints.gang import enough
from cpsched.optimum.model.level_traits import LEVEL_TRAITS
from cpsched.optimum.model.objective import stages_of
from cpsched.optimum.model.session_model import SessionModel
from cpsched.optimum.params import SolveParams
from cpsched.optimum.relax.aggregate import LEAST_NODES, _summed
from cpsched.optimum.relax.bounding import LexicographicBounds
from cpsched.optimum.relax.relaxed_model import RelaxedModel
from cpsched.optimum.solve import decide
from cpsched.optimum.solvers.portfolio import Portfolio
from cpsched.optimum.solvers.prover import Answer
from cpsched.snapshot import Snapshot
from cpsched.solution import Solution
from tests.judge import cluster, conf, snapshot_of
from tests.oracle.brute_force import optimum
from tests.oracle.sessions import contest


def portfolio() -> Portfolio:
    return Portfolio(Budget(SolveParams(workers=1, deterministic=True)))


def session(nodes: int, **waiting: str) -> Snapshot:
    """Nodes of 4 cores with a low pod of 3 on each, and jobs of two tasks of 2 cores with a priority each."""
    running = (
        {"name": f"run{i}", "priorityClassName": "p10", "minMember": 0, "tasks": [_task(3, running=f"n{i}")]}
        for i in range(nodes)
    )
    jobs = (
        {"name": name, "priorityClassName": priority, "minMember": 2, "tasks": [_task(2, replicas=2)]}
        for name, priority in waiting.items()
    )
    return snapshot_of(cluster(*running, *jobs, nodes={f"n{i}": 4 for i in range(nodes)}))


def _task(cpu: int, **fields: object) -> dict[str, object]:
    return {"role": "w", "requests": {"cpu": cpu}, **fields}


def test_a_node_does_not_tell_tasks_apart_that_ask_for_the_same() -> None:
    program = SessionModel(session(2, a="p50", b="p100"))
    assert len(program.variables.classes.tasks) == 2
    room = RelaxedModel(program).variables.capacity
    assert room.request_class_of == (0, 0)
    assert len(room.request_classes[0].tasks) == 4


@pytest.mark.parametrize("nodes", [LEAST_NODES - 1, LEAST_NODES])
def test_only_many_nodes_that_are_alike_are_one(nodes: int) -> None:
    relaxed = RelaxedModel(SessionModel(session(nodes, a="p50")))
    places = set(relaxed.variables.capacity.idle)
    assert len(places) == (1 if nodes == LEAST_NODES else nodes)
    assert sorted(map(len, relaxed.nodes_by_class.values())) == ([nodes] if nodes == LEAST_NODES else [1] * nodes)
    aggregate_nodes = Counter(group.node for group in relaxed.variables.classes.victims for _ in group.tasks)
    assert sum(aggregate_nodes.values()) == nodes
    assert aggregate_nodes.keys() == places


class TestNodeClassesThatAreTooWeak:
    """A pool takes room on two nodes for room on one; what it says of too much is asked again, node by node."""

    def sights(self, monkeypatch: pytest.MonkeyPatch, cores: int) -> tuple[list[bool], Solution]:
        """Whether the relaxed models had node classes, for ten tasks on empty nodes of 3 cores each."""
        asked: list[bool] = []
        look = LexicographicBounds.run

        def overheard(self: LexicographicBounds, end: float) -> None:
            asked.append(self.relaxed.has_node_classes)
            look(self, end)

        monkeypatch.setattr(LexicographicBounds, "run", overheard)
        job = {"name": "job", "minMember": 1, "tasks": [_task(cores, replicas=10)]}
        snapshot = snapshot_of(cluster(job, nodes={f"n{i}": 3 for i in range(LEAST_NODES)}))
        return asked, decide(snapshot.instance, snapshot.policy, SolveParams(workers=1, deterministic=True))

    def values(self, solution: Solution) -> dict[str, Any]:
        assert all(level.proved for level in solution.levels)
        return {level.name: level.value for level in solution.levels}

    def test_two_cores_do_not_lie_across_two_nodes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        asked, solution = self.sights(monkeypatch, cores=2)
        assert asked == [True, False]
        assert self.values(solution)["tasks_bound"] == LEAST_NODES

    def test_a_pool_does_not_know_how_many_of_its_nodes_are_used(self, monkeypatch: pytest.MonkeyPatch) -> None:
        asked, solution = self.sights(monkeypatch, cores=1)
        assert asked == [True, False]
        assert self.values(solution)["tasks_bound"] == 10
        assert self.values(solution)["nodes_used"] == 4


def test_of_nodes_alike_the_first_are_used() -> None:
    snapshot = snapshot_of(cluster({"name": "job", "tasks": [_task(2)]}, nodes={"n1": 4, "n2": 2, "n3": 4}))
    bounding = LexicographicBounds(SessionModel(snapshot), portfolio(), [])
    assert bounding.relaxed.variables.capacity.identical_nodes == (("n1", "n3"), ("n2",))
    bounding.run(60.0)
    places = {node for (_, node), x in bounding.relaxed.variables.bind.items() if (bounding.values or [])[x.index]}
    assert places in ({"n1"}, {"n2"})


def test_a_pool_of_nodes_that_are_too_full_has_no_room_and_a_lone_one_owes_it() -> None:
    rooms = {"full": {"cpu": -3, "pods": 1}, "other": {"cpu": -3, "pods": 1}, "lone": {"cpu": -5}}
    pools = {"full": "full", "other": "full", "lone": "lone"}
    assert _summed(rooms, pools) == {"full": {"cpu": 0, "pods": 2}, "lone": {"cpu": -5}}


@pytest.mark.parametrize("start", range(0, 200, 50))
def test_no_decision_is_better_than_the_bound(start: int) -> None:
    reached = 0
    for seed in range(start, start + 50):
        snapshot = contest(seed).snapshot()
        plan, best = level_plan(snapshot), optimum(snapshot)
        bounding = LexicographicBounds(SessionModel(snapshot), portfolio(), [])
        bounding.run(60.0)
        stages = [stages_of(SessionModel(snapshot).variables, *level) for level in plan[: len(bounding.levels)]]
        values = [[stage.value(best.decisions[0]) for stage in level] for level in stages]
        found = [[stage.value for stage in level] for level in bounding.levels]
        assert found <= values, seed
        reached += found == values
    assert reached > 25


class TestThoseOfLowerPriority:
    """While the higher ones are admitted they are left away, unless a rule can need them."""

    conf: ClassVar = conf("allocate, preempt", "capacity", "gang", "priority", "predicates")

    def admitted(self, guarantee: int, low: int) -> int | str | None:
        """A queue that holds its two cores with one pod, which a high job of one core wants to replace."""
        queue = {"name": "q", "deserved": {"cpu": 4}, "guarantee": {"cpu": guarantee}}
        running = {"name": "run", "queue": "q", "priorityClassName": "p10", "minMember": 0}
        jobs = [
            running | {"tasks": [_task(2, running="n1")]},
            {"name": "high", "queue": "q", "priorityClassName": "p100", "minMember": 1, "tasks": [_task(1)]},
            {"name": "low", "queue": "q", "priorityClassName": "p50", "minMember": 1, "tasks": [_task(low)]},
        ]
        source = cluster(*jobs, nodes=2, queues=[queue])
        snapshot = snapshot_of(source, conf=self.conf, rules={"protect.guarantee": "on"})
        solution = decide(snapshot.instance, snapshot.policy, SolveParams(workers=1, deterministic=True))
        assert solution.levels[0].value == optimum(snapshot).values[0]
        return solution.levels[0].value

    @pytest.mark.parametrize(("guarantee", "low", "admitted"), [(1, 2, 1), (2, 1, 1), (2, 2, 0)])
    def test_the_guarantee_may_need_them(self, guarantee: int, low: int, admitted: int) -> None:
        assert self.admitted(guarantee, low) == admitted

    @pytest.mark.parametrize(("room", "admitted"), [(2, 1), (1, 0)])
    def test_a_gang_may_keep_its_minimum_by_a_task_that_starts_elsewhere(self, room: int, admitted: int) -> None:
        """Its only running task makes way if another one starts on the node where the high job cannot be."""
        here = {"nodeSelector": {"kubernetes.io/hostname": "n1"}}
        gang = [_task(2, running="n1"), _task(2) | {"role": "more"}]
        jobs = [
            {"name": "gang", "priorityClassName": "p10", "minMember": 1, "tasks": gang},
            {"name": "high", "priorityClassName": "p100", "minMember": 1, "tasks": [_task(2, **here)]},
        ]
        nodes = [
            {"name": name, "labels": {"kubernetes.io/hostname": name}, "allocatable": {"cpu": cpu, "pods": 9}}
            for name, cpu in (("n1", 2), ("n2", room))
        ]
        snapshot = snapshot_of(cluster(*jobs, nodes=nodes))
        solution = decide(snapshot.instance, snapshot.policy, SolveParams(workers=1, deterministic=True))
        assert solution.levels[0].value == optimum(snapshot).values[0] == admitted


@pytest.mark.parametrize(
    ("minimum", "by_role", "at_work", "needed"),
    [(0, {}, 0, 1), (3, {}, 0, 3), (4, {"a": 2, "b": 2}, 0, 4), (4, {"a": 2, "b": 2}, 3, 2), (4, {}, 3, 1)],
)
def test_more_tasks_than_its_minima_ask_for_serve_a_gang_no_better(
    minimum: int, by_role: dict[str, int], at_work: int, needed: int
) -> None:
    running = {"running": ["n1"] * at_work} if at_work else {}
    tasks = [_task(1, replicas=2 + at_work, **running) | {"role": "a"}, _task(1, replicas=2) | {"role": "b"}]
    gang = {"name": "gang", "minMember": minimum, "minTaskMember": by_role, "tasks": tasks}
    program = SessionModel(snapshot_of(cluster(gang)))
    [jobs] = program.variables.classes.jobs
    assert enough(program.variables, jobs) == needed


def test_which_solver_was_first_does_not_decide_between_equals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever assignment settles the levels, the decision comes of the one that is looked for once more."""
    minimize = Portfolio.minimize
    snapshot = session(5, a="p50", b="p100")

    def another(cp: cp_model.CpModel, values: list[int], whim: Random) -> list[int]:
        model: Any = cp.clone()
        variables = [model.get_int_var_from_proto_index(number) for number in range(len(values))]
        objective = model.proto.objective
        model.add(
            sum(c * (variables[x] - values[x]) for x, c in zip(objective.vars, objective.coeffs, strict=True)) == 0
        )
        model.minimize(sum(whim.randint(-9, 9) * variable for variable in variables))
        solver = cp_model.CpSolver()
        assert solver.solve(model) == cp_model.OPTIMAL
        return list(solver.response_proto.solution)[: len(values)]

    def decision(seed: int) -> Solution:
        whim = Random(seed)

        def in_parallel(self: Portfolio, cp: cp_model.CpModel, *args: Any, **options: Any) -> Answer:
            outcome = minimize(self, cp, *args, **options)
            outcome = replace(outcome, solutions=[another(cp, values, whim) for values in outcome.solutions])
            self.is_reproducible = False
            return outcome

        monkeypatch.setattr(Portfolio, "minimize", in_parallel)
        return decide(snapshot.instance, snapshot.policy, SolveParams(workers=1))

    decisions = [decision(seed) for seed in range(5)]
    assert all(level.proved for level in decisions[0].levels)
    assert len({str((d.binds, d.pipelined, d.evictions)) for d in decisions}) == 1


@pytest.mark.parametrize(
    ("seed", "answers", "distrusted"),
    [
        (0, ["yes"], set()),
        (
            57,
            ["no", "yes"],
            {name for name, traits in LEVEL_TRAITS.items() if traits.counts_placements}
            - {"queue_deficit_total", "resources_placed"},
        ),  # the deficit's bound is not attained, the others are
        (70, ["no", "no", "yes", "yes", "yes", "yes"], {"victim_start_time", "tasks_bound", "tasks_placed"}),
    ],
)
def test_one_question_closes_all_levels_whose_bounds_are_attained(
    monkeypatch: pytest.MonkeyPatch, seed: int, answers: list[str], distrusted: set[str]
) -> None:
    minimize, heard = Portfolio.minimize, []

    def overheard(self: Portfolio, *args: Any, **options: Any) -> Answer:
        outcome = minimize(self, *args, **options)
        heard.append("no" if outcome.infeasible else "yes" if outcome.solutions else "silence")
        return outcome

    monkeypatch.setattr(Portfolio, "minimize", overheard)
    snapshot = contest(seed).snapshot()
    bounding = LexicographicBounds(SessionModel(snapshot), portfolio(), [])
    bounding.run(60.0)
    assert heard == answers
    assert {name for name, _ in bounding._distrusted - {("nodes_used", 0)}} == distrusted
    assert len(bounding.levels) == len(level_plan(snapshot))
