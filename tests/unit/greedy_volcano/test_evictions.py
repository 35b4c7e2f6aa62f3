"""Rules of preempt and reclaim that few or no recorded rows pin down."""

from __future__ import annotations

from typing import Any

import pytest

from cpsched.greedy.volcano.plugins.drf_tree import Branch, _saturated
from cpsched.greedy.volcano.statement import Statement
from cpsched.greedy.volcano.status import Status
from tests.unit.greedy_volcano.cluster import Object, conf, group, node, opened, pod, priority_class, queue, run

CLASSES = [priority_class("low", 1), priority_class("mid", 5), priority_class("high", 9)]
ONE_TIER = ("conformance", "gang", "priority", "predicates")


def test_the_victim_order_lives_on_while_others_go() -> None:
    """The first victim makes job a not ready, hence more important: as soon as the heap compares again, b's task goes
    first although it is older. The second victim was at the top before the first one was gone."""
    objects = [
        node("n0"),
        queue(),
        *CLASSES,
        group("a", minimum=3, phase="Running"),
        group("b", minimum=1, phase="Running"),
        group("c", priorityClassName="high"),
        pod("b-1", "b", on="n0", second=1),
        *(pod(f"a-{i}", "a", on="n0", second=2 + i) for i in range(3)),
        pod("c-1", "c", cpu="4"),
    ]
    session = opened(objects, conf("preempt", ("priority", "gang")))
    preemptor = session.tasks["ns/c-1"]
    victims = [session.tasks[f"ns/{name}"] for name in ("b-1", "a-0", "a-1", "a-2")]
    fixed = session.victims_queue(victims, preemptor)
    assert [fixed.pop().key[3:] for _ in victims] == ["a-2", "a-1", "a-0", "b-1"]
    waiting, order, statement = session.victims_queue(victims, preemptor), [], Statement(session)
    while waiting:
        victim = waiting.pop()
        statement.evict(victim, "preempt", preemptor.job)
        order.append(victim.key[3:])
    assert order == ["a-2", "a-1", "b-1", "a-0"]


def test_a_restored_victim_is_missing_from_the_filters_picture_only() -> None:
    objects = [
        node("n0", pods=2),
        queue(),
        group("a", phase="Running"),
        pod("a-0", "a", on="n0"),
        group("b"),
        pod("b-0", "b"),
    ]
    session = opened(objects, conf("preempt", ("gang", "proportion", "predicates")))
    victim, preemptor = session.tasks["ns/a-0"], session.tasks["ns/b-0"]
    before = dict(session.nodes["n0"].idle)
    statement = Statement(session)
    statement.evict(victim, "preempt", preemptor.job)
    assert session.nodes["n0"].releasing == {"cpu": 1000, "memory": 0, "pods": 1}
    statement.discard()
    assert victim.status is Status.RUNNING
    assert session.nodes["n0"].idle == before
    assert session.picture is not None
    assert session.picture.nodes["n0"].tasks == []


def test_a_statement_is_undone_last_first() -> None:
    """A task that was placed and then evicted is restored to its place first, and only then taken from it."""
    objects = [node("n0"), queue(), group("a"), pod("a-0", "a")]
    session = opened(objects, conf("allocate", ("gang", "predicates")))
    task, account = session.tasks["ns/a-0"], session.nodes["n0"]
    before = dict(account.idle)
    assert session.pre_predicate(task) is None
    statement = Statement(session)
    assert statement.allocate(task, account)
    statement.evict(task, "preempt", task.job)
    statement.discard()
    assert (task.status, task.node) == (Status.PENDING, "")
    assert account.idle == before
    assert not any(account.releasing.values())
    assert session.picture is not None
    assert session.picture.nodes["n0"].tasks == []


def test_one_objection_is_enough_to_leave_a_task_where_it_is() -> None:
    """The node has room, but Reserve finds no PreFilter state: upstream undoes what the node has booked."""
    objects = [node("n0"), queue(), group("a"), pod("a-0", "a")]
    session = opened(objects, conf("allocate", ("gang", "predicates")))
    task, account = session.tasks["ns/a-0"], session.nodes["n0"]
    before = dict(account.idle)
    statement = Statement(session)
    assert not statement.allocate(task, account)
    assert not statement.pipeline(task, account, after_eviction=False)
    assert (task.status, task.node) == (Status.PENDING, "")
    assert account.idle == before


