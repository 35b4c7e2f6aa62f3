"""Bounds worked out by hand: what each kind of evidence shows, and what it leaves open."""

from __future__ import annotations

from typing import Any

import pytest

from cpsched import timestamps
from cpsched.certificate import EVIDENCE
from cpsched.certificate.case import Case, Session
from cpsched.objectives import PRIORITY_OFFSET, Value
from cpsched.policy.levels import SENSES
from tests.judge import cluster, conf, job, pending, running, snapshot_of

EVICTING = conf("allocate, preempt", "priority", "gang", "predicates")


def shown(source: dict[str, Any], kind: str, name: str, priority: int | None = None, **given: Any) -> Value | str:
    """The kind's bound; `given` are values of earlier levels, admitted jobs by priority."""
    values: dict[tuple[str, int | None], Value] = {
        ("jobs_admitted", int(p)): count for p, count in given.pop("admitted", {}).items()
    }
    values |= {(level, None): value for level, value in given.items()}
    source = {"conf": EVICTING, **source}
    found = EVIDENCE[kind](Case(Session(snapshot_of(source)), values), name, priority)
    return "nothing" if found is None else found.bound


def waiting(*sizes: int, priority: int = 100, replicas: int = 1) -> list[dict[str, Any]]:
    return [
        job(f"w{priority}-{number}", pending(size, replicas=replicas), priority=priority)
        for number, size in enumerate(sizes)
    ]


FULL = job("old", running(2), running(1, name="other"), priority=10, minMember=0)


def test_every_level_has_a_bound() -> None:
    """zero for what is minimised and for the start time, all-placed or counting for the rest."""
    source = cluster(*waiting(1))
    for name, sense in SENSES.items():
        kinds = [kind for kind in EVIDENCE if shown(source, kind, name, 100) != "nothing"]
        assert kinds, name
        assert ("zero" in kinds) == (sense == "min" or name == "victim_start_time")


def test_all_placed_counts_who_waits() -> None:
    source = cluster(*waiting(1, 9, 1), *waiting(1, priority=10))
    assert shown(source, "all-placed", "jobs_admitted", 100) == 3
    assert shown(source, "all-placed", "tasks_placed") == 4
    assert shown(source, "all-placed", "nodes_used") == "nothing"


def test_a_task_that_fits_nowhere_is_not_counted() -> None:
    """Nine CPUs on a node of four: no eviction helps."""
    assert shown(cluster(*waiting(1, 9)), "counting", "jobs_admitted", 100) == 1


def test_gangs_share_the_room() -> None:
    """Two gangs of two CPUs each fit into four, the third does not; one admitted before takes its part."""
    gangs = waiting(1, 1, 1, replicas=2)
    assert shown(cluster(*gangs), "counting", "jobs_admitted", 100) == 2
    above = waiting(1, priority=1000, replicas=3)
    source = cluster(*gangs, *above)
    assert shown(source, "counting", "jobs_admitted", 1000) == 1
    assert shown(source, "counting", "jobs_admitted", 100, admitted={1000: 1}) == 0
    assert shown(source, "counting", "jobs_admitted", 100, admitted={1000: 0}) == 2


def test_small_remainders_do_not_add_up() -> None:
    """Three nodes with one CPU each: a task of two fits nowhere, though three CPUs are free."""
    nodes = {"n1": 1, "n2": 1, "n3": 1}
    assert shown(cluster(*waiting(2), nodes=nodes), "counting", "jobs_admitted", 100) == 0
    assert shown(cluster(*waiting(1, 1, 1, 1), nodes=nodes), "counting", "jobs_admitted", 100) == 3


def test_a_queue_admits_within_its_limit() -> None:
    """Equal shares of four CPUs are two each; three jobs of one CPU want into the left queue."""
    jobs = [job(f"w{n}", pending(1), priority=100, queue="left") for n in range(3)]
    rest = job("r", pending(1, replicas=4), priority=10, queue="right")
    queues = [{"name": "left"}, {"name": "right"}]
    shares = conf("allocate", "priority", "gang", "proportion", "predicates")
    source = cluster(*jobs, rest, queues=queues, conf=shares)
    assert shown(source, "counting", "jobs_admitted", 100) == 2
    assert shown(source, "counting", "tasks_bound") == 4


def test_who_is_admitted_in_another_queue_takes_nothing_here() -> None:
    """Of the two above one is admitted: it may be the one on the right, so both CPUs of the left queue are left."""
    above = [job(f"a{queue}", pending(2), priority=1000, queue=queue) for queue in ("left", "right")]
    jobs = [job(f"w{n}", pending(1), priority=100, queue="left") for n in range(2)]
    shares = conf("allocate", "priority", "gang", "proportion", "predicates")
    source = cluster(*above, *jobs, queues=[{"name": "left"}, {"name": "right"}], conf=shares)
    assert shown(source, "counting", "jobs_admitted", 100, admitted={1000: 1}) == 2
    assert shown(source, "counting", "jobs_admitted", 100, admitted={1000: 2}) == 0


