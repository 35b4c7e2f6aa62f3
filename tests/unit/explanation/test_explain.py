"""What is stated about jobs and tasks, verdict by verdict."""

from __future__ import annotations

import re
from typing import Any

import pytest

import cpsched
from cpsched.errors import InputError
from cpsched.explanation import Explanation, Verdict
from tests.judge import cluster, conf, job, pending, running

FULL = cluster(
    job("old", running(2), priority=100),
    job("new", pending(1), priority=100),
    nodes={"n1": 2},
    conf=conf("enqueue, allocate, preempt, backfill", "priority", "gang", "predicates"),
)


def explain(source: dict[str, Any], **asked: Any) -> Explanation:
    return cpsched.explain(cpsched.load(source), workers=1, **asked)


def keys(found: Explanation) -> list[set[str]]:
    return [{reason.key for reason in conflict} for conflict in found.conflicts]


def test_impossible_because_no_task_may_go():
    found = explain(FULL, job="default/new")
    assert found.verdict is Verdict.IMPOSSIBLE
    assert keys(found) == [{"capacity", "eviction"}]
    assert [group.reasons for group in found.nodes] == [
        ("Insufficient cpu (needs 1, at most 0 free even after every permitted eviction)",)
    ]
    assert any("1: has priority 100, not lower than 100" in line for line in found.concerns)
    texts = [change.text for repair in found.repairs for change in repair.changes]
    assert texts == [
        "evict old/task-0 on n1 (now: has priority 100, not lower than 100)",
        "+1 cpu on node n1",
        "1 more node like n1",
    ]
    assert all(repair.admitted for repair in found.repairs)


def test_a_request_larger_than_every_node_needs_no_word_about_evictions():
    source = {**FULL, "jobs": [job("old", running(1)), job("new", pending(9), priority=1000)]}
    found = explain(source, job="new")
    assert keys(found) == [{"capacity"}]
    assert found.nodes[0].reasons == ("Insufficient cpu (needs 9, no node has more than 2)",)


def test_capacity_adds_up():
    """What runs, what ends and what is free are all of a node; nodes with the same sum are one row."""
    ending = running(4, deletionTimestamp="2026-01-01T00:00:00Z")
    tasks = [running(52), ending, *(running(60, node=node) for node in ("n2", "n3"))]
    jobs = [job("old", *tasks, priority=100), job("new", pending(13), priority=100)]
    found = explain(cluster(*jobs, nodes={"n1": 64, "n2": 64, "n3": 64}, conf=FULL["conf"]), job="new")
    one, others = found.capacity
    assert one.model_dump() == {
        "nodes": ("n1",),
        "resource": "cpu",
        "allocatable": "64",
        "running": "52",
        "ending": "4",
        "free": "8",
        "needs": "13",
    }
    assert (others.nodes, others.running, others.ending, others.free) == (("n2", "n3"), "60", "0", "4")
    assert "| n1 | cpu | 64 | 52 | 4 | 8 | 13 |" in found.to_markdown()


def test_many_evictions_of_one_repair_are_one_line_for_each_reason():
    """The JSON form has all of them."""
    jobs = [job("old", running(1, 12), priority=100), job("new", pending(12), priority=100)]
    found = explain(cluster(*jobs, nodes={"n1": 12}, conf=FULL["conf"]), job="new")
    repair = next(one for one in found.repairs if one.changes[0].kind == "eviction")
    assert len(repair.changes) == 12
    reason = "now: has priority 100, not lower than 100"
    (line,) = [line for line in str(found).splitlines() if "evict 12 tasks" in line]
    assert re.search(rf"evict 12 tasks \({reason}\): (?:old/task-\d+ on n1, ){{2}}old/task-\d+ on n1 and 9 more", line)


def test_nodes_that_a_filter_refuses_have_no_sum():
    selector = {"nodeSelector": {"disk": "ssd"}}
    source = cluster(job("old", running(2)), job("new", pending(1, **selector)), nodes={"n1": 2}, conf=FULL["conf"])
    assert explain(source, job="new").capacity == ()


def test_nodes_with_one_reason_are_one_row():
    nodes = {f"n{number}": 1 for number in range(37)}
    found = explain(cluster(job("new", pending(2)), nodes=nodes), job="new")
    assert [(len(group.nodes), group.reasons) for group in found.nodes] == [
        (37, ("Insufficient cpu (needs 2, no node has more than 1)",))
    ]
    assert [(len(reason.nodes), reason.key) for conflict in found.conflicts for reason in conflict] == [
        (37, "capacity")
    ]


