"""Dumps of a live cluster before the real kube-scheduler 1.36.3 decided, read without a flag, and what it decided."""

from __future__ import annotations

import json
from typing import Any

import pytest

import cpsched
from cpsched import engines
from cpsched.greedy.kube import Options, Run, replay
from cpsched.greedy.kube.victims import start_time
from cpsched.importers.policy import load_policy
from cpsched.instance import Instance, Status
from cpsched.objectives import comparable
from cpsched.solution import Level, Solution, SolutionStatus
from cpsched.timestamps import parse
from tests.conformance.live_dumps import DATA, Row, cluster, rows

ROWS = rows("kube")
TIES = sorted(step for step, row in ROWS.items() if "tie" in row)
EXACT = sorted(set(ROWS) - set(TIES))
SEEDS = range(2, 66)
PENDING = {
    "batch/gated": "",
    "batch/too-big": "6 Insufficient cpu",
    "data/unbound-claim": "pod has unbound immediate PersistentVolumeClaims",
    "data/waits-for-volume": 'made-this" not found',
    "default/other-scheduler": "",
    "ml/wants-b200": "9 node(s) didn't match Pod's node affinity/selector",
}
"""The pods that wait in the plain cluster, and what kube-scheduler says of them."""


def asked(row: Row, instance: Instance) -> list[str]:
    """The new pods, or, of a scheduler that was started after the dump, all that wait for it."""
    if row["mode"] == "kept running":
        return sorted(row["created"])
    waiting = (task for task in instance.tasks.values() if not task.node and task.status is Status.PENDING)
    return sorted(task.key for task in waiting if task.spec.scheduler_name == "default-scheduler")


def decided(step: str, seed: int | None = None) -> Run:
    instance = cluster("kube", step)
    return replay(instance, load_policy(instance=instance), Options(seed=seed))


def texts(run: Run, pods: list[str]) -> dict[str, str]:
    return {attempt.pod: attempt.message for attempt in run.attempts if attempt.pod in pods and attempt.message}


def is_as_recorded(row: Row, run: Run, pods: list[str]) -> bool:
    parts = (run.binds, row["binds"]), (run.nominations, row["nominated"])
    placed = all(ours.get(pod) == real.get(pod) for ours, real in parts for pod in pods)
    return placed and {victim for victim, _, _ in run.evictions} == set(row["victims"])


def test_every_row_is_tried() -> None:
    assert (len(EXACT), len(TIES)) == (37, 8)


@pytest.mark.parametrize("step", ROWS)
def test_the_model_is_kubes_and_the_stranger_is_named(step: str) -> None:
    instance = cluster("kube", step)
    policy = load_policy(instance=instance)
    waiting = len(asked({**ROWS[step], "mode": "restarted"}, instance))
    assert policy.choice == f"Model kube: {waiting} pods of kube-scheduler pending, none of Volcano."
    [named] = policy.warnings
    assert named.startswith("1 pod of scheduler my-scheduler is pending (default/other-scheduler)")


@pytest.mark.parametrize("step", EXACT)
def test_the_decision_is_the_real_one(step: str) -> None:
    row, run, pods = ROWS[step], decided(step), asked(ROWS[step], cluster("kube", step))
    assert {pod: run.binds[pod] for pod in pods if pod in run.binds} == of(row["binds"], pods)
    assert {pod: run.nominations[pod] for pod in pods if pod in run.nominations} == of(row["nominated"], pods)
    evicted = {victim: preemptor for victim, _, preemptor in run.evictions}
    assert evicted.keys() == row["victims"].keys()
    # Of several that chose the same victim, the first evicts it.
    assert all(preemptor in preemptors(row["victims"][victim]["by"]) for victim, preemptor in evicted.items())
    real = of(row["failed_scheduling"], pods)
    assert {pod: text for pod, text in texts(run, pods).items() if pod in real} == real


@pytest.mark.parametrize("step", TIES)
def test_a_tie_is_drawn(step: str) -> None:
    """Some seed decides exactly as the real scheduler did."""
    row, pods = ROWS[step], asked(ROWS[step], cluster("kube", step))
    assert any(is_as_recorded(row, decided(step, seed), pods) for seed in SEEDS)


