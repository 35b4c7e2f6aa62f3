"""Optima are remembered by content and found again only if they would not come out better."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cpsched import engines
from cpsched.compare.optima import Optima, default_folder, optima_in
from cpsched.importers.load import load
from cpsched.importers.policy import load_policy
from cpsched.instance import Instance
from cpsched.options import Options
from cpsched.policy import Policy
from cpsched.solution import Solution, SolutionStatus
from tests.judge import cluster, job, pending


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Time limits of every real search; a search with less than a second proves nothing."""
    seen: list[float] = []

    def run(name: str, instance: Instance, policy: Policy, options: Options) -> Solution:
        seen.append(options.time_limit)
        status = SolutionStatus.FEASIBLE if options.time_limit < 1 else SolutionStatus.OPTIMAL
        return Solution(engine=name, status=status, instance_sha256=instance.sha256)

    monkeypatch.setattr(engines, "run", run)
    return seen


def session(cpus: int = 1, **policy: Any) -> tuple[Instance, Policy]:
    instance = load(cluster(job("a", pending(cpus))))
    return instance, load_policy(instance=instance, **policy)


def test_the_same_content_is_solved_once(tmp_path: Path, asked: list[float]) -> None:
    optima = Optima(tmp_path / "made" / "when needed")
    first = optima.best(*session(), Options())
    assert optima.best(*session(), Options(workers=1, seed=7)) == first
    assert Optima(tmp_path / "made" / "when needed").best(*session(), Options()) == first
    assert len(asked) == 1


@pytest.mark.parametrize(
    "other",
    [
        {"cpus": 2},
        {"model": "throughput"},
        {"model": "kube", "kube_version": "head"},
        {"conf": {"actions": "allocate", "tiers": [{"plugins": [{"name": "gang"}]}]}},
    ],
    ids=str,
)
def test_another_cluster_or_policy_is_another_question(tmp_path: Path, asked: list[float], other: Any) -> None:
    optima = Optima(tmp_path)
    optima.best(*session(), Options())
    optima.best(*session(**other), Options())
    assert len(asked) == 2


def test_a_release_of_kube_scheduler_is_part_of_the_question() -> None:
    _, one = session(model="kube")
    _, head = session(model="kube", kube_version="head")
    assert one.sha256 != head.sha256


def test_what_was_not_proved_is_sought_again_with_more_time(tmp_path: Path, asked: list[float]) -> None:
    optima = Optima(tmp_path)
    for limit in (0.5, 0.25, 0.5, 0.75, 2, 0.5, 60):
        optima.best(*session(), Options(time_limit=limit))
    assert asked == [0.5, 0.75, 2]


def test_an_interrupted_search_is_not_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "run", lambda *_: Solution(status=SolutionStatus.FEASIBLE, interrupted=True))
    with pytest.raises(KeyboardInterrupt):
        Optima(tmp_path).best(*session(), Options())
    assert list(tmp_path.rglob("*.json")) == []


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"time_limit": 9}', '{"time_limit": 9, "solution": {"kind": "x"}}'])
def test_a_damaged_memory_is_solved_anew(tmp_path: Path, asked: list[float], damage: str) -> None:
    optima = Optima(tmp_path)
    optima.best(*session(), Options())
    (file,) = tmp_path.rglob("*.json")
    file.write_text(damage)
    optima.best(*session(), Options())
    assert len(asked) == 2
    optima.best(*session(), Options())
    assert len(asked) == 2


def test_without_a_folder_nothing_is_kept(asked: list[float]) -> None:
    optima = optima_in("none")
    optima.best(*session(), Options())
    optima.best(*session(), Options())
    assert len(asked) == 2


def test_the_usual_place_is_the_cache_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "cpsched" / "optima"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_folder() == tmp_path / ".cache" / "cpsched" / "optima"
    assert optima_in(None).folder == default_folder()