def test_a_bound_victim_comes_back_as_running() -> None:
    objects = [
        node("n0"),
        queue(),
        group("a"),
        pod("a-0", "a", on="n0", metadata={"phase": "Pending"}),
        pod("a-1", "a"),
    ]
    session = opened(objects, conf("preempt", ("gang",)))
    victim = session.tasks["ns/a-0"]
    assert victim.status is Status.BOUND
    statement = Statement(session)
    statement.evict(victim, "preempt", "ns/a")
    statement.discard()
    assert victim.status is Status.RUNNING


def preempt_session(victim_cpu: str, preemptor_cpu: str, **victim: Any) -> list[Object]:
    return [
        node("n0", cpu="4"),
        queue(),
        *CLASSES,
        group("old", phase="Running", priorityClassName="low"),
        group("new", priorityClassName="high"),
        *(pod(f"old-{i}", "old", cpu=victim_cpu, on="n0", second=i, **victim) for i in range(2)),
        pod("new-0", "new", cpu=preemptor_cpu),
    ]


def test_a_best_effort_task_evicts_only_its_like() -> None:
    full = [node("n0", pods=2), *preempt_session("1", "")[1:]]
    assert run(full, conf("preempt", ONE_TIER)).solution.evictions == ()
    alike = [node("n0", pods=2), *preempt_session("", "")[1:]]
    assert [e.task for e in run(alike, conf("preempt", ONE_TIER)).solution.evictions] == ["ns/old-0"]


def test_preempt_may_place_without_evicting_in_normal_mode_only() -> None:
    objects = preempt_session("1", "1")
    normal = run(objects, conf("preempt", ONE_TIER)).solution
    assert normal.pipelined == {"ns/new-0": "n0"}
    assert normal.evictions == ()
    aware = run(objects, conf("preempt", ONE_TIER, preempt={"enableTopologyAwarePreemption": True})).solution
    assert aware.pipelined == {}


def test_gang_protects_the_minimum_and_a_veto_falls_through() -> None:
    objects = preempt_session("2", "2")
    objects[5]["spec"]["minMember"] = 2
    assert run(objects, conf("preempt", ONE_TIER)).solution.evictions == ()
    loose = run(objects, conf("preempt", ("gang",), ("priority", "conformance", "predicates"))).solution
    assert [(e.task, e.action, e.for_job, e.node) for e in loose.evictions] == [("ns/old-1", "preempt", "ns/new", "n0")]
    assert loose.nominations == {"ns/new-0": "n0"}


def test_preemption_policy_never() -> None:
    objects = preempt_session("2", "2")
    objects[-1]["spec"]["preemptionPolicy"] = "Never"
    found = run(objects, conf("preempt", ONE_TIER)).solution
    assert found.evictions == ()
    assert "preempt: its preemptionPolicy is Never" in found.unplaced["ns/new-0"]


@pytest.mark.parametrize(
    ("reason", "evicts"), [("PreemptionByScheduler", False), ("DeletionByTaintManager", True), ("", True)]
)
def test_a_nominated_node_that_is_being_cleared_is_waited_for(reason: str, evicts: bool) -> None:
    going = {"deletionTimestamp": "2026-01-01T00:09:00Z"}
    conditions = [{"type": "DisruptionTarget", "status": "True", "reason": reason}]
    objects = preempt_session("2", "2")
    objects[-1]["status"]["nominatedNodeName"] = "n1"
    objects[-1]["spec"]["priority"] = 9
    objects += [
        node("n1", cpu="1"),
        group("x", phase="Running"),
        pod("x-0", "x", on="n1", metadata={**going, "status": {"conditions": conditions}}),
    ]
    assert bool(run(objects, conf("preempt", ONE_TIER)).solution.evictions) is evicts