def test_victims_are_needed_where_nothing_is_free() -> None:
    """Three CPUs are held by a pod of two and one of one; the job needs two."""
    source = cluster(FULL, *waiting(2), nodes=3)
    assert shown(source, "victims-needed", "victim_max_priority", None, admitted={100: 1}) == 10
    assert shown(source, "victims-needed", "victim_count", None, admitted={100: 1}) == 1
    assert shown(source, "victims-needed", "victim_priority_sum", None, admitted={100: 1}) == 10 + PRIORITY_OFFSET
    assert shown(source, "victims-needed", "victim_count", None, admitted={100: 0}) == 0
    assert shown(source, "victims-needed", "victim_max_priority", None, admitted={100: 0}) is None


def test_so_many_victims_as_the_room_asks_for() -> None:
    """Four pods of one CPU each are in the way of a task of three."""
    old = job("old", running(1, replicas=4), priority=10, minMember=0)
    source = cluster(old, *waiting(3))
    assert shown(source, "victims-needed", "victim_count", None, admitted={100: 1}) == 3


def test_one_victim_may_make_place_for_two() -> None:
    """A pod of three CPUs beside one that is free: once it is gone, two tasks of two fit."""
    old = [job("a", running(3), priority=10, minMember=0), job("b", running(2, node="n2"), priority=10, minMember=0)]
    source = cluster(*old, *waiting(2, replicas=2), nodes={"n1": 4, "n2": 2})
    assert shown(source, "victims-needed", "victim_count", None, admitted={100: 1}) == 1


def test_the_least_important_victims_that_suffice() -> None:
    """The pod of priority 50 alone is large enough; that of priority 10 is not."""
    small, large = job("a", running(1), priority=10, minMember=0), job("b", running(3), priority=50, minMember=0)
    source = cluster(small, large, *waiting(3))
    assert shown(source, "victims-needed", "victim_max_priority", None, admitted={100: 1}) == 50


def test_who_is_protected_frees_nothing() -> None:
    """A gang that keeps its minimum of two can spare none, so no task is admitted."""
    old = job("old", running(1, replicas=2), priority=10, minMember=2)
    assert shown(cluster(old, *waiting(2), nodes=2), "counting", "jobs_admitted", 100) == 0
    spare = job("old", running(1, replicas=2), priority=10, minMember=0)
    assert shown(cluster(spare, *waiting(2), nodes=2), "counting", "jobs_admitted", 100) == 1


def test_a_gang_may_lose_what_it_starts_again() -> None:
    """Two at work are its minimum; with a third that could start, one of them is spare."""
    old = job("old", running(1, replicas=2), pending(1, name="new"), priority=10, minMember=2)
    victims = Session(snapshot_of({"conf": EVICTING, **cluster(old, *waiting(2))})).victims
    assert victims.most_of("default/old") == 1


def test_the_start_is_that_of_a_victim_of_the_highest_priority() -> None:
    """The pod of priority 50 started at midnight; that the one of priority 10 started later does not count."""
    old = [
        job("a", running(1, startTime="2026-01-01T03:00:00Z"), priority=10, minMember=0),
        job("b", running(3, startTime="2026-01-01T00:00:00Z"), priority=50, minMember=0),
    ]
    source = cluster(*old, *waiting(3), now="2026-01-01T12:00:00Z")
    found = shown(source, "implied", "victim_start_time", victim_max_priority=50)
    assert found == timestamps.parse("2026-01-01T00:00:00Z")


def test_earlier_levels_imply_later_ones() -> None:
    source = cluster(FULL, *waiting(2), nodes=3)
    two = 2 * (10 + PRIORITY_OFFSET)
    assert shown(source, "implied", "victim_count", victim_priority_sum=two) == 2
    assert shown(source, "implied", "victim_priority_sum", victim_max_priority=10) == 10 + PRIORITY_OFFSET
    assert shown(source, "implied", "queue_deficit_total", queue_deficit_max=7) == 7
    assert shown(source, "implied", "victim_start_time") is None


@pytest.mark.parametrize(("victims", "expected"), [(0, 0), (1, 1)])
def test_tasks_placed_by_the_room_that_victims_leave(victims: int, expected: int) -> None:
    """Without a victim there is no room at all; one victim frees at most two CPUs, room for one task of two."""
    source = cluster(FULL, *waiting(2, 2), nodes=3)
    top = 10 if victims else None
    assert shown(source, "counting", "tasks_placed", victim_count=victims, victim_max_priority=top) == expected


def test_nodes_that_are_needed() -> None:
    """One node hosts already and takes one more; of three tasks two need a node each that is empty."""
    old = job("old", running(3), priority=1000, minMember=1)
    source = cluster(old, *waiting(1, 1, 1), nodes={"n1": 4, "n2": 1, "n3": 1})
    assert shown(source, "counting", "nodes_used", tasks_placed=3) == 3
    assert shown(source, "counting", "nodes_used", tasks_placed=1) == 1
