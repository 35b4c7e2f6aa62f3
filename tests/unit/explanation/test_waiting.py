"""Everything that waits, by the first reason."""

from __future__ import annotations

from typing import Any

import pytest
from ortools.sat.python import cp_model

from cpsched.explanation.waiting import RESERVED, Waiting, waiting
from cpsched.importers.load import load
from cpsched.importers.policy import load_policy
from cpsched.options import Options
from tests.judge import cluster, conf, job, pending, running

USUAL = conf("enqueue, allocate, preempt, backfill", "priority", "gang", "predicates")


def listed(source: dict[str, Any], engine: str | None = None) -> Waiting:
    instance = load(source)
    return waiting(instance, load_policy("volcano", instance=instance), Options(workers=1), engine)


def rows(found: Waiting) -> list[tuple[str, tuple[str, ...], int]]:
    return [(group.reason, group.jobs, len(group.tasks)) for group in found.groups]


def test_groups_stand_by_priority_then_by_name_and_hold_all_jobs_of_a_reason() -> None:
    found = listed(
        cluster(
            job("b", pending(9), pending(9)),
            job("a", pending(8)),
            job("other", pending(1, nodeSelector={"disk": "ssd"})),
            job("top", pending(7), priority=50),
            job("also", pending(1, nodeSelector={"disk": "no"}), priority=10),
            job("fits", pending(1)),
            nodes={"n1": 2, "n2": 2},
            conf=USUAL,
        )
    )
    large = "Insufficient cpu even if the node were empty (all 2 nodes)"
    selector = "node(s) didn't match Pod's node affinity/selector (all 2 nodes)"
    assert rows(found) == [
        (large, ("default/top", "default/a", "default/b"), 4),
        (selector, ("default/also", "default/other"), 2),
    ]
    assert found.starts is not None
    assert (found.starts.jobs, found.starts.tasks) == (("default/fits",), ("fits/task-0",))


def test_nodes_are_counted_once_each() -> None:
    (row,) = rows(
        listed(
            cluster(
                job("old", running(1), priority=50),
                job("new", pending(2)),
                nodes={"n1": 2, "n2": 1, "n3": 1},
                conf=USUAL,
            )
        )
    )
    assert row[0] == "0/3 nodes fit: 2 Insufficient cpu even if the node were empty, 1 Insufficient cpu"


def test_what_is_held_besides_nodes() -> None:
    gated = pending(1, schedulingGates=[{"name": "quota"}])
    source = cluster(
        job("gated", gated),
        job("short", pending(1), minMember=3),
        job("shut", pending(1), queue="closed"),
        nodes={"n1": 4},
        conf=conf("allocate", "priority", "gang", "predicates", "proportion"),
        queues=[{"name": "default"}, {"name": "closed", "state": "Closed"}],
    )
    assert {reason: names for reason, names, _ in rows(listed(source))} == {
        "scheduling gates: quota": ("default/gated",),
        "gang: fewer tasks exist than its minimum, in all or of a role": ("default/short",),
        "queue: closed is Closed": ("default/shut",),
    }


@pytest.mark.parametrize(("size", "waits"), [(3, True), (4, False)])
def test_a_gang_with_capacity_for_a_part_of_it(size: int, waits: bool) -> None:
    """Tasks that differ only in a label take the same capacity, so each is not counted apart."""
    tasks = [pending(1, labels={"index": str(number)}) for number in range(4)]
    found = listed(cluster(job("gang", *tasks, minMember=4), nodes={"n1": size}, conf=USUAL))
    reason = "gang: free capacity for some of its tasks, not for as many as have to start together"
    assert rows(found) == ([(reason, ("default/gang",), 4)] if waits else [])


def test_small_tasks_do_not_count_for_the_large_ones_of_a_gang() -> None:
    tasks = [pending(1), pending(5), pending(5), pending(5)]
    found = listed(cluster(job("gang", *tasks, minMember=4), nodes={"n1": 9}, conf=USUAL))
    assert [reason.partition(":")[0] for reason, _, _ in rows(found)] == ["gang"]


def test_a_queue_at_its_limit() -> None:
    source = cluster(
        job("old", running(2), queue="small"),
        job("new", pending(1), queue="small"),
        nodes={"n1": 8},
        conf=conf("allocate", "priority", "gang", "predicates", "capacity"),
        queues=[{"name": "small", "capability": {"cpu": 2}}],
    )
    assert [reason for reason, _, _ in rows(listed(source))] == [
        "queue: small has too little cpu left of its capability"
    ]


def test_reserved_capacity_and_what_the_decision_leaves() -> None:
    source = cluster(
        job("old", running(2), priority=-10, minMember=0),
        job("urgent", pending(2), priority=100),
        job("late", pending(1), priority=10),
        nodes={"n1": 2},
        conf=USUAL,
    )
    assert [(row[0], row[1]) for row in rows(listed(source, "optimal"))] == [
        (RESERVED, ("default/urgent",)),
        ("Insufficient cpu (1 node)", ("default/late",)),
    ]
    roomy = cluster(job("a", pending(2), priority=50), job("b", pending(2)), nodes={"n1": 2}, conf=USUAL)
    assert [row[0] for row in rows(listed(roomy))] == [
        "some node has free capacity, but the decision of engine volcano does not place it"
    ]


def test_no_search_is_made_for_each_job(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[Any] = []
    monkeypatch.setattr(cp_model, "CpModel", lambda: built.append("a model"))
    jobs = [job(f"j{number:03}", pending(9)) for number in range(300)]
    found = listed(cluster(*jobs, nodes={f"n{number}": 2 for number in range(20)}, conf=USUAL))
    assert [len(names) for _, names, _ in rows(found)] == [300]
    assert built == []


def test_nothing_waits() -> None:
    found = listed(cluster(job("old", running(1)), nodes={"n1": 2}, conf=USUAL))
    assert found.to_markdown() == "Nothing waits: no task is pending.\n"


def test_text_has_the_counts_and_how_to_ask_about_one() -> None:
    text = listed(cluster(*(job(f"j{n}", pending(9)) for n in range(5)), nodes={"n1": 2}, conf=USUAL)).to_markdown()
    assert "5 tasks of 5 jobs pending; decision of engine volcano." in text
    assert "| 5 | 5 | 0 | Insufficient cpu even if the node were empty (1 node) | " in text
    assert "default/j0, default/j1, default/j2 and 2 more |" in text
    assert "cpsched explain INPUT default/j0" in text