def test_intra_job_preemption_commits_task_by_task() -> None:
    """A gang short of its minimum evicts its own lower-priority task and keeps the reservation."""
    objects = [
        node("n0", cpu="2"),
        queue(),
        group("a", minimum=3, phase="Running"),
        pod("a-x-0", "a", on="n0", priority=1),
        pod("a-x-1", "a", on="n0", priority=1),
        pod("a-x-2", "a", priority=9),
    ]
    found = run(
        objects, conf("preempt", ({"name": "gang", "enablePreemptable": False}, "priority", "predicates"))
    ).solution
    assert [eviction.task for eviction in found.evictions] == ["ns/a-x-1"]
    assert found.pipelined == {"ns/a-x-2": "n0"}


def reclaim_session(**deserved: str) -> list[Object]:
    return [
        node("n0", cpu="4"),
        queue("q0", deserved={"cpu": "2"}),
        queue("q1", deserved=deserved or {"cpu": "2"}),
        group("old", queue="q1", phase="Running"),
        group("new", queue="q0"),
        *(pod(f"old-{i}", "old", on="n0", second=i) for i in range(4)),
        pod("new-0", "new"),
    ]


def test_reclaim_takes_back_only_what_is_borrowed() -> None:
    tier = ("gang", "conformance", "capacity", "predicates")
    # gang gives up the first three in map order, capacity's order takes the youngest of them.
    assert [e.task for e in run(reclaim_session(), conf("reclaim", tier)).solution.evictions] == ["ns/old-2"]
    assert run(reclaim_session(cpu="4"), conf("reclaim", tier)).solution.evictions == ()


def test_a_guarantee_is_never_touched() -> None:
    """The queue borrows cpu, but every pod of it also holds guaranteed memory."""
    tier = conf("reclaim", ({"name": "gang", "enableReclaimable": False}, "conformance", "capacity", "predicates"))
    for guarantee, evicted in (("3Gi", 1), ("4Gi", 0)):
        objects = reclaim_session()
        objects[2]["spec"]["guarantee"] = {"resource": {"memory": guarantee}}
        for one in objects[5:9]:
            one["spec"]["containers"][0]["resources"]["requests"]["memory"] = "1Gi"
        assert len(run(objects, tier).solution.evictions) == evicted


def test_reclaim_places_without_evicting_where_a_candidate_sits() -> None:
    objects = [node("n1", cpu="8"), *reclaim_session(), pod("old-9", "old", on="n1")]
    found = run(objects, conf("reclaim", ("gang", "conformance", "capacity", "predicates"))).solution
    assert found.pipelined == {"ns/new-0": "n1"}
    assert found.evictions == ()


def test_an_unreclaimable_queue_and_an_unwilling_pod_are_spared() -> None:
    tier = conf("reclaim", ("gang", "conformance", "capacity", "predicates"))
    objects = reclaim_session()
    objects[2]["spec"]["reclaimable"] = False
    assert run(objects, tier).solution.evictions == ()
    objects = reclaim_session()
    for one in objects[5:9]:
        one["metadata"]["labels"] = {"volcano.sh/preemptable": "false"}
    assert run(objects, tier).solution.evictions == ()


@pytest.mark.parametrize("level", [2, 2**62])
def test_a_common_ancestor_at_another_distance_is_still_asked(level: int) -> None:
    """b is below p via m, the reclaimer's queue a directly; p, within its share, is asked two steps above b.

    Levels beyond the highest queue are not walked through one by one.
    """

    def objects(of_p: str) -> list[Object]:
        return [
            node("n0", cpu="4"),
            queue("root"),
            queue("p", parent="root", deserved={"cpu": of_p}),
            queue("a", parent="p", deserved={"cpu": "2"}),
            queue("m", parent="p", deserved={"cpu": "1"}),
            queue("b", parent="m", deserved={"cpu": "1"}),
            group("old", queue="b", phase="Running"),
            group("new", queue="a"),
            *(pod(f"old-{i}", "old", on="n0", second=i) for i in range(4)),
            pod("new-0", "new"),
        ]

    capacity = {"name": "capacity", "enableHierarchy": True, "arguments": {"ancestorReclaimLevel": level}}
    tier = conf("reclaim", ({"name": "gang", "enableReclaimable": False}, "conformance", capacity, "predicates"))
    assert run(objects("8"), tier).solution.evictions == ()
    assert len(run(objects("3"), tier).solution.evictions) == 1


