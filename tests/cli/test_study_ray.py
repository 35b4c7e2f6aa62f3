"""The same study on a real Ray cluster of two nodes: started here, on the loopback interface, and ended here."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from cpsched.lab.runners.processes import family
from cpsched.lab.study.results import read
from tests.cli.conftest import ROOT, Command
from tests.cli.test_study import none_left
from tests.cli.untrusted import untrusted_folder, was_run

if find_spec("ray") is None:
    pytest.skip("NOT TESTED: studies on Ray; Ray is not installed for this Python", allow_module_level=True)

LOOPBACK = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
"""Ray then leaves 127.0.0.1 as it is, see ray_cluster.py."""
MEASURED = {"wall_seconds", "cpu_seconds", "peak_rss_bytes", "started"}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    # Ray's sockets lie in this folder, and their names must be short.
    with (
        tempfile.TemporaryDirectory(prefix="ray") as folder,
        subprocess.Popen(
            [sys.executable, "-m", "tests.cli.ray_cluster", folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=ROOT,
        ) as cluster,
    ):
        assert cluster.stdout is not None
        where = cluster.stdout.readline().strip()
        members = family(cluster.pid)
        assert where.startswith("127.0.0.1:")
        yield where
        cluster.communicate()
        assert none_left(members)


def rows(run: Path) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name not in MEASURED} for row in read(run).cells()]


def levels(run: Path) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name != "seconds"} for row in read(run).levels()]


def test_ray_gives_the_same_results(process: Command, address: str, tmp_path: Path) -> None:
    stated = ("--instances", "instances/issues", "--exclude", "instances/issues/volcano-[b-g]*", "--seeds", "1..2")
    stated = (*stated, "--deterministic", "--prover", "cp-sat", "--grace", "600")
    here, there = tmp_path / "here", tmp_path / "there"
    assert process("study", here, *stated).code == 0
    ended = process("study", there, *stated, "--runner", "ray", "--ray-address", address, **LOOPBACK)
    assert (ended.code, ended.err) == (0, "")
    assert len(rows(here)) >= 20
    assert rows(there) == rows(here)
    assert levels(there) == levels(here)

    # What Ray has done need not be done again here, nor the other way round; limits hold there too.
    more = ("--seeds", "1..2", "--runner", "ray", "--ray-address", address, "--json")
    again = json.loads(process("study", there, "--runner", "local", "--json").out)
    assert (again["kept"], again["ran"]) == (again["cells"], 0)
    limits = ("--time-limit", "0.0001", "--grace", "0.0001", "--engines", "volcano")
    limited = process("study", there, *more, *limits, **LOOPBACK)
    assert limited.code == 1
    assert {row["status"] for row in rows(there)} == {"timeout"}


def test_ray_runs_no_code_of_the_current_folder(process: Command, address: str, tmp_path: Path, tiny: Path) -> None:
    folder = untrusted_folder(tmp_path / "untrusted", tiny)
    stated = ("--instances", "cluster.json", "--engines", "volcano", "--runner", "ray", "--ray-address", address)
    ended = process("study", "run", *stated, cwd=folder, PYTHONSAFEPATH="1", **LOOPBACK)
    assert (ended.code, ended.err) == (0, "")
    assert not was_run(folder)


@pytest.mark.parametrize("no_task", ["127.0.0.1:1", "nowhere", "127.0.0.1:x"])
def test_without_a_cluster_there_is_one_line(cli: Command, tmp_path: Path, tiny: Path, no_task: str) -> None:
    stated = ("--instances", tiny, "--engines", "volcano", "--runner", "ray", "--ray-address", no_task)
    code, out, err = cli("study", tmp_path / "run", *stated)
    assert (code, out) == (2, "")
    assert err.startswith(f"cpsched: error: ray-address: no Ray cluster at {no_task} (")
    assert err.count("\n") == 1
