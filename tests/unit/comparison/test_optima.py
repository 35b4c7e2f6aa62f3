"""Optima are remembered by content, believed only if they are sealed and hold, and never cost the answer."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cpsched
from cpsched import engines
from cpsched.checker import examined
from cpsched.comparison import optima as module
from cpsched.comparison.optima import Optima, default_folder, optima_in
from cpsched.comparison.seal import seal_of
from cpsched.importers.load import load
from cpsched.importers.policy import load_policy
from cpsched.instance import Instance
from cpsched.options import Options
from cpsched.policy import Policy
from cpsched.solution import Solution, SolutionStatus
from tests.judge import cluster, job, pending


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own cache, where the key lies; not the folder of the test."""
    folder = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Time limits of every real search; a search with less than a second proves nothing."""
    seen: list[float] = []

    def run(name: str, instance: Instance, policy: Policy, options: Options) -> Solution:
        seen.append(options.time_limit)
        found = examined(instance, policy, Solution(engine=name, binds={"a/task-0": "n1"})).solution
        status = SolutionStatus.FEASIBLE if options.time_limit < 1 else SolutionStatus.OPTIMAL
        levels = tuple(one.model_copy(update={"bound": one.value, "proved": True}) for one in found.levels)
        proofs = {"status": status, "levels": levels if status == "optimal" else found.levels}
        return found.model_copy(update=proofs).with_own_proofs()

    monkeypatch.setattr(engines, "run", run)
    return seen


def session(cpus: int = 1, **policy: Any) -> tuple[Instance, Policy]:
    instance = load(cluster(job("a", pending(cpus))))
    return instance, load_policy(instance=instance, **policy)


def test_the_same_content_is_solved_once(tmp_path: Path, asked: list[float]) -> None:
    optima = Optima(tmp_path / "made" / "when needed")
    first = optima.best(*session(), Options())
    assert first.findings == ()
    assert optima.best(*session(), Options(workers=1, seed=7)) == first
    assert Optima(tmp_path / "made" / "when needed").best(*session(), Options()) == first
    assert (len(asked), optima.warning) == (1, "")


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


@pytest.mark.parametrize(
    "damage",
    ["", "{", "[]", "[" * 100_000, '{"time_limit": 9}', '{"time_limit": 9, "solution": {"kind": "x"}}', '{"seal": 1}'],
    ids=lambda text: text[:40],
)
def test_a_damaged_memory_is_solved_again(tmp_path: Path, asked: list[float], damage: str) -> None:
    optima = Optima(tmp_path)
    first = optima.best(*session(), Options())
    (file,) = tmp_path.rglob("*.json")
    file.write_text(damage)
    assert optima.best(*session(), Options()) == first
    assert len(asked) == 2
    assert optima.warning.startswith(f"{file}: this remembered optimum does not carry this user's seal")
    optima.best(*session(), Options())
    assert len(asked) == 2


def nothing(entry: dict[str, Any]) -> None:
    """Legal, worse, and every level is called proved: no checker can tell that this is not the optimum."""
    entry["solution"]["binds"] = {}
    levels = examined(*session(), Solution()).solution.levels
    entry["solution"]["levels"] = [
        one.model_copy(update={"bound": one.value, "proved": True}).model_dump(mode="json") for one in levels
    ]


def overload(entry: dict[str, Any]) -> None:
    entry["solution"]["binds"] = {"a/task-0": "nowhere"}


def misstated(entry: dict[str, Any]) -> None:
    entry["solution"]["levels"][0] |= {"value": 7, "bound": 7}


def backwards(entry: dict[str, Any]) -> None:
    entry["solution"]["levels"].reverse()


def unproved(entry: dict[str, Any]) -> None:
    entry["solution"]["levels"][0] |= {"proved": False}


def without_levels(entry: dict[str, Any]) -> None:
    entry["solution"]["levels"] = []


def of_another(entry: dict[str, Any]) -> None:
    entry["solution"]["instance_sha256"] = "0" * 64


def another_question(entry: dict[str, Any]) -> None:
    entry["key"] = "0" * 64


def by_another(entry: dict[str, Any]) -> None:
    entry["solution"]["engine"] = "volcano"


def given_up(entry: dict[str, Any]) -> None:
    entry["solution"]["status"] = "unknown"


def without_limit(entry: dict[str, Any]) -> None:
    del entry["time_limit"]


CHANGES = [overload, misstated, backwards, unproved, without_levels, of_another, another_question, by_another, given_up]
CHANGES += [without_limit]


@pytest.mark.parametrize("change", [nothing, *CHANGES])
def test_what_was_changed_is_thrown_away(
    tmp_path: Path, asked: list[float], change: Callable[[dict[str, Any]], None]
) -> None:
    first = Optima(tmp_path).best(*session(), Options())
    (file,) = tmp_path.rglob("*.json")
    original = json.loads(file.read_text())
    entry = json.loads(file.read_text())
    change(entry)
    file.write_text(json.dumps(entry))
    optima = Optima(tmp_path)
    assert optima.best(*session(), Options()) == first
    assert "seal" in optima.warning
    assert len(asked) == 2
    assert json.loads(file.read_text())["solution"] == original["solution"]


@pytest.mark.parametrize("change", CHANGES)
def test_what_does_not_hold_is_not_believed_even_with_a_seal(
    tmp_path: Path, asked: list[float], home: Path, change: Callable[[dict[str, Any]], None]
) -> None:
    first = Optima(tmp_path).best(*session(), Options())
    (file,) = tmp_path.rglob("*.json")
    entry = json.loads(file.read_text())
    del entry["seal"]
    change(entry)
    file.write_text(json.dumps({**entry, "seal": seal_of(home / "cpsched", entry)}))
    optima = Optima(tmp_path)
    assert optima.best(*session(), Options()) == first
    assert "breaks a rule or misstates its levels" in optima.warning
    assert len(asked) == 2


def test_an_entry_of_another_user_is_not_believed(
    tmp_path: Path, asked: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    Optima(tmp_path / "shared").best(*session(), Options())
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another"))
    Optima(tmp_path / "shared").best(*session(), Options())
    assert len(asked) == 2


def test_the_key_is_the_users_alone(tmp_path: Path, asked: list[float], home: Path) -> None:
    Optima(tmp_path).best(*session(), Options())
    key = home / "cpsched" / "key"
    assert key.stat().st_mode & 0o777 == 0o600
    assert key.parent.stat().st_mode & 0o777 == 0o700
    key.chmod(0o644)
    optima = Optima(tmp_path)
    optima.best(*session(), Options())
    assert optima.warning.startswith(f"{key}: is not a key that only this user can read and write; delete it")
    key.unlink()
    key.symlink_to(tmp_path / "elsewhere")
    optima = Optima(tmp_path)
    optima.best(*session(), Options())
    assert optima.warning.startswith(f"{key}: cannot be used")
    assert len(asked) == 3


def test_an_entry_that_is_a_folder_costs_no_answer(tmp_path: Path, asked: list[float]) -> None:
    first = Optima(tmp_path).best(*session(), Options())
    (file,) = tmp_path.rglob("*.json")
    file.unlink()
    (file / "x").mkdir(parents=True)
    optima = Optima(tmp_path)
    assert optima.best(*session(), Options()) == first
    assert optima.warning == f"{file}: cannot be written: Is a directory; optima are not remembered"


def a_file(folder: Path) -> Path:
    place = folder / "file"
    place.touch()
    return place


def below_a_file(folder: Path) -> Path:
    return a_file(folder) / "below"


def nowhere(folder: Path) -> Path:
    return Path("/proc/1/nowhere")


def a_pipe(folder: Path) -> Path:
    os.mkfifo(folder / "pipe")
    return folder / "pipe"


def too_long(folder: Path) -> Path:
    return folder / ("x" * 300)


def no_name(folder: Path) -> Path:
    return folder / "null\0character"


@pytest.mark.parametrize("made", [a_file, below_a_file, nowhere, a_pipe, too_long, no_name])
def test_an_unusable_folder_costs_no_answer(tmp_path: Path, asked: list[float], made: Callable[[Path], Path]) -> None:
    optima = Optima(made(tmp_path))
    assert optima.best(*session(), Options()).status == "optimal"
    assert "cannot be used as a cache" in optima.warning
    assert "\n" not in optima.warning


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT, errno.EIO])
@pytest.mark.parametrize("call", ["mkdir", "replace", "fsync"])
def test_what_the_system_refuses_costs_no_answer(
    tmp_path: Path, asked: list[float], monkeypatch: pytest.MonkeyPatch, code: int, call: str
) -> None:
    def refused(*_: Any, **__: Any) -> None:
        raise OSError(code, os.strerror(code), str(tmp_path))

    monkeypatch.setattr(os, call, refused)
    optima = Optima(tmp_path / "optima")
    assert optima.best(*session(), Options()).status == "optimal"
    assert os.strerror(code) in optima.warning
    assert list(tmp_path.rglob("*.json*")) == []


def test_what_cannot_be_read_costs_no_answer(
    tmp_path: Path, asked: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Optima(tmp_path).best(*session(), Options())

    def refused(place: Path) -> bytes:
        raise cpsched.InputError("cannot be read: Permission denied", file=str(place))

    monkeypatch.setattr(module, "read_bytes", refused)
    optima = Optima(tmp_path)
    assert optima.best(*session(), Options()) == first
    assert "cannot be read: Permission denied" in optima.warning


def test_without_a_home_nothing_is_remembered(asked: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", homeless)
    optima = optima_in(None)
    assert optima.best(*session(), Options()).status == "optimal"
    assert "home directory" in optima.warning


def test_a_comparison_in_python_has_its_answer_and_one_warning(tmp_path: Path) -> None:
    instance, _ = session()
    place = a_file(tmp_path)
    comparison = cpsched.compare(instance, cache=place)
    assert comparison["optimal"].verdict == "optimal"
    (warning,) = comparison.warnings
    assert warning == f"{place}: cannot be used as a cache: not a folder; optima are not remembered"


def test_without_a_folder_nothing_is_kept(asked: list[float], home: Path) -> None:
    optima = optima_in("none")
    optima.best(*session(), Options())
    optima.best(*session(), Options())
    assert len(asked) == 2
    assert list(home.iterdir()) == []


def test_the_usual_place_is_the_cache_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "cpsched" / "optima"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_folder() == tmp_path / ".cache" / "cpsched" / "optima"
    assert optima_in(None).folder == default_folder()


def place_of_entry(folder: Path) -> Path:
    Optima(folder).best(*session(), Options())
    (place,) = folder.glob("*/*.json")
    place.unlink()
    return place


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_in_an_entrys_place_is_not_followed(tmp_path: Path, asked: list[float], exists: bool) -> None:
    """Neither read nor written through: the folder may come from another task."""
    place, elsewhere = place_of_entry(tmp_path / "optima"), tmp_path / "elsewhere"
    if exists:
        elsewhere.write_text("mine")
    place.symlink_to(elsewhere)
    optima = Optima(tmp_path / "optima")
    optima.best(*session(), Options())
    assert (elsewhere.read_text() if exists else elsewhere.exists()) == ("mine" if exists else False)
    assert (place.is_symlink(), place.is_file(), optima.warning) == (False, True, "")


def test_a_pipe_in_an_entrys_place_is_not_waited_for(tmp_path: Path, asked: list[float]) -> None:
    place = place_of_entry(tmp_path / "optima")
    os.mkfifo(place)
    # Without a reader writing would wait for ever; this one reads nothing.
    reader = os.open(place, os.O_RDONLY | os.O_NONBLOCK)
    try:
        optima = Optima(tmp_path / "optima")
        assert optima.best(*session(), Options()).proves
        assert optima.warning == f"{place}: is not a file; remove it; optima are not remembered"
    finally:
        os.close(reader)
