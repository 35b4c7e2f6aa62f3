"""`study --export`, `report` and the next run on a run folder that a task spoilt."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import ROOT, Command

NAMES = ("preempt-one-is-enough", "gated", "nodes-used")
INSTANCES = [part for name in NAMES for part in ("--instances", str(ROOT / "instances" / "tiny" / f"{name}.json"))]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once by the first test that needs it."""
    return tmp_path_factory.mktemp("spoilt") / "run"


@pytest.fixture
def run(finished: Path, tmp_path: Path, process: Command) -> Path:
    if not finished.exists():
        assert process("study", finished, *INSTANCES, "--engines", "volcano,optimal", "--workers", 1).code == 0
    shutil.copytree(finished, tmp_path / "run")
    return tmp_path / "run"


def spoil(file: Path, change: str) -> int:
    """Changes the last record, which stays JSON with a key; its line. As in the reported defect."""
    lines = file.read_text().splitlines()
    record: dict[str, Any] = json.loads(lines[-1])
    match change:
        case "levels-null":
            record["levels"] = None
        case "level-without-name":
            record["levels"] = [{"value": 1}]
        case "status-missing":
            del record["status"]
        case "counts-list":
            record["counts"] = [1]
        case "findings-list":
            record["findings"] = [1]
        case "seconds-text":
            record["wall_seconds"] = "abc"
        case "value-huge":
            record["levels"][0]["value"] = 10**30
        case "instance-bare":
            record = {"key": record["key"]}
    lines[-1] = json.dumps(record)
    file.write_text("\n".join(lines) + "\n")
    return len(lines)


@pytest.mark.parametrize(
    ("change", "stated"),
    [
        ("levels-null", "levels: null should be a list"),
        ("level-without-name", "levels.0.name: is missing"),
        ("status-missing", "status: is missing"),
        ("counts-list", "counts: a list should be a mapping"),
        ("findings-list", "findings: a list should be a mapping"),
        ("seconds-text", 'wall_seconds: "abc" should be a number'),
        ("value-huge", f"levels.0: {10**30} is too large"),
        ("instance-bare", "status: is missing"),
    ],
)
def test_a_record_that_is_not_as_written_is_one_line(cli: Command, run: Path, change: str, stated: str) -> None:
    file = run / ("instances.jsonl" if change == "instance-bare" else "results.jsonl")
    line = spoil(file, change)
    expected = f"cpsched: warning: {file}: line {line}: {stated}\n"
    exported = cli("study", run, "--export")
    assert (exported.code, exported.err.count("\n")) == (2, 2)
    assert exported.err.startswith(expected)
    assert "preempt-one-is-enough.json" in exported.err
    rows = (run / "cells.csv").read_text().splitlines()[1:]
    assert len(rows) == (4 if change == "instance-bare" else 5)
    reported = cli("report", run)
    assert (reported.code, reported.err) == (2, exported.err)
    assert f"Left out: {file}: line {line}: {stated}" in reported.out


def test_a_line_in_the_middle_is_stated_and_its_cell_runs_again(cli: Command, process: Command, run: Path) -> None:
    file = run / "results.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    lines[2] = lines[2][:20] + b"#" + lines[2][21:].replace(b'":', b"'", 1)
    file.write_bytes(b"".join(lines))
    exported = cli("study", run, "--export", "--json")
    assert exported.code == 2
    first, second = exported.err.splitlines()
    assert first.startswith(f"cpsched: warning: {file}: line 3 column 86: not valid JSON: ")
    assert "1 of 6 cells have no result: nodes-used.json (model volcano, engine volcano, seed 1);" in second
    assert json.loads(exported.out)["unreadable"] == [
        line.removeprefix("cpsched: warning: ") for line in (first, second)
    ]

    again = process("study", run, "--workers", 1)
    assert again.code == 0
    assert "6 of 6 cells done, 5 of them before, 0 failed" in again.out
    assert again.err == (
        f"{first}\ncpsched: warning: {file}: 1 line set aside in results.jsonl.unreadable; "
        "what has no other record runs again\n"
    )
    assert cli("study", run, "--export")[::2] == (0, "")


@pytest.mark.parametrize(
    ("part", "content"), [("solutions", b"{"), ("instances", b"{"), ("solutions", b"[]"), ("instances", b"[]")]
)
def test_a_spoilt_decision_or_instance_is_one_line(cli: Command, run: Path, part: str, content: bytes) -> None:
    for file in (run / part).iterdir():
        file.write_bytes(gzip.compress(content))
    code, _, err = cli("report", run)
    assert (code, err.count("\n")) == (2, 1)
    assert re.match(rf"cpsched: error: {run}/{part}/[0-9a-f]{{64}}\.json\.gz: ", err)