def test_a_job_with_nothing_allocated_is_never_saturated() -> None:
    assert not _saturated(Branch(request={"cpu": 1000}), demanding=set())
    assert not _saturated(Branch(request={"cpu": 1000}, allocated={"cpu": 0}), demanding=set())
    assert _saturated(Branch(request={"cpu": 1000}, allocated={"cpu": 500}), demanding=set())
    assert not _saturated(Branch(request={"cpu": 1000}, allocated={"cpu": 500}), demanding={"cpu"})
    assert _saturated(Branch(request={"cpu": 1000}, allocated={"cpu": 1000}), demanding={"cpu"})


def budget(allowed: int) -> Object:
    metadata = {"name": "b", "namespace": "ns"}
    spec = {"selector": {"matchLabels": {"app": "a"}}}
    status = {"disruptionsAllowed": allowed}
    return {
        "kind": "PodDisruptionBudget",
        "apiVersion": "policy/v1",
        "metadata": metadata,
        "spec": spec,
        "status": status,
    }


@pytest.mark.parametrize(("labels", "allowed", "evicted"), [({"app": "a"}, 1, 1), ({"app": "a"}, 0, 0), ({}, 1, 0)])
def test_budgets_limit_victims_and_a_pod_without_labels_is_never_one(
    labels: dict[str, str], allowed: int, evicted: int
) -> None:
    objects = [*preempt_session("2", "2", metadata={"labels": labels}), budget(allowed)]
    found = run(objects, conf("preempt", ("priority", "pdb", "predicates"))).solution
    assert len(found.evictions) == evicted


def keeps_away(app: str) -> dict[str, Any]:
    term = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": "kubernetes.io/hostname"}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


@pytest.mark.parametrize(
    ("guard_runs", "victim_has_a_term", "evicts"), [(False, True, True), (True, True, False), (False, False, True)]
)
def test_a_filter_once_skipped_stays_skipped(guard_runs: bool, victim_has_a_term: bool, evicts: bool) -> None:
    """late asks for more than allocate can give; guard is placed after that, and keeps late away. preempt goes on with
    the Skip of allocate. Where guard runs already there was no Skip; without a term on n0 at the start none looks."""
    objects = [
        node("n0", cpu="4"),
        queue(),
        *CLASSES,
        group("victim", minimum=0, phase="Running", priorityClassName="low"),
        group("late", priorityClassName="high"),
        group("guard", minimum=1, priorityClassName="mid", phase="Running" if guard_runs else "Inqueue"),
        pod(
            "victim-0",
            "victim",
            cpu="2",
            on="n0",
            priority=1,
            affinity=keeps_away("unseen") if victim_has_a_term else {},
        ),
        pod("guard-0", "guard", on="n0" if guard_runs else "", affinity=keeps_away("late"), priority=5),
        pod("late-0", "late", cpu="3", metadata={"labels": {"app": "late"}}, priority=9),
    ]
    flags = {"name": "gang", "enablePreemptable": False}
    solution = run(objects, conf("allocate, preempt", ("priority", flags, "predicates"))).solution
    assert solution.evicted == ({"ns/victim-0"} if evicts else set())
    assert solution.pipelined == ({"ns/late-0": "n0"} if evicts else {})


def test_the_skip_of_one_task_is_no_other_tasks() -> None:
    objects = [node("n0"), queue(), group("a", minimum=2), pod("a-0", "a"), pod("a-1", "a", affinity=keeps_away("x"))]
    session = opened(objects, conf("allocate", ("gang", "predicates")))
    first, second = session.tasks["ns/a-0"], session.tasks["ns/a-1"]
    assert session.pre_predicate(first) is session.pre_predicate(second) is None
    assert session.predicate(second, session.nodes["n0"]) is None
