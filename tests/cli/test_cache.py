"""compare and check with a cache folder that is doctored or cannot be used, and with cases whose engine fails."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cpsched import engines
from cpsched.instance import Instance
from cpsched.options import Options
from cpsched.policy import Policy
from cpsched.solution import Solution
from tests.cli.conftest import ROOT, Command

TINY = ROOT / "instances" / "tiny"


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    shutil.copy(TINY / "preempt-one-is-enough.json", folder / "a.json")
    shutil.copy(TINY / "gated.json", folder / "b.json")
    return folder


def overload(solution: dict[str, Any]) -> None:
    """Every waiting task starts at once, no task is evicted: breaks capacity."""
    solution["binds"] |= solution["pipelined"]
    solution |= {"pipelined": {}, "evictions": []}


def nothing(solution: dict[str, Any]) -> None:
    """The decision of doing nothing, with its true levels, each of them called proved."""
    solution |= {"binds": {}, "pipelined": {}, "evictions": [], "phases": {}}
    values = {"victim_max_priority": None, "victim_start_time": None, "queue_deficit_max": 555556}
    values["queue_deficit_total"] = 555556
    for level in solution["levels"]:
        level["value"] = level["bound"] = values.get(level["name"], 0)


def foreign(solution: dict[str, Any]) -> None:
    """A proved level with a value that the decision does not have."""
    level = next(one for one in solution["levels"] if one["name"] == "victim_count")
    level["value"] = level["bound"] = 0


@pytest.mark.parametrize("doctor", [overload, nothing, foreign])
def test_a_doctored_optimum_is_thrown_away(
    cli: Command, tiny: Path, tmp_path: Path, doctor: Callable[[dict[str, Any]], None]
) -> None:
    command = ("compare", tiny, "--cache", tmp_path / "optima")
    first = cli(*command)
    assert (first.code, first.err) == (0, "")
    (file,) = (tmp_path / "optima").rglob("*.json")
    entry = json.loads(file.read_text())
    doctor(entry["solution"])
    file.write_text(json.dumps(entry))
    again = cli(*command)
    assert (again.code, again.out) == (0, first.out)
    assert again.err.count("\n") == 1
    assert "does not carry this user's seal" in again.err
    assert cli(*command) == first


@pytest.mark.parametrize("command", ["compare", "check"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_an_unusable_folder_is_one_warning(
    process: Command, corpus: Path, tmp_path: Path, command: str, jobs: int
) -> None:
    place = tmp_path / "file"
    place.touch()
    stated = (command, corpus, "-j", jobs)
    expected = process(*stated, "--cache", "none")
    assert (expected.code, expected.err) == (0, "")
    ended = process(*stated, "--cache", place)
    assert (ended.code, ended.out) == (0, expected.out)
    assert (
        ended.err == f"cpsched: warning: {place}: cannot be used as a cache: not a folder; optima are not remembered\n"
    )


@pytest.mark.parametrize("command", ["compare", "check"])
def test_an_unusable_home_is_one_warning(
    cli: Command, corpus: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/1/nowhere")
    ended = cli(command, corpus)
    assert ended.code == 0
    assert ended.err.count("\n") == 1
    assert ended.err.startswith("cpsched: warning: /proc/1/nowhere")


@pytest.mark.parametrize("command", ["compare", "check"])
def test_one_optimum_that_cannot_be_remembered_loses_nothing(
    cli: Command, corpus: Path, tmp_path: Path, command: str
) -> None:
    stated = (command, corpus, "--cache", tmp_path / "optima", "--json")
    first = cli(*stated)
    assert (first.code, first.err) == (0, "")
    (file,) = (one for one in (tmp_path / "optima").rglob("*.json") if "finetune" in one.read_text())
    file.unlink()
    (file / "x").mkdir(parents=True)
    ended = cli(*stated)
    assert (ended.code, ended.out) == (0, first.out)
    assert ended.err == f"cpsched: warning: {file}: cannot be written: Is a directory; optima are not remembered\n"


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The optimum of every instance with a job finetune ends with an error that no task expects."""
    run = engines.run

    def fails(name: str, instance: Instance, policy: Policy, options: Options) -> Solution:
        if name == "optimal" and "default/finetune" in instance.jobs:
            raise AssertionError("a bug")
        return run(name, instance, policy, options)

    monkeypatch.setattr(engines, "run", fails)


@pytest.mark.usefixtures("failing")
@pytest.mark.parametrize("engine", ["mirror", "optimal"])
def test_check_has_a_row_for_an_engine_that_fails(cli: Command, corpus: Path, engine: str) -> None:
    ended = cli("check", corpus, "--engine", engine, "--json")
    assert (ended.code, ended.err) == (1, "")
    failed, passed = json.loads(ended.out)["cases"]
    assert (failed["state"], passed["state"]) == ("error", "passed")
    (fault,) = failed["faults"]
    assert fault["kind"] == "engine error"
    assert fault["message"].startswith("unexpected AssertionError (test_cache.py:")
    assert fault["message"].endswith("): a bug")


@pytest.mark.usefixtures("failing")
def test_compare_counts_the_others(cli: Command, corpus: Path) -> None:
    ended = cli("compare", corpus, "--json")
    assert ended.code == 2
    data = json.loads(ended.out)["summary"]
    assert data["cases"] == 1
    (failed,) = data["failed"]
    assert failed.startswith(f"{corpus / 'a.json'}: engine error: unexpected AssertionError")
    assert ended.err == f"cpsched: warning: {failed}\n"
