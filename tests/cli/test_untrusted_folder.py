"""Nothing that lies beside a user's clusters is imported, whatever its name."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.untrusted import untrusted_folder, was_run

STUDY = ("study", "run", "--instances", "cluster.json", "--engines", "volcano,optimal", "--workers", "1")


@pytest.fixture
def folder(tmp_path: Path, tiny: Path) -> Path:
    return untrusted_folder(tmp_path / "untrusted", tiny)


def run_there(folder: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """As a user runs it: no PYTHONPATH but the given one."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(command, cwd=folder, env=own | environment, capture_output=True, text=True, check=False)


def test_the_folder_shows_what_is_imported(folder: Path) -> None:
    ended = run_there(folder, sys.executable, "-c", "import gzip")
    assert "code of the current folder was run" in ended.stderr
    assert was_run(folder)


def test_a_study_runs_no_code_of_the_current_folder(folder: Path) -> None:
    ended = run_there(folder, sys.executable, "-P", "-m", "cpsched", *STUDY)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert not was_run(folder)


def test_nor_does_python_m(folder: Path) -> None:
    # `python -m` itself would look for the package there.
    shutil.rmtree(folder / "cpsched")
    ended = run_there(folder, sys.executable, "-m", "cpsched", *STUDY)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert not was_run(folder)


def test_pythonpath_is_the_users_and_stays_in_force(folder: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "sitecustomize.py").write_text("import os, sys\nopen(os.environ['SEEN'], 'a').write(sys.argv[0] + '\\n')\n")
    seen = tmp_path / "seen"
    ended = run_there(folder, sys.executable, "-P", "-m", "cpsched", *STUDY, PYTHONPATH=str(own), SEEN=str(seen))
    assert (ended.returncode, ended.stderr) == (0, "")
    assert len(seen.read_text().splitlines()) >= 2
