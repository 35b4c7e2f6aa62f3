"""The processes of compare -j and check -j: they import nothing from the current folder, and may die."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cpsched.comparison.many import each
from tests.cli.conftest import ROOT, Ended

TINY = ROOT / "instances" / "tiny"
NAMES = ("gzip", "highspy", "json", "multiprocessing", "numpy", "ortools", "pickle", "socket", "struct", "yaml")
COMMAND = "from cpsched.cli.main import run\n\nif __name__ == '__main__':\n    run()\n"
"""What the installed command `cpsched` is."""


@pytest.fixture
def untrusted(tmp_path: Path) -> Path:
    """A folder of two clusters, with Python files that leave the file was-run if they are imported."""
    folder = tmp_path / "untrusted"
    (folder / "cases").mkdir(parents=True)
    for name in ("preempt-one-is-enough.json", "gated.json"):
        shutil.copy(TINY / name, folder / "cases")
    code = f"open({str(folder / 'was-run')!r}, 'a').close()\nraise ImportError('code of the current folder was run')\n"
    for name in NAMES:
        (folder / f"{name}.py").write_text(code)
    return folder


def run_there(folder: Path, tmp_path: Path, *arguments: str, **environment: str) -> Ended:
    """As a user runs the command; a PYTHONPATH would make no difference but is not the usual case."""
    command = tmp_path / "bin" / "cpsched"
    command.parent.mkdir(exist_ok=True)
    command.write_text(COMMAND)
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    own |= {"XDG_CACHE_HOME": str(tmp_path / "home"), **environment}
    ended = subprocess.run(
        [sys.executable, str(command), *arguments], cwd=folder, env=own, capture_output=True, text=True, check=False
    )
    return Ended(ended.returncode, ended.stdout, ended.stderr)


def test_the_folder_would_be_noticed(untrusted: Path) -> None:
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    subprocess.run([sys.executable, "-c", "import pickle"], cwd=untrusted, env=own, capture_output=True, check=False)
    assert (untrusted / "was-run").exists()


@pytest.mark.parametrize("command", ["compare", "check"])
def test_children_import_nothing_from_the_current_folder(untrusted: Path, tmp_path: Path, command: str) -> None:
    ended = run_there(untrusted, tmp_path, command, "cases", "-j", "2", "--json")
    assert (ended.code, ended.err) == (0, "")
    assert not (untrusted / "was-run").exists()


@pytest.mark.parametrize("environment", [{}, {"PYTHONSAFEPATH": "yes"}], ids=str)
def test_a_users_engine_has_the_users_environment(untrusted: Path, tmp_path: Path, environment: dict[str, str]) -> None:
    seen = tmp_path / "seen"
    program = tmp_path / "engine.sh"
    program.write_text(f'#!/bin/sh\necho "${{PYTHONSAFEPATH-unset}}" >> {seen}\necho "{{}}"\n')
    program.chmod(0o755)
    stated = ("check", "cases", "-j", "2", "--engine", f"exec:{program}", "--no-optimum")
    assert run_there(untrusted, tmp_path, *stated, **environment).code == 0
    assert seen.read_text().split() == [environment.get("PYTHONSAFEPATH", "unset")] * 2


def dies(item: int) -> int:
    """One of the items takes its process with it, as the system does when memory is short."""
    if item == 2:
        os._exit(1)
    return item


def gone(item: int) -> int:
    return -item


def test_a_process_that_dies_costs_its_own_item_only() -> None:
    assert list(each(dies, range(8), 2, gone)) == [0, 1, -2, 3, 4, 5, 6, 7]


def test_a_case_whose_process_dies_is_an_engine_error(tmp_path: Path) -> None:
    """A library that ends the process: imitated by a command whose optimum does."""
    (tmp_path / "cases").mkdir()
    for name in ("preempt-one-is-enough.json", "gated.json"):
        shutil.copy(TINY / name, tmp_path / "cases")
    command = tmp_path / "command.py"
    command.write_text(
        "import os\nfrom cpsched import engines\nrun_engine = engines.run\n"
        "def dying(name, instance, *rest):\n"
        "    if name == 'optimal' and 'default/finetune' in instance.jobs:\n        os._exit(1)\n"
        "    return run_engine(name, instance, *rest)\n"
        "engines.run = dying\n" + COMMAND
    )
    own = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "home")}
    stated = [sys.executable, str(command), "check", "cases", "-j", "2", "--json"]
    ended = subprocess.run(stated, cwd=tmp_path, env=own, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (1, "")
    states = {one["id"]: one["state"] for one in json.loads(ended.stdout)["cases"]}
    assert states == {"preempt-one-is-enough.json": "error", "gated.json": "passed"}
    assert "its process ended without a result" in ended.stdout