def test_a_larger_node_is_larger_by_just_what_is_missing():
    found = explain({**FULL, "jobs": [job("new", pending(7))]}, job="new")
    assert [change.text for repair in found.repairs for change in repair.changes] == ["+5 cpu on node n1"]


def test_what_others_could_do_for_it_is_part_of_the_question():
    """Alone the rider may evict no task; with `charge` off it could ride on the room that another one makes."""
    found = cpsched.explain(cpsched.load("instances/tiny/charge-right-of-way.json"), job="rider", workers=1)
    assert keys(found) == [{"capacity", "eviction", "charge"}]


def test_two_obstacles_that_have_nothing_in_common_are_both_stated():
    source = cluster(
        job("new", pending(2), queue="small"),
        nodes={"n1": 1},
        queues=[{"name": "small", "capability": {"cpu": 1}}],
        conf=conf("allocate", "priority", "gang", "capacity", "predicates"),
    )
    found = explain(source, job="new")
    assert sorted(keys(found), key=sorted) == [{"capacity"}, {"queue"}]
    assert [[change.text for change in repair.changes] for repair in found.repairs] == [
        ["queue small: +1 cpu: capability of cpu 1 → 2", "+1 cpu on node n1"]
    ]
    cordoned = {"name": "big", "allocatable": {"cpu": 2, "pods": 9}, "unschedulable": True}
    assert sorted(keys(explain({**source, "nodes": [*source["nodes"], cordoned]}, job="new")), key=sorted) == [
        {"capacity", "filters"},
        {"queue"},
    ]


def test_a_gang_one_short_may_be_smaller():
    found = explain(cluster(job("gang", pending(1, 3), minMember=3), nodes={"n1": 2}), job="gang")
    assert keys(found) == [{"capacity", "gang"}]
    assert found.repairs[0].changes[0].text == "default/gang: minAvailable 3 → 2"


def test_a_queue_is_raised_by_what_is_missing():
    source = cluster(
        job("held", running(2), queue="small"),
        job("new", pending(2), queue="small"),
        nodes={"n1": 8},
        queues=[{"name": "small", "capability": {"cpu": 3}}],
        conf=conf("allocate", "priority", "gang", "capacity"),
    )
    found = explain(source, job="new")
    assert keys(found) == [{"queue", "eviction"}]
    assert [change.text for change in found.repairs[0].changes] == ["queue small: +1 cpu: capability of cpu 3 → 4"]


def test_outranked_by_the_jobs_that_take_the_room():
    source = cluster(job("first", pending(2), priority=1000), job("last", pending(1), priority=10), nodes={"n1": 2})
    found = explain(source, job="last")
    assert found.verdict is Verdict.OUTRANKED
    assert [(alternative.job, alternative.priority) for alternative in found.rivals] == [("default/first", 1000)]
    assert found.alternative == {"last/task-0": "n1"}
    assert {change.kind for repair in found.repairs for change in repair.changes} == {"capacity", "nodes"}


def test_a_repair_that_others_would_use_up_is_shown_with_one_that_is_large_enough():
    """Both wait for room; one more cpu would go to the more important one."""
    jobs = [job("first", pending(2), priority=1000), job("last", pending(2), priority=10)]
    found = explain({**FULL, "jobs": jobs, "nodes": [{"name": "n1", "allocatable": {"cpu": 1, "pods": 9}}]}, job="last")
    shown = {change.text: repair.admitted for repair in found.repairs for change in repair.changes}
    assert shown["+1 cpu on node n1"] is False
    assert shown["+3 cpu on node n1"] is True


def test_an_extra_task_waits_behind_its_siblings():
    found = explain(cluster(job("elastic", pending(1, 3), minMember=1), nodes={"n1": 2}), job="elastic")
    assert found.verdict is Verdict.PLACED
    extra = explain(cluster(job("elastic", pending(1, 3), minMember=1), nodes={"n1": 2}), task="elastic/task-2")
    assert extra.verdict is Verdict.IMPOSSIBLE
    assert "one more task like elastic/task-2; 2 placed" in extra.summary
    assert extra.repairs[0].admitted


