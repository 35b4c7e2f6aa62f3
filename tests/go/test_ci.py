"""docs/ci: the script runs, its files say what is better and worse, and the action is well-formed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

CI = Path(__file__).parents[2] / "docs" / "ci"
TINY = Path(__file__).parents[2] / "instances" / "tiny"
CASES = ("preempt-one-is-enough.json", "affinity-first-pod.json")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A corpus of two cases with the optimum as its baseline, and a cpsched on the PATH."""
    (tmp_path / "corpus").mkdir()
    for name in CASES:
        (tmp_path / "corpus" / name).write_text((TINY / name).read_text())
    program = tmp_path / "bin" / "cpsched"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m cpsched "$@"\n')
    program.chmod(0o755)
    update = ("check", "corpus", "--engine", "optimal", "--no-optimum", "--baseline", "baseline.json", "--update")
    subprocess.run([program, *update], cwd=tmp_path, env=environment(tmp_path), check=True, capture_output=True)
    return tmp_path


def environment(place: Path, **more: str) -> dict[str, str]:
    path = f"{place / 'bin'}:{os.environ['PATH']}"
    python = os.pathsep.join(filter(None, sys.path))
    return {**os.environ, "PATH": path, "PYTHONPATH": python, "XDG_CACHE_HOME": str(place / "cache"), **more}


def gate(place: Path, *options: str, **more: str) -> subprocess.CompletedProcess[str]:
    given = {"CORPUS": "corpus", "ENGINE": "mirror", "BASELINE": "baseline.json", "JOBS": "1", **more}
    words = ["bash", str(CI / "gate.sh"), *options]
    return subprocess.run(
        words, cwd=place, env=environment(place, **given), capture_output=True, text=True, check=False
    )


def test_what_is_worse_fails_with_names_and_both_diffs(place: Path) -> None:
    ended = gate(place, "--github")
    assert (ended.returncode, ended.stderr) == (1, "")
    found = {file.name: file.read_text() for file in (place / "artifacts").iterdir()}
    assert sorted(found) == ["baseline.json", "decisions.md", "diff.html", "diff.md", "junit_scheduler.xml"]
    for name in ("decisions.md", "diff.md"):
        assert "2 victims more" in found[name]
        assert "notebook/task-0" in found[name]
        assert "cpsched check corpus --engine mirror --baseline baseline.json --case preempt-one" in found[name]
    assert "::error" in ended.stdout
    assert "<script" not in found["diff.html"].partition("<main")[0] or "default-src 'none'" in found["diff.html"]


def test_what_is_the_same_passes(place: Path) -> None:
    assert gate(place, ENGINE="optimal").returncode == 0


def test_what_cannot_be_read_is_exit_code_2_without_a_diff(place: Path) -> None:
    (place / "corpus" / "bad.json").write_text("{")
    assert gate(place).returncode == 2
    assert not (place / "artifacts" / "diff.html").exists()


def test_an_option_is_handed_on(place: Path) -> None:
    ended = gate(place, "--require", "optimal")
    assert ended.returncode == 1
    assert "is not optimal" in (place / "artifacts" / "decisions.md").read_text()


def test_a_missing_name_is_one_line(place: Path) -> None:
    ended = gate(place, CORPUS="")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.strip().endswith("CORPUS: names the corpus")


def test_the_action_is_composite_and_runs_the_script() -> None:
    action: dict[str, Any] = yaml.safe_load((CI / "action.yml").read_text())
    assert action["runs"]["using"] == "composite"
    runs = [step["run"] for step in action["runs"]["steps"] if "run" in step]
    assert any("gate.sh" in str(step.get("env")) for step in action["runs"]["steps"])
    assert all("${{" not in run for run in runs), "an input in a script could be a command"
    used = set(re.findall(r"inputs\.([\w-]+)", (CI / "action.yml").read_text()))
    assert used == set(action["inputs"])
