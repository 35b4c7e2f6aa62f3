"""Who starts at once although the search ended before that was asked."""

from __future__ import annotations

import pytest

from cpsched.optimum.params import SolveParams
from cpsched.optimum.search.bounding_passes import BoundingPasses
from cpsched.optimum.search.lexicographic import LexicographicSearch
from cpsched.optimum.search.primal.start_reserved import start_reserved
from cpsched.rules import Decision
from tests.judge import cluster, conf, decide, snapshot_of


def job(name: str, replicas: int, minimum: int, priority: int = 50, **task: object) -> dict[str, object]:
    tasks = [{"role": "t", "replicas": replicas, "requests": {"cpu": 1}, **task}]
    return {"name": name, "minMember": minimum, "priorityClassName": f"p{priority}", "tasks": tasks}


def started(jobs: list[dict[str, object]], cores: int, **stated: object) -> set[str]:
    """Who starts of those who wait."""
    found = start_reserved(decision(jobs, cores, **stated))
    return set() if found is None else set(found.binds)


def decision(jobs: list[dict[str, object]], cores: int, **stated: object) -> Decision:
    return decide(snapshot_of(cluster(*jobs, nodes={"n": cores})), stated)


def test_who_waits_for_nothing_starts() -> None:
    assert started([job("a", 2, 2)], 2, pipelined={"a/t-0": "n", "a/t-1": "n"}) == {"a/t-0", "a/t-1"}


def test_a_gang_starts_only_with_its_minimum() -> None:
    victim = job("low", 1, 0, 10, running="n")
    waits = {"a/t-0": "n", "a/t-1": "n"}
    evictions = [{"task": "low/t-0", "node": "n", "action": "preempt"}]
    assert started([victim, job("a", 2, 2)], 2, pipelined=waits, evictions=evictions) == set()
    assert started([victim, job("a", 2, 1)], 2, pipelined=waits, evictions=evictions) == {"a/t-0"}


def test_the_highest_priority_comes_first() -> None:
    victim = job("low", 1, 0, 10, running="n")
    waits = {"a/t-0": "n", "b/t-0": "n"}
    evictions = [{"task": "low/t-0", "node": "n", "action": "preempt"}]
    jobs = [victim, job("a", 1, 1, 50), job("b", 1, 1, 100)]
    assert started(jobs, 2, pipelined=waits, evictions=evictions) == {"b/t-0"}


def test_what_starts_already_keeps_its_room() -> None:
    victim = job("low", 1, 0, 10, running="n")
    evictions = [{"task": "low/t-0", "node": "n", "action": "preempt"}]
    jobs = [victim, job("a", 2, 1)]
    found = start_reserved(decision(jobs, 2, binds={"a/t-0": "n"}, pipelined={"a/t-1": "n"}, evictions=evictions))
    assert found is None


LOW = job("low", 1, 0, 10, running="n")
GONE = [{"task": "low/t-0", "node": "n", "action": "preempt"}]


def test_as_many_start_as_the_room_is_for() -> None:
    """Three cores are idle, one of them taken by whom starts already; the fourth is still to come."""
    waits = {f"a/t-{number}": "n" for number in (1, 2, 3)}
    stated = {"binds": {"a/t-0": "n"}, "pipelined": waits, "evictions": GONE}
    assert started([LOW, job("a", 4, 1)], 4, **stated) == {"a/t-0", "a/t-1", "a/t-2"}


def test_those_that_start_already_count_for_the_minimum() -> None:
    stated = {"binds": {"a/t-0": "n", "a/t-1": "n"}, "pipelined": {"a/t-2": "n"}}
    assert started([job("a", 3, 2)], 3, **stated) == {"a/t-0", "a/t-1", "a/t-2"}


def test_a_gang_that_has_to_wait_holds_no_task_up() -> None:
    """Two of three could start, which is no gang; the one after it starts."""
    waits = {"a/t-0": "n", "a/t-1": "n", "a/t-2": "n", "b/t-0": "m"}
    source = cluster(LOW, job("a", 3, 3, 100), job("b", 1, 1), nodes={"n": 3, "m": 1})
    found = start_reserved(decide(snapshot_of(source), {"pipelined": waits, "evictions": GONE}))
    assert found is not None
    assert set(found.binds) == {"b/t-0"}


def test_an_evicted_task_no_longer_counts_for_the_minimum() -> None:
    """One of the gang makes way for two others, of which one could start at once: alone."""
    old, new = ({"volcano.sh/task-priority": rank} for rank in ("1", "5"))
    tasks = [
        {"role": "t", "requests": {"cpu": 1}, "annotations": old, "running": "n"},
        {"role": "new", "replicas": 2, "requests": {"cpu": 1}, "annotations": new},
    ]
    gang = {"name": "a", "minMember": 2, "priorityClassName": "p100", "tasks": tasks}
    source = cluster(gang, job("b", 1, 1), nodes={"n": 2, "m": 1})
    stated = {"pipelined": {"a/new-0": "n", "a/new-1": "n", "b/t-0": "m"}, "evicted": ["a/t-0"]}
    found = start_reserved(decide(snapshot_of(source, rules={"protect.gang": "off"}), stated))
    assert found is not None
    assert set(found.binds) == {"b/t-0"}


def test_without_gangs_any_task_starts() -> None:
    source = cluster(LOW, job("a", 2, 2), nodes={"n": 2})
    shown = conf("enqueue, allocate, preempt", "priority")
    found = start_reserved(
        decide(snapshot_of(source, conf=shown), {"pipelined": {"a/t-0": "n", "a/t-1": "n"}, "evictions": GONE})
    )
    assert found is not None
    assert set(found.binds) == {"a/t-0"}


def test_no_task_starts_against_a_rule() -> None:
    """There is room, but the port is the victim's until it is gone."""
    port = {"ports": [{"containerPort": 80, "hostPort": 80}]}
    jobs = [job("low", 1, 0, 10, running="n", **port), job("a", 1, 1, **port)]
    assert start_reserved(decision(jobs, 2, pipelined={"a/t-0": "n"}, evictions=GONE)) is None


def test_room_that_no_task_asks_for_is_not_looked_at() -> None:
    old = job("old", 1, 0, running="n", requests={"memory": "1Gi"})
    new = job("a", 1, 1, requests={"cpu": 1, "memory": 0})
    assert started([old, new], 1, pipelined={"a/t-0": "n"}) == {"a/t-0"}


def test_a_search_that_ends_early_lets_them_start(monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot = snapshot_of(cluster(job("a", 3, 2), nodes={"n": 4}))

    def interrupted(self: BoundingPasses, _: int) -> None:
        if not self._state.budget.interrupted:
            self._state.incumbent.replace(decide(snapshot, {"reserves": {"a/t-0": "n", "a/t-1": "n"}}))
            self._state.budget.interrupt()

    monkeypatch.setattr(BoundingPasses, "run", interrupted)
    search = LexicographicSearch(snapshot, SolveParams(workers=1))
    search.run()
    values = {level.name: (level.value, level.proved) for level in search.levels}
    assert len(search.best.binds) == 2
    assert not search.best.reserves
    assert values["tasks_bound"] == (len(search.best.binds), False)
