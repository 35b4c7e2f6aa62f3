"""Rules of enqueue, allocate and backfill that few or no recorded rows pin down."""

from __future__ import annotations

import pytest

from cpsched.errors import InputError
from cpsched.greedy.volcano import Options
from cpsched.greedy.volcano.finder import nodes_to_find
from cpsched.greedy.volcano.jobs import JobState
from tests.unit.greedy_volcano.cluster import conf, group, node, opened, pod, priority_class, queue, run

PLAIN = ("priority", "gang", "conformance", "predicates", "proportion", "nodeorder")


def test_an_overused_queue_is_dropped_and_the_reason_stated() -> None:
    """q1 holds all it deserves, cpu and pods, but not all it asks for."""
    objects = [
        node("n0", cpu="4", pods=4),
        queue("q0"),
        queue("q1"),
        group("a", queue="q0"),
        group("b", queue="q1", phase="Running"),
        group("c", queue="q1"),
        *(pod(f"a-{i}", "a") for i in range(3)),
        *(pod(f"b-{i}", "b", on="n0") for i in range(2)),
        pod("c-0", "c"),
    ]
    found = run(objects, conf("allocate", PLAIN)).solution
    assert found.binds == {"ns/a-0": "n0", "ns/a-1": "n0"}
    [reason] = [text for text in found.unplaced["ns/c-0"] if "holds all" in text]
    assert reason == "allocate: proportion: queue q1 holds all it deserves (cpu 2 of 2, memory 0 of 0, pods 2 of 2)"


def test_a_task_beyond_the_deserved_share_says_so_in_numbers() -> None:
    objects = [
        node("n0", cpu="4"),
        queue("q0"),
        queue("q1"),
        group("a", queue="q0"),
        group("b", queue="q1"),
        pod("a-0", "a", cpu="3"),
        pod("b-0", "b", cpu="3"),
    ]
    found = run(objects, conf("allocate", PLAIN)).solution
    text = "allocate: proportion: queue q0 would exceed its deserved share (cpu 3 of 2)"
    assert found.unplaced["ns/a-0"] == [text]


def test_a_ready_job_places_one_task_per_visit() -> None:
    """Both jobs are ready after one task; room for three: each gets its turn before one gets its third."""
    objects = [
        node("n0", cpu="4"),
        queue(),
        group("a", second=1),
        group("b", second=2),
        *(pod(f"a-{i}", "a", second=i) for i in range(4)),
        *(pod(f"b-{i}", "b", second=i) for i in range(4)),
    ]
    drf = conf("allocate", ("gang", "drf", "predicates"))
    binds = run(objects, drf).solution.binds
    assert sorted(task[3] for task in binds) == ["a", "a", "b", "b"]


def test_the_pods_resource_limits_a_node_without_predicates() -> None:
    objects = [node("n0", pods=1), queue(), group("a"), pod("a-0", "a"), pod("a-1", "a")]
    found = run(objects, conf("allocate", ("gang",)))
    assert len(found.solution.binds) == 1
    assert list(found.solution.unplaced.values()) == [["0/1 nodes are unavailable: 1 Insufficient pods."]]


def test_a_pipelined_job_keeps_its_room_unbound() -> None:
    """One task fits now, one only once a terminating pod is gone: nothing is bound, and job b gets nothing."""
    going = {"deletionTimestamp": "2026-01-01T00:09:00Z"}
    objects = [
        node("n0", cpu="2"),
        queue(),
        group("old", phase="Running"),
        group("a", minimum=2, second=1),
        group("b", second=2),
        pod("old-0", "old", on="n0", metadata=going),
        pod("a-0", "a"),
        pod("a-1", "a"),
        pod("b-0", "b"),
    ]
    found = run(objects, conf("allocate", ("priority", "gang", "predicates"))).solution
    assert (found.binds, found.allocated, found.pipelined) == ({}, {"ns/a-0": "n0"}, {"ns/a-1": "n0"})
    assert "ns/b-0" in found.unplaced


def test_a_role_that_failed_is_not_tried_again() -> None:
    """w-1 would fit, but w-0 of the same role did not."""
    objects = [
        node("n0", cpu="2"),
        queue(),
        group("a", minimum=1),
        pod("a-w-0", "a", cpu="3", role="w"),
        pod("a-w-1", "a", cpu="1", role="w"),
        pod("a-ps-2", "a", cpu="1", role="ps"),
    ]
    found = run(objects, conf("allocate", ("gang", "predicates"))).solution
    assert found.binds == {"ns/a-ps-2": "n0"}
    assert found.unplaced["ns/a-w-1"] == ["Task a-w-1 with role spec w has already predicated failed, skip"]


def job_of(minimum: int, tasks: list[tuple[str, str]], **spec: object) -> JobState:
    """A job with tasks of (role, node)."""
    pods = [pod(f"a-{i}", "a", role=role, on=on) for i, (role, on) in enumerate(tasks)]
    session = opened([node("n0"), queue(), group("a", minimum=minimum, **spec), *pods], conf("allocate", ("gang",)))
    return session.jobs["ns/a"]


