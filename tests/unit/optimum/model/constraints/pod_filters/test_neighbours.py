"""Rows for ports, anti-affinity and affinity."""

from __future__ import annotations

from typing import Any

import pytest

from cpsched.explanation.candidates import alone
from cpsched.optimum.model.session_model import SessionModel
from cpsched.rules import Decision
from tests.judge import cluster, snapshot_of
from tests.oracle.points import admits
from tests.unit.optimum.model.constraints.pod_filters.build_session import Raw, allowed, node, present, waiting

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
NODES = [node("x1"), node("x2"), node("y1"), node("k1", "")]


def near(app: str = "a", *keys: str) -> Raw:
    """Affinity to an app over the keys, else over zones."""
    terms = [{"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key} for key in keys or ("zone",)]
    return {"affinity": {"podAffinity": {REQUIRED: terms}}}


def away(app: str = "a") -> Raw:
    """Anti-affinity to an app over zones."""
    term = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": "zone"}
    return {"affinity": {"podAntiAffinity": {REQUIRED: [term]}}}


def at(job: str, *nodes: str) -> dict[str, str]:
    """The job's tasks on these nodes."""
    return {f"{job}/t-{number}": name for number, name in enumerate(nodes)}


@pytest.mark.parametrize(("nodes", "fine"), [(["x1", "x2"], True), (["x1", "x1"], False)])
def test_a_port_is_taken_once_on_a_node(nodes: list[str], fine: bool) -> None:
    jobs = [waiting("w", 2, ports=[{"containerPort": 80, "hostPort": 80}])]
    assert allowed(NODES, jobs, binds=at("w", *nodes)) is fine


@pytest.mark.parametrize(("nodes", "fine"), [(["x1", "y1"], True), (["x1", "x2"], False), (["k1", "k1"], True)])
def test_who_repel_each_other_share_no_domain(nodes: list[str], fine: bool) -> None:
    assert allowed(NODES, [waiting("w", 2, **away())], binds=at("w", *nodes)) is fine


def test_one_repels_another_class_and_a_victim_until_it_is_gone() -> None:
    jobs = [waiting("v", 1, "b"), waiting("w", **away("b"))]
    assert not allowed(NODES, jobs, binds={**at("v", "x1"), **at("w", "x2")})
    jobs = [present("r", "x1", "b", priority=10, cpu=18), waiting("w", cpu=2, **away("b"))]
    assert not allowed(NODES, jobs, reserves=at("w", "x1"))
    assert allowed(NODES, jobs, reserves=at("w", "x1"), evicted=["r/t-0"])
    assert not allowed(NODES, jobs, binds=at("w", "x1"), evicted=["r/t-0"])


@pytest.mark.parametrize(
    ("nodes", "fine"), [(["x1", "x2"], True), (["x1", "y1"], False), (["x1", "x1"], True), (["k1"], False)]
)
def test_the_first_of_its_kind_goes_anywhere_and_the_others_follow(nodes: list[str], fine: bool) -> None:
    assert allowed(NODES, [waiting("w", 2, **near())], binds=at("w", *nodes)) is fine


def test_there_is_one_first_of_all_classes_with_the_same_terms() -> None:
    jobs = [waiting("v", **near()), waiting("w", priority=50, **near())]
    assert not allowed(NODES, jobs, binds={**at("v", "x1"), **at("w", "y1")})
    assert allowed(NODES, jobs, binds={**at("v", "x1"), **at("w", "x2")})


@pytest.mark.parametrize(("where", "fine"), [("x2", True), ("y1", False)])
def test_no_task_is_first_where_a_task_is_there(where: str, fine: bool) -> None:
    assert allowed(NODES, [present("r", "x1"), waiting("w", **near())], binds=at("w", where)) is fine


def test_a_task_without_the_key_is_no_company() -> None:
    assert allowed(NODES, [present("r", "k1"), waiting("w", **near())], binds=at("w", "y1"))


def test_one_is_first_once_the_victims_are_gone() -> None:
    jobs = [present("r", "x1", priority=10, cpu=18), waiting("w", cpu=2, **near()), waiting("v", 1, "b", cpu=2)]
    assert not allowed(NODES, jobs, reserves=at("w", "y1"))
    gone: Any = {"evicted": ["r/t-0"]}
    assert allowed(NODES, jobs, reserves={**at("w", "y1"), **at("v", "x1")}, **gone)
    assert not allowed(NODES, jobs, binds=at("w", "y1"), reserves=at("v", "x1"), **gone)


@pytest.mark.parametrize(("where", "fine"), [("x1", True), ("y1", False)])
def test_company_may_come_with_the_decision(where: str, fine: bool) -> None:
    jobs = [waiting("host", 1, "b"), waiting("w", **near("b"))]
    assert allowed(NODES, jobs, binds={**at("host", where), **at("w", "x2")}) is fine


def test_who_needs_company_does_not_wait_for_it_beside_victims() -> None:
    jobs = [present("r", "x1", "c", priority=10, cpu=19), waiting("host", 1, "b"), waiting("w", **near("b"))]
    places: Any = {"binds": at("w", "x2"), "reserves": at("host", "x1")}
    assert allowed(NODES, jobs, **places)
    assert not allowed(NODES, jobs, **places, evicted=["r/t-0"])


def test_company_that_is_evicted_is_none() -> None:
    jobs = [present("r", "x1", "b", priority=10, cpu=18), waiting("w", cpu=2, **near("b"))]
    assert allowed(NODES, jobs, reserves=at("w", "x1"))
    assert not allowed(NODES, jobs, reserves=at("w", "x1"), evicted=["r/t-0"])


@pytest.mark.parametrize(("nodes", "fine"), [(["x1", "x1"], True), (["x1", "x2"], False)])
def test_company_is_needed_for_every_key(nodes: list[str], fine: bool) -> None:
    assert allowed(NODES, [waiting("w", 2, **near("a", "zone", "host"))], binds=at("w", *nodes)) is fine


def test_affinity_that_does_not_parse_refuses_the_task() -> None:
    wrong = {"matchExpressions": [{"key": "app", "operator": "Near", "values": ["a"]}]}
    term = {"labelSelector": wrong, "topologyKey": "zone"}
    assert not allowed(NODES, [waiting("w", affinity={"podAffinity": {REQUIRED: [term]}})], binds=at("w", "x1"))


@pytest.mark.parametrize(("company", "fine"), [("x1", True), ("y1", False)])
def test_company_counts_on_nodes_where_no_task_is_to_be_placed(company: str, fine: bool) -> None:
    snapshot = snapshot_of(cluster(present("r", company, "b"), waiting("w", **near("b")), nodes=NODES), model="kube")
    task = snapshot.instance.tasks["w/t-0"]
    session = alone(snapshot, task, "x2")
    assert list(session.instance.nodes) == ["x2"]
    assert admits(SessionModel(session), Decision(session, {}, {task.key: "x2"})) is fine
