"""Who starts at once although the search ended before that was asked."""

from __future__ import annotations

import pytest

from cpsched.check import Decision
from cpsched.optimum.foresight import Foresight
from cpsched.optimum.lexicographic import Search
from cpsched.optimum.race import Settings
from cpsched.optimum.starts import with_starts
from tests.judge import cluster, decide, snapshot_of


def job(name: str, replicas: int, minimum: int, priority: int = 50, **task: object) -> dict[str, object]:
    tasks = [{"role": "t", "replicas": replicas, "requests": {"cpu": 1}, **task}]
    return {"name": name, "minMember": minimum, "priorityClassName": f"p{priority}", "tasks": tasks}


def started(jobs: list[dict[str, object]], cores: int, **stated: object) -> set[str]:
    """Who starts of those who wait."""
    found = with_starts(decision(jobs, cores, **stated))
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
    found = with_starts(decision(jobs, 2, binds={"a/t-0": "n"}, pipelined={"a/t-1": "n"}, evictions=evictions))
    assert found is None


def test_a_search_that_ends_early_lets_them_start(monkeypatch: pytest.MonkeyPatch) -> None:
    look, foresee = Foresight.look, Search._foresee

    def only_one(self: Foresight, end: float) -> None:
        look(self, end)
        del self.levels[1:]

    def interrupted(self: Search, begin: int) -> None:
        foresee(self, begin)
        self.race.interrupt()

    monkeypatch.setattr(Foresight, "look", only_one)
    monkeypatch.setattr(Search, "_foresee", interrupted)
    search = Search(snapshot_of(cluster(job("a", 3, 2), nodes={"n": 4})), Settings(workers=1))
    search.run()
    values = {level.name: (level.value, level.proved) for level in search.levels}
    assert len(search.best.binds) >= 2
    assert not search.best.reserves
    assert values["tasks_bound"] == (len(search.best.binds), False)