@pytest.mark.parametrize(
    ("minimum", "tasks", "spec", "failed", "goes_on"),
    [
        (2, [("w", ""), ("w", "")], {}, "ns/a-0", False),
        (1, [("w", ""), ("ps", "")], {}, "ns/a-0", True),
        # Below the sum of the roles' minima only the number of tasks left counts.
        (2, [("w", ""), ("ps", ""), ("ps", "")], {"minTaskMember": {"w": 2, "ps": 2}}, "ns/a-0", True),
        (2, [("w", ""), ("w", ""), ("ps", "")], {"minTaskMember": {"w": 2, "ps": 2}}, "ns/a-0", False),
        # Otherwise a failed role must have its minimum already.
        (2, [("w", ""), ("w", "n0"), ("ps", "")], {"minTaskMember": {"w": 1, "ps": 1}}, "ns/a-0", True),
        (2, [("w", ""), ("w", ""), ("ps", "")], {"minTaskMember": {"w": 1, "ps": 1}}, "ns/a-0", False),
    ],
)
def test_need_continue(
    minimum: int, tasks: list[tuple[str, str]], spec: dict[str, object], failed: str, goes_on: bool
) -> None:
    job = job_of(minimum, tasks, **spec)
    job.fit_errors[failed] = None  # type: ignore[assignment]
    assert job.need_continue(job.sub_jobs[job.key]) is goes_on


def test_per_role_minima_hold_only_within_the_gangs_minimum() -> None:
    assert not job_of(2, [("w", "n0"), ("w", "n0")], minTaskMember={"w": 1, "ps": 1}).roles_ready()
    assert job_of(1, [("w", "n0"), ("w", "n0")], minTaskMember={"w": 1, "ps": 1}).roles_ready()


@pytest.mark.parametrize(
    ("count", "enough"),
    [(1, 1), (100, 100), (101, 100), (250, 120), (400, 188), (1523, 578), (5000, 500), (20000, 1000)],
)
def test_how_many_nodes_are_enough(count: int, enough: int) -> None:
    assert nodes_to_find(count) == enough


@pytest.mark.parametrize("fast", [True, False])
def test_the_search_goes_on_where_it_stopped(fast: bool) -> None:
    """The tie goes to the first node found, and the second search begins where the first one stopped."""
    objects = [*(node(f"n{i:03d}", cpu="8") for i in range(150)), queue(), group("a", minimum=2)]
    objects += [pod("a-x-0", "a"), pod("a-x-1", "a")]
    binds = run(objects, conf("allocate", ("gang", "predicates")), Options(fast=fast)).solution.binds
    # 73 of 150 would be 49 %, but 100 are the least; the search stops at the 101st node, number 100.
    assert binds == {"ns/a-x-0": "n000", "ns/a-x-1": "n101"}


def test_a_best_effort_task_is_bound_only_with_its_gang() -> None:
    objects = [
        node("n0", cpu="1"),
        queue(),
        group("a", minimum=3),
        pod("a-0", "a", cpu=""),
        pod("a-1", "a"),
        pod("a-2", "a"),
    ]
    found = run(objects, conf("allocate, backfill", ("gang", "predicates"))).solution
    assert found.binds == {}
    assert found.allocated == {"ns/a-0": "n0"}


def test_an_eviction_that_serves_no_task() -> None:
    """preempt clears a place for a best-effort pod; backfill takes the reservation back and cannot bind it there."""
    objects = [
        node("n0", pods=1),
        queue(),
        priority_class("low", 1),
        priority_class("high", 9),
        group("old", minimum=0, phase="Running", priorityClassName="low"),
        group("new", priorityClassName="high"),
        pod("old-0", "old", cpu="", on="n0"),
        pod("new-0", "new", cpu=""),
    ]
    found = run(objects, conf("preempt, backfill", ("priority", "gang"))).solution
    assert [eviction.task for eviction in found.evictions] == ["ns/old-0"]
    assert (found.binds, found.pipelined, found.allocated) == ({}, {}, {"ns/new-0": "n0"})


def test_enqueue_lets_jobs_in_until_the_quota_is_used_up() -> None:
    objects = [
        node("n0", cpu="4"),
        queue(capability={"cpu": "2"}),
        group("a", phase="Pending", second=1, minResources={"cpu": "2"}),
        group("b", phase="Pending", second=2, minResources={"cpu": "1"}),
        pod("a-0", "a", cpu="2"),
        pod("b-0", "b"),
    ]
    found = run(objects, conf("enqueue", ("gang", "proportion"))).solution
    assert found.phases == {"ns/a": "Inqueue", "ns/b": "Pending"}
    assert found.unplaced["ns/b-0"] == ["its PodGroup is Pending: queue resource quota insufficient: insufficient cpu"]


def test_a_bind_that_fails_is_taken_out_and_stated() -> None:
    fails = {"annotations": {"cpsched/bind-fails": "true"}}
    objects = [node("n0"), queue(), group("a", minimum=2), pod("a-0", "a", metadata=fails), pod("a-1", "a")]
    found = run(objects, conf("allocate", ("gang", "predicates"))).solution
    assert found.binds == {"ns/a-1": "n0"}
    assert found.phases == {"ns/a": "Inqueue"}
    [text] = found.unplaced["ns/a-0"]
    assert text.startswith("SchedulerError: execute preBind for pod ns/a-0 failed")


def test_what_is_not_mirrored_is_refused() -> None:
    off = {"name": "predicates", "enablePredicate": False}
    with pytest.raises(InputError, match="enablePredicate"):
        run([node("n0"), queue(), group("a"), pod("a-0", "a")], conf("allocate", (off,)))
