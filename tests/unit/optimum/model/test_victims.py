"""Which running tasks get a variable, and how many of them: presolve by what rules and levels say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cpsched.optimum.model import level_traits
from cpsched.optimum.model.classes import VictimClass
from cpsched.optimum.model.level_traits import LEVEL_TRAITS, LevelTraits, Reads
from cpsched.optimum.model.symmetry import build_classes
from cpsched.optimum.params import SolveParams
from cpsched.optimum.relax.aggregate import aggregate_requests, identical_nodes
from cpsched.optimum.solve import decide
from tests.judge import cluster, conf, job, pending, running, snapshot_of

Raw = dict[str, Any]
STATED = conf("allocate, preempt, reclaim", "priority", "gang", "predicates", "capacity")
OFF = {"name": "gang", "enablePreemptable": False}
SETTINGS = SolveParams(deterministic=True)


def began(hour: int) -> str:
    """A start."""
    return f"2026-01-01T{hour:02d}:00:00Z"


def old(size: int, least: int, name: str = "old", **more: Any) -> Raw:
    """A gang of running tasks that started one after the other, the last one first."""
    more |= {"annotations": {"volcano.sh/task-spec": "w"}, "priority": 10, "priorityClassName": "p10"}
    return job(name, *(running(startTime=began(size - n), **more) for n in range(size)), priority=10, minMember=least)


def new(cpu: int, **more: Any) -> Raw:
    """One that may evict all of them."""
    return job("new", pending(cpu), priority=1000, **more)


def victims(*jobs: Raw, stated: Raw = STATED, presolve: bool = True, **fields: Any) -> list[VictimClass]:
    """The classes of victims."""
    snapshot = snapshot_of(cluster(*jobs, **{"nodes": 9, **fields}), conf=stated)
    return list(build_classes(snapshot, presolve=presolve).victims)


@pytest.mark.parametrize(("least", "most"), [(0, [4]), (1, [3]), (3, [1]), (4, []), (5, [])])
def test_a_gang_gives_up_no_more_than_it_can_spare(least: int, most: list[int]) -> None:
    assert [group.most for group in victims(old(4, least), new(6))] == most


def test_what_the_gang_could_start_is_to_spare() -> None:
    growing = old(4, 4)
    growing["tasks"].append(pending(replicas=2))
    assert {group.most for group in victims(growing, new(6))} == {2}


def test_an_action_that_gang_does_not_guard_takes_all() -> None:
    stated = conf("allocate, preempt, reclaim", "priority", OFF, "predicates", "capacity")
    assert [(group.most, *group.rights) for group in victims(old(4, 4), new(6), stated=stated)] == [(4, "preempt")]


def test_a_gang_that_may_go_as_a_whole_is_kept() -> None:
    snapshot = snapshot_of(cluster(old(4, 4), new(6), nodes=9), conf=STATED, rules={"protect.gang": "whole"})
    assert [group.most for group in build_classes(snapshot).victims] == [4]


def test_start_times_split_no_class_and_the_last_to_start_is_the_first() -> None:
    [group] = victims(old(4, 0), new(6))
    assert [task.name for task in group.tasks] == ["old-task-0", "old-task1-0", "old-task2-0", "old-task3-0"]


def test_a_level_or_a_rule_that_reads_starts_splits_the_class(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as changed:
        changed.setitem(LEVEL_TRAITS, "victim_count", LevelTraits(reads=frozenset({Reads.VICTIM_START})))
        assert len(victims(old(4, 0), new(6))) == 4
    with monkeypatch.context() as changed:
        changed.delitem(level_traits.RULE_READS, "protect.pdb")
        assert len(victims(old(4, 0), new(6))) == 4


@pytest.mark.parametrize(("cpu", "least", "worth"), [(6, 0, 3), (7, 0, 2), (8, 0, 1), (8, 1, None), (7, 1, 2)])
def test_same_values_without_presolve(cpu: int, least: int, worth: int | None) -> None:
    """The tasks that started last go; their start is the level's value."""
    snapshot = snapshot_of(cluster(old(4, least), new(cpu), nodes=8), conf=STATED)
    one, other = (decide(snapshot.instance, snapshot.policy, replace(SETTINGS, presolve=on)) for on in (True, False))
    assert [(level.label, level.value, level.proved) for level in one.levels] == [
        (level.label, level.value, level.proved) for level in other.levels
    ]
    [start] = [level.value for level in one.levels if level.name == "victim_start_time"]
    assert start == (None if worth is None else began(worth))


def test_nodes_are_identical_if_their_victims_started_at_the_same_time() -> None:
    """Where it is to make no difference which of them is used."""
    gangs = [old(1, 0, name, running=node) for name, node in (("a", "n1"), ("b", "n2"))]
    gangs[1]["tasks"][0]["startTime"] = began(5)
    snapshot = snapshot_of(cluster(*gangs, new(6), nodes={"n1": 9, "n2": 9}), conf=STATED)
    classes = build_classes(snapshot)
    capacity = aggregate_requests(snapshot, classes)
    assert identical_nodes(classes, capacity, starts=False) == (("n1", "n2"),)
    assert identical_nodes(classes, capacity, starts=True) == (("n1",), ("n2",))