@pytest.mark.parametrize("step", TIES)
def test_the_fixed_choice_is_as_good_as_the_real_one(step: str) -> None:
    """The same pods are placed, and as many victims of the same priorities and start times go."""
    row, run, instance = ROWS[step], decided(step), cluster("kube", step)
    pods = asked(row, instance)
    assert run.binds.keys() & set(pods) == row["binds"].keys() & set(pods)
    assert run.nominations.keys() & set(pods) == row["nominated"].keys() & set(pods)
    ours, real = [victim for victim, _, _ in run.evictions], list(row["victims"])
    if "what follows" not in row["tie"]:
        assert worth(instance, ours) == worth(instance, real)


def worth(instance: Instance, victims: list[str]) -> list[tuple[int, int]]:
    tasks = (instance.tasks[key] for key in victims)
    return sorted((task.pod_priority, start_time(task)) for task in tasks)


def of(recorded: dict[str, str], pods: list[str]) -> dict[str, str]:
    return {pod: recorded[pod] for pod in pods if pod in recorded}


def preemptors(stated: Any) -> set[str]:
    return {stated} if isinstance(stated, str) else set(stated)


@pytest.mark.parametrize("step", EXACT)
def test_the_real_decision_breaks_no_rule(step: str) -> None:
    found = cpsched.solve(cluster("kube", step), engine="kube")
    assert (found.model, found.findings) == ("kube", ())


@pytest.mark.parametrize("step", ["k03-gpu", "k06-spread", "f01-preempt-low", "f05-standard-vs-low", "f06-budgets"])
def test_what_is_proved_is_not_contradicted(step: str) -> None:
    """What the real scheduler did is never better than what is called the best."""
    instance = cluster("kube", step)
    real, best = cpsched.solve(instance, engine="kube"), cpsched.solve(instance)
    assert best.status is SolutionStatus.OPTIMAL
    assert best.findings == ()
    assert ranked(best) <= ranked(real)


def ranked(solution: Solution) -> Any:
    return comparable([(one.name, one.priority) for one in solution.levels], [number(one) for one in solution.levels])


def number(level: Level) -> int | None:
    return parse(level.value) if isinstance(level.value, str) else level.value


@pytest.fixture(scope="module", params=["plain.json.gz", "plain-cluster-info-dump.txt.gz"])
def plain(request: pytest.FixtureRequest) -> Instance:
    """One moment of one cluster, as both of kubectl's dumps show it."""
    return cpsched.load(DATA / request.param)


def test_the_plain_cluster_is_kube_schedulers(plain: Instance) -> None:
    policy = load_policy(instance=plain)
    assert policy.choice == "Model kube: 5 pods of kube-scheduler pending, none of Volcano."
    assert [text.partition(":")[0] for text in policy.warnings] == [
        "1 pod of scheduler my-scheduler is pending (default/other-scheduler)"
    ]
    assert (len(plain.nodes), len(plain.tasks)) == (12, 103)


def test_both_dumps_of_the_plain_cluster_give_the_same_answer(plain: Instance) -> None:
    """Nothing is bound, by the mirror or by the optimum."""
    policy = load_policy(instance=plain)
    found = {engine: engines.run(engine, plain, policy, engines.Options()) for engine in ("kube", "optimal")}
    for one in found.values():
        assert (one.binds, one.evictions, one.nominations, one.findings) == ({}, (), {}, ())
        assert one.model == "kube"
    assert values(found["kube"]) == values(found["optimal"])
    assert set(found["kube"].unplaced) == set(PENDING)


def test_the_plain_cluster_says_why_pods_wait() -> None:
    found = cpsched.solve(cpsched.load(DATA / "plain.json.gz"), engine="kube")
    for pod, text in PENDING.items():
        assert text in " ".join(found.unplaced[pod])


def values(solution: Solution) -> str:
    return json.dumps([level.value for level in solution.levels])