def test_missed_by_the_heuristic():
    instance = cpsched.load("instances/tiny/overcommitted-dimension.json")
    found = cpsched.explain(instance, job="cpu-only", engine="volcano", workers=1)
    assert found.verdict is Verdict.MISSED
    assert found.alternative == {"cpu-only/task-0": "n1"}
    assert found.told
    assert cpsched.explain(instance, job="cpu-only", workers=1).verdict is Verdict.PLACED


def test_the_heuristic_is_quoted():
    found = explain(FULL, task="new/task-0", engine="volcano")
    assert "1/1 tasks in gang unschedulable" in found.told[0]
    assert found.verdict is Verdict.IMPOSSIBLE


@pytest.mark.parametrize(
    ("task", "says"),
    [
        ("old/task-0", "runs on n1 already"),
        ("done/task-0", "has succeeded"),
        ("leaving/task-0", "is being deleted from n1"),
        ("held/task-0", "is held by scheduling gates: wait"),
    ],
)
def test_settled_tasks_get_one_line(task: str, says: str):
    source = cluster(
        job("old", running(1)),
        job("done", running(1, phase="Succeeded")),
        job("leaving", running(1, deletionTimestamp="2026-01-01T11:00:00Z")),
        job("held", pending(1, schedulingGates=[{"name": "wait"}])),
    )
    found = explain(source, task=task)
    assert found.verdict is Verdict.SETTLED
    assert found.summary == f"Task {task} {says}."


def test_settled_jobs():
    source = cluster(job("old", running(1)), job("held", pending(1, 2, schedulingGates=[{"name": "wait"}])))
    assert (
        explain(source, job="old").summary == "Job default/old has nothing that waits: 1 of its 1 tasks sit on nodes."
    )
    assert "all its 2 waiting tasks have scheduling gates: wait" in explain(source, job="held").summary


def test_a_running_task_that_is_evicted_says_for_whom():
    source = cluster(
        job("old", running(2), minMember=0, priority=10), job("new", pending(1), priority=100), nodes={"n1": 2}
    )
    found = explain(source, task="old/task-0")
    assert found.notes == ("Engine optimal evicts it by preempt for default/new.",)


def test_a_placed_job_says_where():
    found = explain(cluster(job("new", pending(1, 2), minMember=2), nodes={"n1": 2}), job="new")
    assert found.summary == "Job default/new starts with 2 tasks on n1; no pod is evicted for it."
    assert not found.nodes


def test_best_effort_tasks_are_explained_too():
    found = explain(cluster(job("new", pending(None)), conf=conf("allocate", "priority", "gang")), job="new")
    assert keys(found) == [{"actions"}]


def test_under_kube_scheduler_a_pod_is_the_job():
    found = explain({**FULL, "conf": None}, task="new/task-0", model="kube")
    assert found.job == found.task == "new/task-0"
    assert keys(found) == [{"capacity", "eviction"}]
    with pytest.raises(InputError, match="every pod is a job of its own"):
        explain({**FULL, "conf": None}, job="default/new", model="kube")


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"job": "default/neww"}, "no job default/neww; did you mean default/new"),
        ({"task": "default/new"}, "default/new is a job, not a task; give it as --job"),
        ({"job": "zzz"}, "no job zzz; there are 2: default/old, default/new"),
        ({}, "name one job or one task"),
        ({"job": "a", "task": "b"}, "name one job or one task"),
        ({"job": "new", "engine": "nosuch"}, "unknown engine nosuch"),
    ],
)
def test_wrong_names_get_one_line(asked: dict[str, Any], says: str):
    with pytest.raises(InputError, match=says):
        explain(FULL, **asked)


def test_every_way_to_show_it():
    found = explain(FULL, job="new")
    assert cpsched.Explanation.model_validate(found.to_dict()) == found
    assert str(found).splitlines()[0] == found.summary == found.to_markdown().splitlines()[0]
    assert "capacity: cpu on n1" in str(found)
    assert "| capacity: cpu on n1 |" in found.to_markdown()
    assert ">capacity: cpu on n1</td>" in found._repr_html_()


def test_no_answer_in_time_is_stated():
    found = cpsched.explain(cpsched.load(FULL), job="new", workers=1, time_limit=1e-9)
    assert found.verdict is Verdict.UNDECIDED
